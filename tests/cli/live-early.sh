#!/bin/bash
# Early stopping and sweeps, with a real server: conditions, metrics that stay flat, groups of
# which the worse half is stopped, and their ranking, also after the server was killed.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start

# Trains STEPS steps: its loss falls towards LEVEL.
cat >train.py <<'END'
import sys, time
level, steps, pause = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for step in range(1, steps + 1):
    print(f"step {step}/{steps} loss {level + 1 / step:.4f} val_acc {step / steps:.4f}", flush=True)
    time.sleep(pause)
END

submit() {
    "$TRAINYARD" submit --quiet -c 0.1 "$@" >"$TMP/id"
}
is_done() {
    "$TRAINYARD" show "$1" | grep -q ': done'
}
# ends NAME REGEX: the job is done, and a line of show matches.
ends() {
    wait_until 60 is_done "$1" && "$TRAINYARD" show "$1" | grep -Eq "$2"
}

# ---- one job

submit -n goal --stop-when 'loss <= 0.1' -- python3 train.py 0 100000 0.02
check 'a condition' ends goal '^  reason +stopped: loss <= 0.1$'
check_output 'it is done' '"code": ?0,' "$TRAINYARD" show goal --json
check_output 'an event' 'job.stopped +job 1 .*rule=goal' "$TRAINYARD" events
submit -n other --stop-when 'Val Acc > 0.2' -- python3 train.py 0 100 0.02
check 'a condition on another metric' ends other '^  reason +stopped: val_acc > 0.2$'
submit -n never --stop-when 'loss < 0' -- python3 train.py 0 20 0.01
check 'a condition that is never met' ends never '^  progress +100%'
submit -n flat --stop-when-flat 5%/1s -- python3 train.py 1 100000 0.02
check 'a metric that stays flat' ends flat '^  reason +stopped: loss has improved by less than 5%/1s$'
submit -n steps --stop-when-flat 5%/30steps -- python3 train.py 1 100000 0.01
check 'a window in steps' ends steps '^  reason +stopped: loss has improved by less than 5%/30steps$'
submit -n judged --metric val_acc --stop-when-flat 5%/60steps -- python3 train.py 1 100 0.02
check 'a metric that improves' ends judged '^  val_acc +1$'

# ---- an end that only the curve tells

cat >decay.py <<'END'
import math, sys, time
for step in range(1, 100000):
    print(f"iteration {step} loss {math.exp(-step / 100):.5f}", flush=True)
    time.sleep(0.04)
END
# It reaches 0.05 at step 300, after 12 s or somewhat more.
submit -n decay --stop-when 'loss < 0.05' -- python3 decay.py
expects() {
    "$TRAINYARD" show decay | grep -q 'from the curve of its metric'
}
# It has seen a third of the way.
is_third() {
    "$TRAINYARD" logs decay | grep -q 'iteration 120 '
}
check 'an end without a total' wait_until 60 expects
server_kill
server_start
check 'also after a restart' wait_until 10 expects
wait_until 60 is_third
check 'expected near step 300' python3 - "$("$TRAINYARD" show decay --json)" <<'END'
import json, sys
progress = json.loads(sys.argv[1])["progress"]
end = progress["step"] / progress["fraction"]
assert 240 < end < 375, progress
assert progress["expected_end_low"] <= progress["expected_end"] <= progress["expected_end_high"], progress
END
before=$("$TRAINYARD" policy -q)
"$TRAINYARD" policy flowcon >"$TMP/policy"
check_no_line 'a new policy knows what was reported before' <("$TRAINYARD" explain decay) 'reported no metric yet'
"$TRAINYARD" policy "$before" >"$TMP/policy"
check_output 'estimate' '^The curve that is fitted to its loss reaches its target at step [23][0-9][0-9] ' \
    "$TRAINYARD" estimate decay
check_output 'with the sizes' '^ +0.1 +[0-9]+ms +.* (expected|measured), now$' "$TRAINYARD" estimate decay
check 'it ends there' ends decay '^  reason +stopped: loss < 0.05$'

# ---- a sweep

# Its best is 0.3 with a small model.
submit -n tune --group lr --keep-best 2 --every 20 --sweep level=0.9,0.3,0.6,0.1 \
    --sweep size=1..2 -- python3 train.py '{level}{size}' 120 0.05
check_output 'the members show their parameters' '^ *[0-9]+ +tune\[2\] .* level=0.3 size=1' "$TRAINYARD" ps tune
check_output 'and their command' '^  command +python3 train.py 0.31 120 0.05$' "$TRAINYARD" show 'tune[2]'
check_output 'as an object' '"parameters": ?\{"level": ?"0.3", ?"size": ?"1"\}' "$TRAINYARD" show 'tune[2]' --json
check 'the worst is stopped' ends 'tune[1]' '^  reason +stopped: [0-9] of group lr were better at step 20; the best [0-9] continue$'
server_kill
server_start
check 'all of it ends' wait_until 60 no_active_jobs
"$TRAINYARD" best lr >ranking
check_file 'the metric' ranking '^8 jobs, by loss \(less is better\)$'
check_file 'the best' ranking '^ +1 +[0-9]+ +level=0.1 size=1 +0\.11'
check_file 'the second' ranking '^ +2 +[0-9]+ +level=0.1 size=2 +0\.12'
check_file 'the worst' ranking '^ +8 +[0-9]+ +level=0.9 size=2 .* done +stopped: '
check_output 'half is stopped at the latest' '^2$' grep -cE ' 120 +done' ranking
check_output 'only the best' '^[0-9]+$' "$TRAINYARD" best -q -n 1 lr
check_output 'of an array' '^8 jobs, by loss' "$TRAINYARD" best tune
check_output 'as JSON' '"goal": ?"min", ?"members": ?8,' "$TRAINYARD" best lr --json

# ---- what is wrong

check_error 'no such group' 1 "no group and no job 'nobody'" "$TRAINYARD" best nobody
check_error 'a condition without a number' 2 "stop-when: 'loss': expected METRIC < NUMBER" "$TRAINYARD" submit --stop-when loss -- true
check_error 'a window without a part' 2 "stop-when-flat: '10min': expected PART%/WINDOW" "$TRAINYARD" submit --stop-when-flat 10min -- true
check_error 'a parameter that is not used' 2 'the command does not use lr; write \{lr\}' "$TRAINYARD" submit --sweep lr=1,2 -- true
check_error 'a million' 2 'sweep: more than 100000 combinations' "$TRAINYARD" submit --sweep a=1..1000 --sweep b=1..1000 -- true '{a}{b}'
check_error 'an index outside' 2 'the sweep has 2 combinations, numbered from 0 to 1' "$TRAINYARD" submit --sweep a=1,2 --array 0-2 -- true '{a}'
check_error 'keep-best alone' 2 'keep_best: it needs the name of a group' "$TRAINYARD" submit --keep-best 2 -- true
check_error 'keep-best without every' 2 'keep_best: it needs every' "$TRAINYARD" submit --group g --keep-best 2 -- true
check_error 'a parameter twice' 2 '--sweep: lr is given twice; list its values in one' \
    "$TRAINYARD" submit --sweep lr=1 --sweep lr=2 -- true '{lr}'
submit -n held -H --group gg --keep-best 2 --every 20 -- true
check_error 'a group with two rules' 1 'group: job [0-9]+ of group gg has keep_best 2 and every 20; give the same' \
    "$TRAINYARD" submit --group gg --keep-best 2 --every 30 -- true
check 'the same rule' submit -n held2 -H --group gg --keep-best 2 --every 20 -- true
"$TRAINYARD" cancel held held2 >"$TMP/cancelled"
printf 'command: [echo, "{lr}"]\nname: file\ncpus: 0.1\nsweep:\n  lr: 0.1,0.2\n' >job.yaml
check 'in a file' "$TRAINYARD" submit job.yaml
check 'it ends' wait_until 30 no_active_jobs
check_output 'with its values' '^0.2$' "$TRAINYARD" logs 'file[1]'
