#!/bin/bash
# run-tests: no asan
# The figures of other simulators and the papers' tables, in short form: what
# must be equal is, and every gain has its direction.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

check "Tiresias and ElasticFlow are reproduced" bench/peers/run.py "$TRAINYARD" --check
check "the papers' tables hold" bench/papers/run.py "$TRAINYARD" --check
