#!/bin/bash
# The documents say what the program does: every command in a ```console block
# prints exactly what stands below it, every link leads somewhere, every file and
# function that the tour of the code names is there, every policy has a page with
# its parameters and every preset is in the index.
#
#   tests/cli/docs.sh                      checks all
#   tests/cli/docs.sh --update [FILE]...   writes what the commands print now into
#                                          the blocks of these, or all, documents
#
# A console block holds commands, "$ trainyard ...", each followed by its output
# (both streams). They run in a directory that has docs/ and data/, and nothing
# they write stays. What must not be run goes into a ```text or ```sh block. A
# block ```csv FILE.csv shows that file, named from where the document is.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
update=${1-}
[[ -z $update || $update == --update ]] || { echo "usage: $0 [--update [FILE]...]"; exit 2; }
mkdir "$TMP/place"
ln -s "$ROOT/docs" "$ROOT/data" "$TMP/place"
cd "$ROOT" || exit 1
documents=("${@:2}")
((${#documents[@]})) || mapfile -t documents < <(find . \( -name .git -o -name 'build*' \) -prune -o \
    -name '*.md' -print | sed 's,^\./,,' | sort)

run_command() (
    cd "$TMP/place" || exit 1
    # shellcheck disable=SC2317 # called by what is evaluated
    trainyard() { "$TRAINYARD" "$@"; }
    if [[ $1 == 'trainyard '* ]]; then
        eval "$1" </dev/null 2>&1
    else
        echo 'only trainyard is run here; use a text or sh block'
    fi
)

# What follows the first line of a code block, if it is for us to say.
begin_block() {
    case $1 in
    '```csv '*.csv) cat "$2/${1#'```csv '}" 2>&1 ;;
    esac
}

# Prints a document as it should be. A block ends with the line of backticks that
# is as long as the one it began with; what looks like a block inside is none.
render() {
    local line command='' block='' fence='' folder
    folder=$(dirname "$1")
    while IFS= read -r line; do
        if [[ -n $command ]]; then
            command+=$'\n'$line
        elif [[ -z $fence && $line =~ ^\`{3,} ]]; then
            fence=${BASH_REMATCH[0]} block=$line
        elif [[ -n $fence && $line == "$fence" ]]; then
            fence='' block=''
        elif [[ $block == '```console' && $line == '$ '* ]]; then
            command=${line#'$ '}
        elif [[ $block == '```console' || $block == '```csv '*.csv ]]; then
            continue
        fi
        printf '%s\n' "$line"
        if [[ -n $command && $line != *\\ ]]; then
            run_command "$command"
            command=''
        elif [[ $line == "$block" ]]; then
            begin_block "$line" "$folder"
        fi
    done <"$1"
}

check_commands() {
    local name="$1: its commands print what it shows"
    render "$1" >"$TMP/rendered"
    if diff -u --label "$1" --label 'what is printed' "$1" "$TMP/rendered" >"$TMP/output"; then
        passed "$name"
    elif [[ $update ]]; then
        cp "$TMP/rendered" "$1"
        passed "$1: updated"
    else
        failed "$name" "look at it, then run tests/cli/docs.sh --update" "$TMP/output"
    fi
}

# The lines of a document that are not in a code block.
without_blocks() {
    awk '!fence && match($0, /^ *```+/) { fence = substr($0, 1, RLENGTH); next }
        fence { if ($0 == fence) fence = ""; next }
        { print }' "$1"
}

# The names that headings can be linked by, as GitHub makes them.
anchors() {
    without_blocks "$1" | awk '/^#+ / {
        sub(/^#+ +/, "")
        $0 = tolower($0)
        gsub(/[^a-z0-9 _-]/, "")
        gsub(/ /, "-")
        print $0 (seen[$0]++ ? "-" seen[$0] - 1 : "")
    }'
}

links() {
    # shellcheck disable=SC2016 # the backticks are Markdown's
    without_blocks "$1" | sed 's/`[^`]*`//g' | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//'
}

check_links() {
    local target path bad=0
    : >"$TMP/output"
    while read -r target; do
        case $target in
        http://* | https://* | mailto:*) continue ;;
        esac
        path=$1
        [[ $target == '#'* ]] || path=$(dirname "$1")/${target%%#*}
        if [[ ! -e $path ]]; then
            echo "$target: there is no $path" >>"$TMP/output"
        elif [[ $target == *'#'* ]] && ! anchors "$path" | grep -qxF -- "${target#*#}"; then
            echo "$target: $path has no such heading" >>"$TMP/output"
        else
            continue
        fi
        bad=1
    done < <(links "$1")
    if ((bad)); then
        failed "$1: its links lead somewhere" 'some do not' "$TMP/output"
    else
        passed "$1: its links lead somewhere"
    fi
}

names_in_tour() {
    # shellcheck disable=SC2016 # the backticks are Markdown's
    without_blocks "$1" | grep -oE '`[a-z_]+(/[a-z_]+)+\.[ch]`( `[a-z_]+\(\)`)?' | tr -d '`()'
}

# The tour names files of src/ as `server/turn.c`, and a function right after its file.
check_tour() {
    local file function bad=0 n=0
    : >"$TMP/output"
    while read -r file function; do
        ((++n))
        if [[ ! -e src/$file ]]; then
            echo "there is no src/$file" >>"$TMP/output"
        elif [[ -n $function ]] && ! grep -Eq "^[a-z].*[ *]$function\\(" "src/$file"; then
            echo "src/$file has no function $function" >>"$TMP/output"
        else
            continue
        fi
        bad=1
    done < <(names_in_tour "$1")
    if ((bad || !n)); then
        failed "$1: what it names is there" 'some is not' "$TMP/output"
    else
        passed "$1: what it names is there"
    fi
}

# Every parameter as `trainyard policies NAME` prints it: `x=1` (range): help.
check_page() {
    local page=docs/policies/$1.md spec range help
    if [[ ! -e $page ]]; then
        failed "policy $1 has a page" "$page is not there"
        return
    fi
    passed "policy $1 has a page"
    while read -r spec range; do
        read -r help
        if grep -qF -- "\`$spec\` $range: $help" "$page"; then
            passed "$page: $spec"
        else
            failed "$page: $spec" "expected: \`$spec\` $range: $help"
        fi
    done < <("$TRAINYARD" policies "$1" |
        awk 'listed && !/^  / { exit } listed; /^Parameters:/ { listed = 1 }')
    check_file "$page is in the index" docs/policies/README.md "\]\($1\.md\)"
}

for document in "${documents[@]}"; do
    grep -Eq '^```(console|csv .*\.csv)$' "$document" && check_commands "$document"
    grep -Eq '^ +```console' "$document" &&
        failed "$document: its commands are run" 'a console block must not be indented'
    check_links "$document"
done
[[ $update ]] && exit

check_tour ARCHITECTURE.md
check_output 'the policies are listed' '^{"name":"fifo",' "$TRAINYARD" policies --json
mapfile -t policies < <("$TRAINYARD" policies --json |
    sed -n '/"axis":"preset"/d; s/^{"name":"\([^"]*\)".*/\1/p')
for policy in "${policies[@]}"; do
    check_page "$policy"
done
while read -r preset summary; do
    meaning=$("$TRAINYARD" policies --json |
        sed -n "s/^{\"name\":\"$preset\",\"axis\":\"preset\".*\"same_as\":\"\([^\"]*\)\"}$/\1/p")
    row="| \`$preset\` | $summary | \`$meaning\` |"
    if grep -qxF -- "$row" docs/policies/README.md; then
        passed "preset $preset is in the index"
    else
        failed "preset $preset is in the index" "expected: $row"
    fi
done < <("$TRAINYARD" policies | sed '1,/^presets:/d; /^$/,$d')
