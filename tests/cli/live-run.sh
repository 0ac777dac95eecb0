#!/bin/bash
# trainyard run, wait and logs -f, with a real server: exit codes, Ctrl-C, and a server
# that goes away and comes back meanwhile.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
server_start

submit() {
    "$TRAINYARD" submit --quiet "$@"
}

# ---- run

check_output 'its output' '^hello$' "$TRAINYARD" run -- echo hello
check_file 'which job it is' output 'submitted job 1 \(echo\); press Ctrl-C to cancel it$'
check_output 'nothing but its output' '^1$' bash -c "'$TRAINYARD' run -q -- echo hello 2>&1 | wc -l"
check_status 'its exit code' 7 "$TRAINYARD" run -- sh -c 'exit 7'
check_file 'is said, too' output 'job [0-9]+ failed \(7\): exit code 7$'
# shellcheck disable=SC2016 # for the shell of the job
check_status 'a signal' 137 "$TRAINYARD" run -q -- sh -c 'kill -9 $$'
check_status 'the time limit' 1 bash -c "'$TRAINYARD' run -q -t 1s --grace 1s -- \
    sh -c 'trap \"exit 0\" TERM; while :; do sleep 0.1; done'; [[ \$? -ne 0 ]] && exit 1"
check_status 'no such program' 127 "$TRAINYARD" run -q -- ./not-there
check_output 'a job file' '^from a file$' "$TRAINYARD" run -q - <<'END'
command: [echo, from a file]
END
cat >two.yaml <<'END'
jobs: [{command: ['true']}, {command: ['true']}]
END
check_error 'two jobs' 2 'run takes one job' "$TRAINYARD" run two.yaml
# shellcheck disable=SC2016
check_output 'attempt after attempt' '^attempt 2$' "$TRAINYARD" run -q --retries 1 --backoff 0s -- \
    sh -c 'echo attempt $TRAINYARD_ATTEMPT; [ $TRAINYARD_ATTEMPT = 2 ]'
check_file 'from the first on' output '^attempt 1$'

# Ctrl-C: a shell in the background ignores it, so the command runs below python.
interrupted() {
    python3 - "$@" <<'END'
import signal
import subprocess
import sys
import time

times, ready, *words = sys.argv[1:]
signal.signal(signal.SIGINT, signal.SIG_DFL)
p = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
seen = 0
for line in p.stdout:
    print(line, end="", flush=True)
    if ready in line and seen < int(times):
        seen += 1
        p.send_signal(signal.SIGINT)
sys.exit(p.wait())
END
}
saves='trap "echo ready: saves; sleep 0.3; exit 5" TERM; echo ready; while :; do sleep 0.1; done'
check_error 'the first Ctrl-C cancels' 5 '^ready: saves$' interrupted 1 ready \
    "$TRAINYARD" run -n saves -- sh -c "$saves"
check_file 'and says so' output 'is being cancelled; press Ctrl-C again to leave it alone$'
check_output 'it is cancelled' '^cancelled$' bash -c "'$TRAINYARD' show saves --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[\"state\"])'"
saves='trap "echo ready: deaf" TERM; echo ready; while :; do sleep 0.1; done'
check_error 'the second leaves' 130 'is still being cancelled; not waiting for it$' interrupted 2 ready \
    "$TRAINYARD" run -n stays -- sh -c "$saves"
check_output 'the job is still there' '\(stays\) of .*: stopping' "$TRAINYARD" show stays
check 'until it is killed' "$TRAINYARD" cancel --all --grace 0s

# ---- wait

good=$(submit -- sh -c 'sleep 0.3')
bad=$(submit -n bad -- sh -c 'sleep 0.2; exit 9')
worse=$(submit -- sh -c 'exit 40')
check_status 'the worst of several' 40 "$TRAINYARD" wait "$good" "$bad" "$worse" --timeout 60
check_file 'each is named' output "^Job $bad \(bad\): failed \(9\)$"
check_status 'they are over: at once' 9 "$TRAINYARD" wait "$bad" --quiet
check_no_line 'quietly' output .
check_output 'JSON' '^\{"id":'"$good"',.*"state":"done"' "$TRAINYARD" wait "$good" --json
long=$(submit -n long -- sleep 1000)
check_error 'the time is up' 124 "timeout: job $long \(long\) is not over" \
    "$TRAINYARD" wait long --timeout 1
check_error 'no such job' 1 "no job 'nothing'" "$TRAINYARD" wait nothing
"$TRAINYARD" wait long >waited 2>&1 &
waiting=$!
check 'while one waits' "$TRAINYARD" cancel long --grace 1s
wait $waiting
check_output 'it sees a cancel' '^143$' echo $?
check_file 'and what it was' waited "^Job $long \(long\): cancelled$"
retried=$(submit --retries 2 --backoff 0.1s -- false)
check_status 'not before the last attempt' 1 "$TRAINYARD" wait "$retried" --timeout 60
check_output 'it had three' '"attempt":3' "$TRAINYARD" show "$retried" --json

# ---- a server that goes away

# shellcheck disable=SC2016
check 'a job' submit -n counts -- sh -c 'i=0
    while [ ! -e "$0/enough" ]; do i=$((i + 1)); echo "line $i"; sleep 0.05; done; exit 6' "$TMP"
check 'it prints' wait_until 30 bash -c "'$TRAINYARD' logs counts | grep -q 'line 5'"
"$TRAINYARD" logs -f counts >followed 2>followed.err &
following=$!
"$TRAINYARD" wait counts >waited 2>&1 &
waiting=$!
check 'it is followed' wait_until 30 grep -q 'line 10' followed
server_kill
check 'the reader knows' wait_until 30 grep -q 'waiting for it' followed.err
server_start
lines=$(wc -l <followed)
check 'it goes on' wait_until 30 bash -c "((\$(wc -l <followed) > $lines))"
touch enough
wait $following
check_output 'the log ends well' '^0$' echo $?
wait $waiting
check_output 'the one who waits gets the code' '^6$' echo $?
"$TRAINYARD" logs counts >whole
check 'no byte is missing, none comes twice' cmp followed whole
