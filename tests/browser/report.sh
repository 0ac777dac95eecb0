#!/bin/bash
# The HTML report in a real browser: reports of synthetic results, loaded from a
# file with a script behind them (report_probe.js) that reads and uses the page.
#
# KEEP=DIR keeps the reports and a picture of each, light and dark.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

BUILD=${BUILD:-$ROOT/build}
BROWSER=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip 'no chromium here; on Debian: apt-get install chromium'
SAMPLE=$BUILD/tests/browser/report_sample
[[ -x $SAMPLE ]] || make -s -C "$ROOT" BUILD="$BUILD" "$SAMPLE" >"$TMP/make" 2>&1 ||
    failed 'report_sample is built' 'make failed' "$TMP/make" || exit 1

# browse PAGE OPTION...: what is on the browser's console goes to $TMP/console.
browse() {
    local page=$1
    shift
    timeout -k 5 180 "$BROWSER" --headless --no-sandbox --disable-gpu --disable-quic \
        --disable-dev-shm-usage --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr \
        --user-data-dir="$(mktemp -d -p "$TMP")" --virtual-time-budget=60000 "$@" "file://$page" \
        2>"$TMP/stderr"
    grep ':CONSOLE' "$TMP/stderr" >"$TMP/console"
}

# probe NAME WIDTH JOBS POLICIES [never]: checks one report at one width.
probe() {
    local name=$1 width=$2 jobs=$3 policies=$4 never=${5-}
    local report=$TMP/$name.html
    # shellcheck disable=SC2086 # no word when it is empty
    check "$name: the report is written" "$SAMPLE" "$jobs" "$policies" "$report" $never || return
    { cat "$report" && echo '<script>' && cat "$ROOT/tests/browser/report_probe.js" &&
        echo '</script>'; } >"$TMP/$name-probe.html"
    browse "$TMP/$name-probe.html?jobs=$jobs&policies=$policies${never:+&never=1}" \
        --window-size="$width,900" --dump-dom >"$TMP/dom"
    sed -n '/^PROBE$/,/^END$/p' "$TMP/dom" | sed -e 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' \
        >"$TMP/said"
    if ! grep -q '^END$' "$TMP/said"; then
        failed "$name: the page answers" 'no answer; on its console:' "$TMP/console"
        return
    fi
    while read -r line; do
        case $line in
        'ok - '*) passed "$name: ${line#ok - }" ;;
        'not ok - '*) failed "$name: ${line#not ok - }" "in a window of $width" ;;
        esac
    done <"$TMP/said"
    if [[ -s $TMP/console ]]; then
        failed "$name: the console stays empty" 'it does not' "$TMP/console"
    else
        passed "$name: the console stays empty"
    fi
    [[ -z ${KEEP-} ]] || keep "$name" "$width"
}

keep() {
    mkdir -p "$KEEP"
    cp "$TMP/$1.html" "$KEEP"
    for theme in light dark; do
        { cat "$TMP/$1.html" && echo "<script>theme.choose('$theme')</script>"; } \
            >"$TMP/picture.html"
        browse "$TMP/picture.html" --window-size="$2,4200" --screenshot="$KEEP/$1-$theme.png"
    done
}

probe desktop 1280 195 3
probe phone 390 195 3
probe many 1280 70000 1
probe twelve 1280 400 12
probe nothing 1280 30 2 never

size=$(stat -c %s "$TMP/many.html")
if ((size < 15000000)); then
    passed 'seventy thousand jobs stay below 15 MB'
else
    failed 'seventy thousand jobs stay below 15 MB' "$size bytes"
fi

# That a page in trouble is seen at all: one whose data is cut off.
sed 's/"policies":\[.*/"policies":[/' "$TMP/desktop.html" >"$TMP/broken.html"
browse "$TMP/broken.html" --dump-dom >"$TMP/dom"
check_file 'a broken report says so' "$TMP/dom" 'This report could not be drawn'
check_file 'a broken report is on the console' "$TMP/console" 'SyntaxError'

# Without a script there is still a word on why it is empty.
check_file 'the page says what it needs' "$TMP/desktop.html" 'and needs JavaScript for'
