#!/bin/bash
# run-tests: alone
# The dashboard in a real browser, on a real server with real jobs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
# shellcheck source=tests/browser/lib.sh
. "$(dirname "$0")/lib.sh"

drive dashboard.js
