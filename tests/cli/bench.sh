#!/bin/bash
# run-tests: no asan
# Each measurement of bench/ says what is not built, instead of failing on the way.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT" || exit 1
export BUILD=$TMP/none
unset TRAINYARD

for script in bench/*.sh; do
    # The experiments need more than a build, and end well without.
    [[ $script == bench/live.sh ]] && status=0 || status=2
    check_error "$script" "$status" 'not (built|installed)' "$script"
    check_no_line "$script: no trace" "$TMP/output" 'Traceback'
done
