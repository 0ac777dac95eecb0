#!/bin/bash
# What `trainyard explain` says about real jobs: it names the right job and the right
# reason.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

server_start --policy elastic-fifo
all=$("$TRAINYARD" nodes --json | python3 -c 'import json, sys
print("%g" % sum(json.loads(line)["cpus"] for line in sys.stdin))')
[[ $all == [01] ]] && skip 'it takes two CPUs'
most=$((all - 1))

# says NAME JOB REGEX: the explanation of the job, on one line, has this.
says() {
    "$TRAINYARD" explain "$2" >"$TMP/said" 2>&1
    tr -s '\n ' ' ' <"$TMP/said" >"$TMP/line"
    if grep -Eq -e "$3" "$TMP/line"; then
        passed "$1"
    else
        failed "$1" "explain $2 does not say '$3'" "$TMP/said"
    fi
}

state_is() {
    [[ $("$TRAINYARD" show "$1" --json) == *"\"state\":\"$2\""* ]]
}

knows_end() {
    "$TRAINYARD" explain "$1" | grep -q 'At this rate'
}

# A job with so many steps, ten a second.
train() {
    local steps=$1
    shift
    "$TRAINYARD" submit --quiet "$@" -- sh -c \
        "i=0; while [ \$i -lt $steps ]; do i=\$((i + 1)); echo step \$i/$steps; sleep 0.1; done"
}

# ---- one that takes all, one that waits for it ----------------------------------

big=$(train 3000 --name big --cpus "$all")
wait_until 20 knows_end "$big"
small=$("$TRAINYARD" submit --quiet --name small --cpus 1 -- true)
says 'a running job has what it asked for' "$big" \
    "Job $big \(big\) has been running for .* on $all CPUs of .*It has $all CPUs, as requested\."
says 'its end is foreseen' "$big" 'At this rate it ends in about [0-9]+ minutes'
says 'a job waits for CPUs' "$small" \
    "Job $small \(small\) has waited .* for 1 CPU\..*It needs 1 CPU, and 0 of $all are free"
says 'it says who has them' "$small" "Job $big \(big\) has $all CPUs\."
says 'it says when they come free' "$small" \
    "Job $big \(big\) ends in about [0-9]+ minutes and frees $all CPUs"
says 'it says what would help' "$small" "Without job $big \(big\) it would start at once: .trainyard cancel $big"
says 'it says when it starts' "$small" \
    "Expected start: in .*: if job $big \(big\) continues at [0-9.]+ steps/s"
check_output 'the same as JSON' '"policy":"elastic-fifo".*"code":"order".*"jobs":\['"$big"'\]' \
    "$TRAINYARD" explain small --json

# ---- not in the queue ------------------------------------------------------------

held=$("$TRAINYARD" submit --quiet --name held --hold -- true)
says 'a job is held' "$held" "is on hold until .*A user put it on hold\..*trainyard release $held"
after=$("$TRAINYARD" submit --quiet --name after --after "afterok:$big" -- true)
says 'a job depends on another' "$after" \
    "It may start once job $big \(big\) has succeeded; that job is running and should end in about"
says 'it says what must happen' "$after" "Job $big \(big\) must succeed first"

# ---- over ------------------------------------------------------------------------

"$TRAINYARD" cancel --quiet "$big"
wait_until 20 state_is "$small" "done"
says 'a cancelled job' "$big" "Job $big \(big\) was cancelled after .*A user cancelled it\."
says 'one that depended on it' "$after" 'was cancelled before it started, .*can never be met'
says 'a job that is done' "$small" "Job $small \(small\) succeeded after .*exited with code 0\."
failed=$("$TRAINYARD" submit --quiet --name broken -- sh -c 'exit 3')
wait_until 20 state_is "$failed" failed
says 'a job that failed' "$failed" \
    "Job $failed \(broken\) failed .*exited with code 3\..*trainyard logs $failed.*trainyard requeue $failed"
retry=$("$TRAINYARD" submit --quiet --name retry --retries 2 --backoff 1h -- sh -c 'exit 7')
tried() {
    "$TRAINYARD" explain "$retry" | grep -q 'will be retried'
}
wait_until 20 tried
says 'a job between two tries' "$retry" \
    'It has failed once \(exit code 7\); it is retried in (59|60) minutes \(try 2 of 3\)\.'
"$TRAINYARD" cancel --quiet "$retry" "$held"

# ---- neighbours --------------------------------------------------------------------

fixed=$(train 3000 --name fixed --cpus "$most")
wait_until 20 knows_end "$fixed"
# A policy that waits for all that a job asks for; it is the user who knows better.
"$TRAINYARD" policy fifo >"$TMP/output" 2>&1
fewer=$("$TRAINYARD" submit --quiet --name fewer --cpus "1-$all" -- true)
says 'it says that less would do' "$fewer" \
    "With 1 CPU it could start at once: .trainyard resize $fewer --cpus 1"
check 'and it does: resized' "$TRAINYARD" resize "$fewer" --cpus 1
check 'and it does: done' "$TRAINYARD" wait "$fewer" --timeout 20
"$TRAINYARD" policy elastic-fifo >"$TMP/output" 2>&1
elastic=$(train 9000 --name elastic --cpus "1-$all")
wait_until 20 knows_end "$elastic"
says 'an elastic job has what is left' "$elastic" "It has 1 CPU and can run on 1 to $all; elastic-fifo chose this size\."
says 'it says who has the rest' "$elastic" \
    "It could use $all CPUs, but no more are free on .*: job $fixed \(fixed\) has $most CPU"
says 'it says when it grows' "$elastic" \
    "It will grow to $all CPUs in about .*, if job $fixed \(fixed\) continues at"
wide=$("$TRAINYARD" submit --quiet --name wide --cpus "$all" -- true)
says 'a job larger than what is free' "$wide" "It needs $all CPUs, and 0 of $all are free"
says 'it names both' "$wide" "Job $fixed \(fixed\) has $most CPUs?, job $elastic \(elastic\) has 1 CPU\."
node=$("$TRAINYARD" nodes --json | python3 -c 'import json, sys
print(json.loads(sys.stdin.readline())["name"])')
"$TRAINYARD" drain "$node" >"$TMP/output" 2>&1
says 'a node that is drained' "$wide" \
    "No node that could run it accepts new jobs: $node is drained\..*trainyard drain --undo $node"
"$TRAINYARD" drain --undo "$node" >"$TMP/output" 2>&1
limited=$("$TRAINYARD" submit --quiet --name limited --time-limit 1h --cpus 1 --priority 5 -- sleep 600)
wait_until 20 state_is "$limited" running
says 'a time limit bounds it' "$limited" 'Its time limit ends it in at most (59|60) minutes'

check_error 'a job that is not there' 1 "no job" "$TRAINYARD" explain 4711

# ---- the decisions ------------------------------------------------------------------

check_output 'all decisions can be repeated' 'all reproduced byte for byte' "$TRAINYARD" replay
server_stop
