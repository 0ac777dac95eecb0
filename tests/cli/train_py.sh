#!/bin/bash
# The PyTorch example: it learns, saves when asked to end, and resumes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# run-tests: no asan
python=/usr/bin/python3
"$python" -c 'import torch' 2>/dev/null || skip 'python3-torch is not installed'
cd "$TMP" || exit 1
mkdir saved
export TRAINYARD_CHECKPOINT_DIR=$TMP/saved OMP_NUM_THREADS=1
train=("$python" "$ROOT/examples/train.py" --hidden 16 --batch 128)

check 'a run' "${train[@]}" --steps 300
cp output run
loss_at() {
    sed -n "s,^step $1/.* loss ,,p" run
}
check 'the loss falls to a third' awk -v first="$(loss_at 1)" -v last="$(loss_at 300)" \
    'BEGIN { exit !(last > 0 && last < first / 3) }'
check_file 'it saves at the end' run '^saved at step 300$'

"${train[@]}" --steps 1000000000 --save-every 0 >long 2>&1 &
pid=$!
check 'it resumes' wait_until 60 grep -q '^resumed at step 300$' long
check 'and goes on' wait_until 60 grep -q '^step 301/' long
kill -USR1 "$pid"
check 'SIGUSR1 makes it save' wait_until 60 grep -q '^saved at step' long
kill -TERM "$pid"
wait "$pid"
check 'SIGTERM ends it with 143' test $? = 143
saved=$(sed -n 's/^saved at step //p' long | tail -1)
check_output 'and it resumes from what it saved' "^resumed at step $saved\$" \
    "${train[@]}" --steps "$((saved + 1))"
check_error 'an unknown option' 2 'unrecognized arguments: --step-size' "${train[@]}" --step-size 1
