#!/bin/bash
# The guide "Add a policy in half an hour" in CONTRIBUTING.md works: its blocks,
# in order, on a copy of the tree. A block ```LANGUAGE PATH is a new file, ```diff
# PATH a change to one ("-" and blank: the lines that are there, "+" and blank:
# what becomes of them), ```sh is run. It builds a program of its own, so
# run-tests: no asan
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
title='## Add a policy in half an hour'
mapfile -t everything < <(cd "$ROOT" && find . -mindepth 1 -maxdepth 1 ! -name .git ! -name 'build*')
copy "${everything[@]}"
# What is compiled already need not be again; what the guide changes is.
if [[ $(cd "$ROOT" && realpath -m "${BUILD:-build}") == "$ROOT/build" ]]; then
    (cd "$ROOT" && find build \( -name '*.[od]' -o -name flags -o -name needs \) \
        -exec cp -a --parents -t "$TMP/copy" {} +)
fi
cd "$TMP/copy" || exit 1
# What the make that runs this test has set is not for the one of the copy.
unset BUILD ASAN_BUILD FUZZ_BUILD TRAINYARD MAKEFLAGS MFLAGS MAKELEVEL NAMES T

write_file() {
    mkdir -p "$(dirname "$1")"
    if [[ -e $1 ]]; then
        echo "$1 is there already"
        return 1
    fi
    cp "$TMP/block" "$1"
}

change_file() {
    local text old new
    text=$(<"$1") || return 1
    old=$(sed -n 's/^[ -]//p' "$TMP/block")
    new=$(sed -n 's/^[ +]//p' "$TMP/block")
    if [[ $text != *"$old"* ]]; then
        echo "$1 does not have these lines:"
        echo "$old"
        return 1
    fi
    printf '%s\n' "${text/"$old"/"$new"}" >"$1"
}

run_lines() {
    bash -eux "$TMP/block"
}

# do_block LANGUAGE PATH, its lines in $TMP/block
do_block() {
    case $1 in
    diff) check "change $2" change_file "$2" ;;
    sh) check "run $(head -1 "$TMP/block")" run_lines ;;
    *) check "write $2" write_file "$2" ;;
    esac
}

fence='' section=''
while IFS= read -r line; do
    if [[ $fence && $line == "$fence" ]]; then
        do_block "$language" "$path"
        fence=''
    elif [[ $fence ]]; then
        printf '%s\n' "$line" >>"$TMP/block"
    elif [[ $line == '## '* ]]; then
        section=$line
    elif [[ $section == "$title" && $line =~ ^(\`{3,})([a-z]+)\ ?(.*)$ ]]; then
        fence=${BASH_REMATCH[1]} language=${BASH_REMATCH[2]} path=${BASH_REMATCH[3]}
        : >"$TMP/block"
    fi
done <"$ROOT/CONTRIBUTING.md"

check_output 'the new policy explains itself' '^lottery \(allocate\): ' \
    build/trainyard policies lottery
check_output 'and its parameter' '^  quantum=10m \(duration from 1 s to 86400 s\)' \
    build/trainyard policies lottery
check 'its golden case passes' build/tests/golden/run 'tests/golden/lottery/*.json'
printf 't=0 start a 2 on n1:2\n' >tests/golden/lottery/all-fit.expected
check_error 'a golden case that does not hold is told' 1 '^  \+ t=10 end a' \
    build/tests/golden/run 'tests/golden/lottery/*.json'
check_output 'it is simulated' '^lottery:quantum=4s .*100\.0%' \
    build/trainyard sim docs/policies/examples/lottery.csv --nodes 1x4 --policy lottery:quantum=4s
check_file 'the drawing is on its page' docs/policies/lottery.md '^lottery:quantum=4s \(a column is'
check_error 'a bad value is refused' 2 'quantum=0s is not between 1 s and 86400 s' \
    build/trainyard sim data/demo.csv --nodes 4x4 --policy lottery:quantum=0s
