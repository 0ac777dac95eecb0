# shellcheck shell=bash
# Runs scripts that drive a browser. Sourced after tests/cli/lib.sh.
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd)
export BUILD TRAINYARD

# drive SCRIPT: runs it with node; the lines that it prints are its checks.
drive() {
    local line modules status faults=0
    modules=$("$ROOT/tools/browser-modules" "$BUILD" 2>"$TMP/errors") || skip "$(cat "$TMP/errors")"
    NODE_PATH=$modules timeout -k 10 540 node "$ROOT/tests/browser/$1" >"$TMP/said" 2>"$TMP/errors"
    status=$?
    while IFS= read -r line; do
        case $line in
        'ok - '*) passed "${line#ok - }" ;;
        'not ok - '*)
            faults=1
            failed "${line#not ok - }" 'what the script says follows'
            ;;
        *) echo "  $line" ;;
        esac
    done <"$TMP/said"
    ((status == 0 || faults)) || failed "$1 ends" "exit status $status" "$TMP/errors"
}
