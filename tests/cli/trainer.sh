#!/bin/bash
# The example trainer: it learns, saves, resumes as if nothing had been, and gives the
# same result on any number of threads.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
trainer=$(dirname "$TRAINYARD")/examples/trainer
cd "$TMP" || exit 1
unset TRAINYARD_CHECKPOINT_DIR
# Threads that wait leave the cores to other tests.
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2
small=(--hidden 16 --batch 128)

loss_at() {
    sed -n "s,^step $2/.* loss ,,p" "$1"
}

check 'a run' "$trainer" "${small[@]}" --steps 400
cp output run
check_file 'the first step is shown' run '^step 1/400 loss 0\.[0-9]{4}$'
check_file 'the last step is shown' run '^step 400/400 loss 0\.[0-9]{4}$'
check 'the loss falls to a third' awk -v first="$(loss_at run 1)" -v last="$(loss_at run 400)" \
    'BEGIN { exit !(last > 0 && last < first / 3) }'
check_no_line 'nothing is saved unasked' run '^saved'

for threads in 1 2 3; do
    check "on $threads threads" env OMP_NUM_THREADS=$threads \
        "$trainer" "${small[@]}" --steps 60 --checkpoint "on$threads"
done
check 'two threads give the result of one' cmp on1 on2
check 'three threads do, too' cmp on1 on3

check 'the first half' "$trainer" "${small[@]}" --steps 30 --checkpoint half
check_output 'the second half goes on' '^resumed at step 30$' \
    "$trainer" "${small[@]}" --steps 60 --checkpoint half
cp output second
check_file 'at the next step' second '^step 31/60 '
check 'the halves give the result of the whole' cmp half on1
check_output 'what is done stays done' '^step 60/60 ' \
    "$trainer" "${small[@]}" --steps 60 --checkpoint half
check_output 'it saves as often as told' '^saved at step 20$' \
    "$trainer" "${small[@]}" --steps 25 --checkpoint often --save-every 10

mkdir dir
export TRAINYARD_CHECKPOINT_DIR=$TMP/dir
"$trainer" "${small[@]}" --steps 1000000000 --save-every 0 >long 2>&1 &
pid=$!
check 'it starts' wait_until 30 grep -q '^step 1/' long
kill -USR1 "$pid"
check 'SIGUSR1 makes it save' wait_until 30 grep -q '^saved at step' long
lines=$(wc -l <long)
goes_on() { (($(wc -l <long) > lines)); }
check 'and go on' wait_until 30 goes_on
kill -TERM "$pid"
wait "$pid"
check 'SIGTERM ends it with 143' test $? = 143
check_file 'and makes it save' long "^saved at step $(sed -n 's,^step \([0-9]*\)/.*,\1,p' long | tail -1)\$"
check 'in the directory that it is told' test -s dir/trainer.checkpoint
check 'no half-written file is left' test ! -e dir/trainer.checkpoint.new
saved=$(sed -n 's/^saved at step //p' long | tail -1)
check_output 'and it resumes from there' "^resumed at step $saved\$" \
    "$trainer" "${small[@]}" --steps "$((saved + 1))"
unset TRAINYARD_CHECKPOINT_DIR

check_output 'help' '^usage: trainer ' "$trainer" --help
check_error 'an unknown option' 2 "unrecognized option '--step-size'" "$trainer" --step-size 1
check_error 'an option without its value' 2 'requires an argument' "$trainer" --steps
check_error 'an unexpected argument' 2 "unexpected argument 'more'" "$trainer" more
check_error 'no number' 2 "--steps: expected a number from 1 to 1000000000, not 'x'" \
    "$trainer" --steps x
check_error 'no steps' 2 "not '0'" "$trainer" --steps 0
check_error 'a negative batch' 2 "--batch: expected" "$trainer" --batch -1
check_error 'a huge network' 2 "--hidden: expected a number from 1 to 256" "$trainer" --hidden 257
check_error 'an overflow' 2 "--seed: expected" "$trainer" --seed 99999999999999999999
check_error 'a checkpoint of another size' 1 'was written with --hidden 16 --seed 1' \
    "$trainer" --hidden 8 --checkpoint half
head -c 100 half >torn
check_error 'a torn checkpoint' 1 'torn: not a checkpoint of this program' \
    "$trainer" "${small[@]}" --checkpoint torn
check_error 'no checkpoint at all' 1 'long: not a checkpoint of this program' \
    "$trainer" "${small[@]}" --checkpoint long
check_error 'a place that is not there' 1 'none/x.new: No such file or directory' \
    "$trainer" "${small[@]}" --steps 1 --checkpoint none/x
check 'a torn checkpoint is left alone' test "$(stat -c %s torn)" = 100
