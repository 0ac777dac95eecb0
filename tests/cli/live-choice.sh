#!/bin/bash
# How users name jobs, with a real server: arrays as one thing, their members, ranges, patterns
# and filters, in every command that takes jobs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start

ids() { "$TRAINYARD" ps -q "$@" | paste -sd' '; }
each() { # NAME IDS ARGS...: whether `ps ARGS` lists these
    check_output "$1" "^$2$" ids "${@:3}"
}

# ---- an array

# shellcheck disable=SC2016 # the job's shell expands it
"$TRAINYARD" submit -qHn sweep --array 0-3 -- sh -c 'echo is $TRAINYARD_ARRAY_INDEX; exit $TRAINYARD_ARRAY_INDEX' \
    >made
first=$(head -1 made)
all=$(paste -sd' ' made)
third=$(sed -n 3p made)
other=$("$TRAINYARD" submit -qHn other -- true)
each 'by its name' "$all" sweep
each 'by its first number' "$all" "$first"
each 'another number is one job' "$third" "$third"
each 'a member' "$third" "${first}_2"
each 'a member by name' "$third" 'sweep[2]'
each 'a range' "$third $(sed -n 4p made)" "$third-$((third + 1))"
each 'a pattern' "$all" 'sw*p'
each 'several' "$other $third" other 'sweep[2]'
check_output 'ps has one line for it' "^ *$first +sweep\[0-3\] +4 held +0 +0/4 over" "$TRAINYARD" ps
check_output 'and one for others' "^ *$other +other +held" "$TRAINYARD" ps
check_output 'or one for each' "^ *$third +sweep\[2\] +held " "$TRAINYARD" ps --members
check_output 'newest first' "^ *$first +sweep\[0-3\] +4 held" "$TRAINYARD" ps --all
check_output 'as lines are counted' '^3$' bash -c "'$TRAINYARD' ps --limit 1 | wc -l"
check_output 'members have names of their own' "^ *$third +sweep\[2\] +held " "$TRAINYARD" ps sweep
check_output 'an overview' "^Array $first \(sweep\): 4 jobs, 4 held$" "$TRAINYARD" show sweep
check_output 'one of them' "^Job $third \(sweep\[2\]\)" "$TRAINYARD" show 'sweep[2]'
check_output 'all of them for programs' '^4$' bash -c "'$TRAINYARD' show sweep --json | wc -l"
check_error 'no such member' 1 "no job matches 'sweep\[9\]'" "$TRAINYARD" show 'sweep[9]'
check_error 'not an array' 1 "job 'other' is not an array, so it has no member 1" \
    "$TRAINYARD" show 'other[1]'
check_error 'a range backwards' 2 'first number is greater' "$TRAINYARD" cancel 7-3
check_error 'a pattern without a match' 1 "no job matches 'no\*'" "$TRAINYARD" hold 'no*'
check_error 'a pattern and a name' 2 'either JOB or --name' "$TRAINYARD" hold sweep --name 'o*'

# ---- verbs

check_output 'released, all of it' "^Job $third \(sweep\[2\]\): " "$TRAINYARD" release sweep
check_status 'waited for, all of it' 3 "$TRAINYARD" wait sweep --timeout 60
check_file 'each' output "^Job $third \(sweep\[2\]\): failed \(2\)$"
check_output 'all logs, each under its name' "^==> sweep\[2\], job $third <==$" "$TRAINYARD" logs sweep
check_file 'with its output' output '^is 2$'
check_output 'one log has no heading' '^is 2$' "$TRAINYARD" logs "${first}_2"
check_no_line 'none' output '==>'
check_error 'nothing left to cancel' 1 "all 4 jobs of 'sweep' are over" "$TRAINYARD" cancel sweep
each 'filtered' "$(sed -n 2,4p made | paste -sd' ')" sweep --state failed
check 'requeued: only what failed' "$TRAINYARD" requeue --hold sweep --state failed
each 'so these wait again' "$(sed -n 2,4p made | tac | paste -sd' ')" --state held --name sweep
check_output 'selected by options alone' "^Job $other \(other\): cancelled$" \
    "$TRAINYARD" cancel --state held --name 'oth*'
check 'nothing is selected' "$TRAINYARD" cancel --user nobody-here
check_error 'neither JOB nor an option' 2 'missing JOB' "$TRAINYARD" wait
check 'one member' "$TRAINYARD" cancel 'sweep[1]'
check_output 'the others stay' "^Array $first \(sweep\): 4 jobs, 2 held, 1 done, 1 cancelled$" \
    "$TRAINYARD" show sweep

# ---- names that look like something else

odd=$("$TRAINYARD" submit -qHn 2024-05 -- true)
each 'a name beats a range' "$odd" 2024-05

# ---- many jobs

"$TRAINYARD" submit -qHn many --array 1-11 -- true >/dev/null
check_error 'asks on a terminal, and a no is a no' 1 'cancel 11 jobs\? \[y/N\] Nothing was changed' \
    bash -c "echo n | script -qec '$TRAINYARD cancel many' /dev/null"
check_output 'nothing happened' '^11$' bash -c "'$TRAINYARD' ps -q many --state held | wc -l"
check 'yes is yes' bash -c "echo y | script -qec '$TRAINYARD cancel many' /dev/null"
check_output 'they are gone' '^0$' bash -c "'$TRAINYARD' ps -q many --state held | wc -l"
"$TRAINYARD" submit -qHn quiet --array 1-11 -- true >/dev/null
check '--yes does not ask' script -qec "'$TRAINYARD' cancel quiet --yes" /dev/null
check_output 'and a script is not asked' '^Job ' "$TRAINYARD" requeue --hold quiet

# ---- a command that can be pasted

quoted=$("$TRAINYARD" submit -qHn quoted -- sh -c "echo 'two words' \$HOME" '' plain)
"$TRAINYARD" show "$quoted" | sed -n 's/^  command  *//p' >words
check_output 'a shell reads what was given' "^<sh><-c><echo 'two words' \\\$HOME><><plain>$" \
    bash -c "printf '<%s>' $(cat words); echo"
