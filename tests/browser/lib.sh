# shellcheck shell=bash
# Installs what drives the browser, once, into the build directory, and tells node where
# it is. Sourced after tests/cli/lib.sh.
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd)
export BUILD TRAINYARD
PACKAGES='playwright-core@1.65.0 axe-core@4.14.0'
MODULES=$BUILD/browser-modules

install_driver() {
    command -v npm >/dev/null || skip 'no npm; tools/setup test installs it'
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null ||
        command -v google-chrome >/dev/null || skip 'no chromium; tools/setup test installs it'
    [[ $(cat "$MODULES/done" 2>/dev/null) == "$PACKAGES" ]] && return
    mkdir -p "$MODULES"
    echo '{}' >"$MODULES/package.json"
    # shellcheck disable=SC2086 # one word for each package
    (cd "$MODULES" && npm install --no-audit --no-fund --ignore-scripts --no-save $PACKAGES) \
        >"$TMP/npm.log" 2>&1 || skip "npm cannot install $PACKAGES: $(tail -n 1 "$TMP/npm.log")"
    echo "$PACKAGES" >"$MODULES/done"
}

# drive SCRIPT: runs it; what it prints are the results of its checks.
drive() {
    local line
    NODE_PATH=$MODULES/node_modules timeout -k 10 "${DRIVE_SECONDS:-540}" node "$ROOT/tests/browser/$1" \
        >"$TMP/said" 2>"$TMP/errors"
    local status=$?
    while IFS= read -r line; do
        case $line in
        'ok - '*) passed "${line#ok - }" ;;
        'not ok - '*) failed "${line#not ok - }" "$(grep -F -A 20 -- "$line" "$TMP/said" | sed 1d | sed '/^\(not \)\?ok - /,$d')" ;;
        esac
    done <"$TMP/said"
    ((status == 0)) || [[ $failures -gt 0 ]] || failed "$1 ends" "exit status $status" "$TMP/errors"
    [[ ! -s $TMP/errors ]] || sed 's/^/# /' "$TMP/errors"
}
