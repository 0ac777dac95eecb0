#!/bin/bash
# run-tests: no asan
# The policy auto against each single policy, on the small traces: no goal is missed but for known reasons.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

check "auto is within its goal of the best single policy" bench/auto/run.py "$TRAINYARD" --check
