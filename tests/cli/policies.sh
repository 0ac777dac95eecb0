#!/bin/bash
# trainyard policies: the list, and what it says of each.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1

"$TRAINYARD" policies >list
check_file 'allocators' list '^  afs-l +short jobs first'
check_file 'placers' list '^  best-fit +the tightest node'
check_file 'sharers' list '^  flowcon +CPU shares follow'
check_file 'presets' list '^  voda-afs-l +Voda.s AFS-L$'

"$TRAINYARD" policies --names >names
check_output 'just the names' '^49 ' wc -l names
while read -r name; do
    check_output "$name is in the list" "^  $name " grep -e "^  $name " list
    check_output "$name is explained" "^(As a preset, )?$name( \((allocate|place|share)\))?: " \
        "$TRAINYARD" policies "$name"
done <names

check_output 'rule' '^  Every job gets its minimum, shortest remaining first' \
    "$TRAINYARD" policies afs-l
check_output 'source' '^Source:$' "$TRAINYARD" policies afs-l
check_output 'no parameters' '^Parameters: none$' "$TRAINYARD" policies afs-l
check_output 'parameters with default and range' \
    '^  itval=20s \(duration from 0\.001 s to 86400 s\)$' "$TRAINYARD" policies flowcon
check_output 'choices' '^  order=backfill \(one of strict\|skip\|backfill\)$' \
    "$TRAINYARD" policies fifo
check_output 'what a preset stands for' '^  allocate=deadline,place=best-fit,share=hard$' \
    "$TRAINYARD" policies qos
check_output 'a preset with the name of a policy' '^As a preset, flowcon: ' \
    "$TRAINYARD" policies flowcon

cat >fields.py <<'END'
import glob
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
names = open("names").read().split()
assert [r["name"] for r in rows] == names, [r["name"] for r in rows]
for row in rows:
    if row["axis"] == "preset":
        assert list(row) == ["name", "axis", "summary", "same_as"], row
    else:
        assert row["axis"] in ("allocate", "place", "share")
        assert list(row) == ["name", "axis", "summary", "rule", "source", "parameters"], row
        assert glob.glob("%s/tests/golden/%s/*.json" % (sys.argv[2], row["name"])), \
            "%s has no golden case" % row["name"]
END
"$TRAINYARD" policies --json >json
check 'JSON of all, each with golden cases' python3 fields.py json "$ROOT"
check_output 'JSON of one' '^\{"name":"las","axis":"allocate",.*"parameters":\[\{"name":' \
    "$TRAINYARD" policies --json las
check_output 'JSON of a preset' '^\{"name":"docker","axis":"preset",.*"same_as":"allocate=fifo,' \
    "$TRAINYARD" policies docker --json

check_error 'an unknown one' 2 "unknown policy 'lass'; did you mean 'las'\?" \
    "$TRAINYARD" policies lass
check_error 'an unknown one as JSON' 2 "unknown policy 'lass'" "$TRAINYARD" policies lass --json
check_error 'an empty name' 2 "unknown policy ''" "$TRAINYARD" policies ''
check_error 'more than a name' 2 "'las:knob=3': expected only the name of a policy" "$TRAINYARD" policies las:knob=3
check_error 'a combination' 2 'expected only the name of a policy' "$TRAINYARD" policies allocate=las,place=spread
check_error 'two names' 2 "unexpected argument 'fifo'" "$TRAINYARD" policies las fifo
check_error 'an unknown option' 2 'unknown option --jso; did you mean --json' \
    "$TRAINYARD" policies --jso
check_output 'help' '^Usage: trainyard policies \[NAME\] \[options\]$' "$TRAINYARD" policies --help
