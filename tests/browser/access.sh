#!/bin/bash
# run-tests: alone
# The dashboard for everybody: themes, a phone, the keyboard, screen readers, ten thousand jobs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/browser/lib.sh
. "$(dirname "$0")/lib.sh"

drive access.js
