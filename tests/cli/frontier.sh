#!/bin/bash
# run-tests: no asan
# The figures of published schedulers, in short form: what must agree does, and no goal is missed.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

check "published schedulers are reproduced and beaten" bench/frontier/run.py "$TRAINYARD" --check
