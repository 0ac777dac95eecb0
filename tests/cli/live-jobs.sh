#!/bin/bash
# Looking at jobs and acting on them, with a real server: ps, show, logs, explain,
# cancel, hold, release, resize, requeue, set.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start

submit() {
    "$TRAINYARD" submit --quiet "$@"
}

# in_state JOB STATE: it is, or soon is.
in_state() {
    wait_until 30 bash -c "\"$TRAINYARD\" show $1 | head -n 1 | grep -q ': $2'"
}

# shellcheck disable=SC2016 # for the shell of the job
loop='echo "step 30/100 loss=0.25"; while :; do sleep 0.1; done'
train=$(submit -n train -c 1-2 --total 100 -- sh -c "$loop")
held=$(submit -n held-job --hold -- true)
odd=$(submit -n $'odd\e[2Jname' --hold -- true 2>/dev/null) || odd=
over=$(submit -n over -- sh -c 'echo out; echo err >&2; exit 3')
check_error 'a job ends' 3 '\(over\): failed \(3\)' "$TRAINYARD" wait "$over" --timeout 60
check 'a job runs' in_state train running
check 'its progress is seen' wait_until 30 bash -c "'$TRAINYARD' ps | grep -q '30%'"

# ---- ps

check_output 'heads' '^ID +NAME +STATE +CPUS +PROGRESS +LOSS +TIME +ETA +USER +ERROR$' "$TRAINYARD" ps
check_file 'a running job' output "^ *$train +train +running +[12] of 1-2 +30% +0\.25 +[0-9.]+m?s "
check_file 'a held job' output "^ *$held +held-job +held +0 of 1 +- +- +waits "
check_file 'one that has just failed' output "^ *$over +over +failed \(3\) .* err$"
check_no_line 'but not among the ids' <("$TRAINYARD" ps -q) "^$over$"
check_no_line 'no colours in a pipe' output $'\e'
check_output 'all' "^ *$over +over +failed \(3\) +- " "$TRAINYARD" ps --all
check_output 'the newest first' "^$over$" bash -c "'$TRAINYARD' ps -aq | head -n 1"
check_output 'ids' "^$train$" "$TRAINYARD" ps -q
check_output 'by state' "^$over$" "$TRAINYARD" ps -qs failed,timeout
check_output 'by name' "^$held$" "$TRAINYARD" ps -qn 'held*'
check_output 'by user' "^$train$" "$TRAINYARD" ps -qu "$(id -un)"
check_output 'nobody' '^0$' bash -c "'$TRAINYARD' ps -qu nobody-at-all | wc -l"
check_output 'limit' '^1$' bash -c "'$TRAINYARD' ps -aql 1 | wc -l"
check_output 'it says that there is more' '^… and more; --limit 0 shows all$' "$TRAINYARD" ps -al 1
check_output 'wide' ' PRIORITY +NODE +ATTEMPT .* COMMAND$' "$TRAINYARD" ps --wide
check_file 'why one waits' output " held-job .* hold +true$"
"$TRAINYARD" ps --json >json
check_output 'JSON' "^\[.*'train'.*\]$" python3 -c 'import json
print([json.loads(line)["name"] for line in open("json")])'
check_output 'a narrow terminal' '^ *[0-9]+ +tr' env COLUMNS=40 "$TRAINYARD" ps
check_no_line 'fits' output '^.{41}'
check_error 'an unknown state' 2 "--state: unknown state 'sleepy'; expected some of held, queued, .*, lost$" \
    "$TRAINYARD" ps --state running,sleepy

metric=$(submit -n metric -- sh -c 'while :; do echo "{\"step\": 3, \"accuracy\": 0.93}"; sleep 0.2; done')
check 'a metric is seen' wait_until 30 bash -c "'$TRAINYARD' show metric | grep -Eq '^  accuracy +0\.93$'"
check_output 'a metric is no loss' "^ *$metric +metric +running +1 of 1 +step 3 +- " "$TRAINYARD" ps
check 'cancelled' "$TRAINYARD" cancel metric --grace 0s

# On a terminal: colours, unless they are not wanted; frames replace each other.
on_terminal() {
    script -qec "stty rows 24 cols 100; $*" /dev/null </dev/null
}
if command -v script >/dev/null; then
    check_output 'colours on a terminal' $'\e\\[32mrunning' on_terminal "$TRAINYARD" ps
    check_output 'bars on a terminal' '███░░░░░░░  30%' on_terminal "$TRAINYARD" ps
    NO_COLOR=1 on_terminal "$TRAINYARD" ps >output
    check_no_line 'NO_COLOR' output $'\e'
    TERM=dumb on_terminal "$TRAINYARD" ps >output
    check_no_line 'a dumb terminal' output $'\e'
    check_error 'again and again' 124 $'\e\\[H.*\e\\[2?mID' \
        on_terminal timeout 2 "$TRAINYARD" ps --watch 0.2
else
    echo 'skip - on a terminal: script is not installed'
fi
check_error 'frames follow each other in a pipe' 124 '^ID ' timeout 1 "$TRAINYARD" ps --watch 0.2
cp output frames
check_output 'more than one' '^[2-9]$' grep -c '^ID ' frames

# ---- names

check_output 'by name' '^Job [0-9]+ \(train\) of ' "$TRAINYARD" show train
check_output 'by its beginning' "^Job $held \(held-job\) of " "$TRAINYARD" show hel
submit -n trace --hold -- true >/dev/null
check_error 'an ambiguous beginning' 1 'train.*trace|trace.*train' "$TRAINYARD" show tra
check_error 'no such name' 1 "no job 'nothing'" "$TRAINYARD" show nothing
check_error 'no such number' 1 '99999' "$TRAINYARD" show 99999
check_error 'a name like a path' 1 "'\.\./nodes'" "$TRAINYARD" show ../nodes
check_error 'a name with a query' 1 "'x\?y=1&z'" "$TRAINYARD" show 'x?y=1&z'
if [[ -n $odd ]]; then
    check_output 'a name with escapes is shown' 'odd\\x1b\[2Jname' "$TRAINYARD" ps
fi
# A line turned around is no control character, so the server takes it.
turned=$(submit -n $'turn\u202eed' --hold -- true)
check_output 'nor can a name turn the line around' 'turn\\u\{202e\}ed' "$TRAINYARD" ps
check 'cancelled' "$TRAINYARD" cancel "$turned"

# ---- show

check_output 'head' "^Job $train \(train\) of $(id -un): running$" "$TRAINYARD" show train
check_file 'command' output '^  command +sh -c '
check_file 'CPUs' output '^  CPUs +[12] of 1-2, on .*, cores '
check_file 'progress' output '^  progress +30%, step 30 of 100$'
check_file 'attempts' output '^ +1  running '
check_file 'sizes' output '^ +[0-9.]+[ms].* ago +[12] +start'
check_output 'the end' '^  ended +.* ago, after running ' "$TRAINYARD" show over
check_file 'its reason' output '^  reason +exit code 3$'
check_output 'two of them' '^2$' bash -c "'$TRAINYARD' show train over | grep -c '^Job '"
check_output 'JSON' '^\{"id":'"$train"',.*"attempts":\[' "$TRAINYARD" show train --json

check_error 'again and again' 124 '^Job [0-9]+ \(train\)' timeout 1 "$TRAINYARD" show --watch "$train"

# ---- logs

check_output 'stdout and stderr' '^err$' "$TRAINYARD" logs over
check_output 'the last lines' '^1$' bash -c "'$TRAINYARD' logs over --tail 1 | wc -l"
check_output 'of an attempt' '^out$' "$TRAINYARD" logs over --attempt 1
check_error 'an attempt that was not' 1 'attempt' "$TRAINYARD" logs over --attempt 7
check_output 'of one that waits: nothing' '^0$' bash -c "'$TRAINYARD' logs $held | wc -c"
check_error 'follows while it runs' 124 '^step 30/100' timeout 2 "$TRAINYARD" logs -f train
# shellcheck disable=SC2016
id=$(submit -- sh -c 'for i in $(seq 20); do echo line $i; sleep 0.05; done; printf "\033]0;x\007\033[31mred\n"')
"$TRAINYARD" logs -f "$id" >followed
check_output 'follows to the end' '^21 followed$' wc -l followed
check_file 'every byte in a pipe' followed $'^\e]0;x\a\e\\[31mred$'
if command -v script >/dev/null; then
    check_output 'escapes are shown on a terminal, colours pass' $'\\^\\[]0;x\\^G\e\\[31mred' \
        on_terminal "$TRAINYARD" logs "$id"
fi

# ---- explain

check_output 'why it has what it has' '^Job .*train.* running .* on [12] CPU' "$TRAINYARD" explain train
check_output 'why it waits' 'held-job.* is on hold' "$TRAINYARD" explain "$held"
check_file 'what would free it' output "^  - .*trainyard release $held"
check_output 'JSON' '^\{"job":'"$held"',"state":"held"' "$TRAINYARD" explain "$held" --json
check_output 'narrow' '' env COLUMNS=30 "$TRAINYARD" explain "$held"
check_no_line 'filled to the width' output '^.{31}'
check_error 'of nobody' 1 "no job 'nothing'" "$TRAINYARD" explain nothing

# ---- resize, set

check_output 'smaller' '\(train\): running(, 1 of 1 CPUs| on 2 CPUs, resizing to 1)$' "$TRAINYARD" resize train --cpus 1
check 'it is' wait_until 20 bash -c "'$TRAINYARD' ps | grep -Eq 'running +1 of 1 '"
check_output 'its own range' '\(train\): running, [12] of 1-2 CPUs' "$TRAINYARD" resize train --reset
check_error 'beyond what it asked for' 2 'cpus' "$TRAINYARD" resize train --cpus 64
check_error 'no number' 2 'cpus' "$TRAINYARD" resize train --cpus many
check_error 'of one that is over' 1 'has ended' "$TRAINYARD" resize over --cpus 1
check 'priority, deadline, limit' "$TRAINYARD" set "$held" train --priority 5 --deadline 2h --time-limit 3h
check_output 'priority' '^  priority +5$' "$TRAINYARD" show "$held"
check_file 'deadline' output '^  deadline +in 1h59m$'
check_file 'time limit' output '^  time limit +3h00m$'
check 'none' "$TRAINYARD" set "$held" --deadline none --time-limit none --quiet
check_no_line 'it is quiet' output .
"$TRAINYARD" show "$held" >output
check_no_line 'no deadline' output '^  deadline'

# ---- hold, release, requeue, cancel

id=$(submit -n later -c 1 --hold -- sh -c 'sleep 0.2; exit 4')
check_output 'held twice is held' '\(later\): held' "$TRAINYARD" hold "$id"
check_output 'released' '\(later\): (queued|starting|running)' "$TRAINYARD" release later
check_status 'then it runs' 4 "$TRAINYARD" wait "$id" --timeout 60
check_error 'released twice' 1 'has ended|not held' "$TRAINYARD" release "$id"
check_output 'once more' '\(later\): (queued|starting|running)' "$TRAINYARD" requeue "$id"
check_status 'it ran again' 4 "$TRAINYARD" wait "$id" --timeout 60
check_output 'as the second attempt' '^ +2  failed ' "$TRAINYARD" show "$id"
check_output 'once more, and held' '\(later\): held' "$TRAINYARD" requeue --hold "$id"
running=$(submit -n busy -c 1 -- sh -c 'while :; do sleep 0.1; done')
check 'one runs' in_state "$running" running
check_error 'a running one is not held in place' 1 "trainyard requeue --hold $running" \
    "$TRAINYARD" hold "$running"
check 'as it says' "$TRAINYARD" requeue --hold "$running"
check 'then it is held' in_state "$running" held
check_output 'JSON of an action' '^\{"id":'"$held"',"name":"held-job"' \
    "$TRAINYARD" set "$held" --priority 1 --json

check_output 'cancelled at once' "^Job $held \(held-job\): cancelled$" "$TRAINYARD" cancel "$held"
check_error 'one of several fails' 1 "no job 'nothing'" "$TRAINYARD" cancel nothing trace --grace 5s
check_output 'the others had their turn' '\(trace\) of .*: cancelled' "$TRAINYARD" show trace
check_error 'over is over' 1 'has ended' "$TRAINYARD" cancel "$held"
# shellcheck disable=SC2016
deaf=$(submit -n deaf -- sh -c 'trap "" TERM; echo ready; while :; do sleep 0.1; done')
check 'one that ignores signals' wait_until 30 bash -c "'$TRAINYARD' logs deaf | grep -q ready"
check_output 'is stopping' '\(deaf\): stopping' "$TRAINYARD" cancel deaf --grace 0.2s
check_status 'and then killed' 137 "$TRAINYARD" wait "$deaf" --timeout 60
check_output 'all' '\(train\): (stopping|cancelled)' "$TRAINYARD" cancel --all --grace 1s
check 'nothing is left' wait_until 30 no_active_jobs
