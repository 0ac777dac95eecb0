#!/bin/bash
# How the end of a training is known, with a real server: totals in units, their source, and
# that they are dropped when the output contradicts them.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start

submit() {
    "$TRAINYARD" submit --quiet -c 0.1 "$@" >"$TMP/id"
}
# shows NAME REGEX: a line of show matches, soon.
shows() {
    wait_until 30 bash -c "'$TRAINYARD' show $1 | grep -Eq '$2'"
}

# Prints lines in the form of its first argument, one every 0.1 s, up to number $2, and waits.
cat >train.sh <<'END'
#!/bin/sh
i=0
while [ $i -lt "$2" ]; do
    i=$((i + 1))
    # shellcheck disable=SC2059
    printf "$1\n" "$i"
    sleep 0.1
done
sleep 1000
END
chmod +x train.sh

submit -n epochs --total 10epochs -- ./train.sh 'epoch %d loss 0.5' 3
check 'epochs' shows epochs '^  progress +30%, step 3 of 10, epoch 3'
check_output 'from --total' '^  total +from --total$' "$TRAINYARD" show epochs
check_output 'as requested' '"total": ?"10epochs"' "$TRAINYARD" show epochs --json
submit -n steps --total 500steps -- ./train.sh 'step %d loss 0.5' 5
check 'steps' shows steps '^  progress +1%, step 5 of 500'
submit -n other --total 10epochs -- ./train.sh 'step %d loss 0.5' 3
check 'a total of something else' shows other '^  progress +step 3$'
submit -n wrong --total 4 -- ./train.sh 'step %d loss 0.5' 6
check 'a total that the job exceeds is dropped' shows wrong '^  progress +step 6$'
check_no_line 'without a source' <("$TRAINYARD" show wrong) '^  total '
submit -n option -- sh -c 'exec ./train.sh "epoch %d loss 0.5" 3' --epochs 12
check 'a total of the command line' shows option '^  progress +25%, step 3 of 12, epoch 3'
check_output 'names the option' '^  total +from --epochs 12$' "$TRAINYARD" show option
check_output 'in the list' '"total_from": ?"--epochs 12"' "$TRAINYARD" ps --json
check_error 'a bad unit' 2 "total: '10bananas': unknown unit 'bananas'; expected steps, epochs" \
    "$TRAINYARD" submit --total 10bananas -- true
printf 'command: [./train.sh, "epoch %%d loss 1", "2"]\nname: file\ncpus: 0.1\ntotal: 8 epochs\n' >job.yaml
check 'in a file' "$TRAINYARD" submit job.yaml
check 'it counts' shows file '^  progress +25%, step 2 of 8'

# ---- no output yet

submit -n silent -- sleep 1000
check 'no output' shows silent '^  output +no output yet$'
check_output 'explain' 'It has printed nothing yet, so its progress is not known\.$' "$TRAINYARD" explain silent

# ---- output as it is printed

cat >prints.py <<'END'
import sys, time
print("step 1/4 loss 0.5")
print(sys.stdout.isatty())
time.sleep(1000)
END
printed() {
    wait_until 30 bash -c "'$TRAINYARD' logs $1 | grep -q '$2'"
}
submit -n python -- python3 prints.py
check 'Python does not buffer' printed python '^step 1/4'
check_output 'nor is it on a terminal' '^False$' "$TRAINYARD" logs python
submit -n terminal --pty yes -- python3 prints.py
check 'unless that is asked for' printed terminal '^True$'
submit -n size --pty yes -- sh -c 'stty size; cat; echo read to the end'
check 'standard input is that terminal' printed size '^[0-9]* 120$'
check 'which has nothing to read' printed size '^read to the end$'
submit -n buffers -e PYTHONUNBUFFERED= -- python3 -c 'import os; print(repr(os.environ["PYTHONUNBUFFERED"]))'
check 'a job may object' "$TRAINYARD" wait buffers --timeout 60
check_output 'it does' "^''$" "$TRAINYARD" logs buffers

# ---- the last lines of a bar

cat >bar.py <<'END'
import sys
print("begin")
for i in range(200000):
    sys.stdout.write("\r%6d/200000 [%-20s]" % (i + 1, "#" * (i // 10000)))
sys.stdout.write("\nsaved\n\r 1/9\r 2/9")
END
submit -n bar -- python3 bar.py
check 'a bar that is drawn again and again' "$TRAINYARD" wait bar --timeout 120
"$TRAINYARD" logs bar --tail 3 >last
check_output 'its last lines' '^200000/200000 \[#+ \]$' cat last
check_output 'are as a terminal shows them' '^ 2/9$' cat last
check_output 'and so many' '^3$' bash -c 'wc -l <last'
check_output 'with the one before' '^begin$' "$TRAINYARD" logs bar --tail 4
check_output 'without --tail every byte is there' '^7400023$' bash -c "'$TRAINYARD' logs bar | wc -c"
