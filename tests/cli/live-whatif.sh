#!/bin/bash
# What other policies would do with the jobs of a real server, that nobody waits for the answer,
# and that what is said comes true.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start --policy fifo

submit() {
    "$TRAINYARD" submit --quiet "$@" >"$TMP/id"
}
cat >train.sh <<'END'
#!/bin/sh
i=0
while [ $i -lt "$1" ]; do
    i=$((i + 1))
    echo "step $i/$1 loss 0.5"
    sleep 0.1
done
END
chmod +x train.sh
cpus=$(nproc)

check_output 'nothing to do' '^0 jobs\.' "$TRAINYARD" whatif
submit -n long -c "$cpus" -- ./train.sh 6000
check 'it has an estimate' wait_until 30 bash -c "'$TRAINYARD' show long --json | grep -q '\"remaining_s\":[0-9]'"
submit -n short -c "$cpus" --time-limit 30s --deadline 2m -- ./train.sh 50
submit -n later -H -- true
submit -n extra -c "$cpus" --after afterok:short -- true
"$TRAINYARD" whatif -p srtf,edf >answer
check_file 'the current policy' answer '^fifo \(now\) +[0-9]+m[0-9]+s +.* 1 +0 +0 +0 +-$'
check_file 'another one' answer '^srtf .* 0 +[12] +[0-9]+%$'
check_file 'who wins and loses' answer '^  - srtf: earlier job 2 \(short\) by [0-9]+m[0-9]+s; later job 1 \(long\) by '
check_file 'what is unknown' answer '^2 jobs; 1 without an estimate; 2 that are held or wait for others are left out\.'
check_output 'more nodes' '^fifo \(now\) .* 0 +0 +-$' "$TRAINYARD" whatif -p las --nodes "+1x${cpus}c"
printf 'command: [./train.sh, "100"]\nname: added\ntime_limit: 1m\ncpus: 1\n' >job.yaml
check_output 'another job' '^3 jobs; 2 without an estimate' "$TRAINYARD" whatif -p las --add job.yaml
check_output 'as JSON' '"jobs": ?2, ?"left_out": ?2, ?"unknown": ?1, ?"draws": ?[0-9]+' "$TRAINYARD" whatif --json
check_output 'without draws' '"draws": ?0,' "$TRAINYARD" whatif --json --draws 0
check_output 'it changes nothing' 'fifo$' "$TRAINYARD" policy -q

check_error 'no such policy' 2 "policies: unknown policy 'fofo'" "$TRAINYARD" whatif -p fofo
check_error 'bad nodes' 2 "--nodes: " "$TRAINYARD" whatif --nodes +x
check_error 'a node without anything' 2 "--nodes: " "$TRAINYARD" whatif --nodes +0x4c
check_error 'too many draws' 2 "--draws: " "$TRAINYARD" whatif --draws 1000
check_error 'a job that fits nowhere' 1 'add\[0\]: ' "$TRAINYARD" whatif --add <(printf '#!/bin/sh\n#TRAINYARD --cpus 5000\n')
check_error 'no such file' 2 "--add: there is no file 'none.yaml'" "$TRAINYARD" whatif --add none.yaml

# ---- many jobs

submit -n many --array 0-999 --time-limit 1h -- true
"$TRAINYARD" whatif --json -p srtf,las,afs-l,edf,srjf,optimus,ffdl --draws 100 >many.json &
asking=$!
worst=0
while kill -0 $asking 2>/dev/null; do
    before=$(date +%s%N)
    "$TRAINYARD" policy -q >"$TMP/policy"
    took=$((($(date +%s%N) - before) / 1000000))
    ((took > worst)) && worst=$took
done
wait $asking
check_file 'a thousand jobs' many.json '"jobs": ?1002'
check 'others are answered meanwhile' test $worst -lt 1500
