#!/bin/bash
# Failures are visible at once, with a real server: the error that a job printed, a loss that
# is not a number, a missing interpreter, processes that are left running.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start --show-failed 20s

submit() {
    "$TRAINYARD" submit --quiet "$@"
}
ends() {
    "$TRAINYARD" wait "$1" --timeout 60 >"$TMP/wait" 2>&1
    [[ $? -eq $2 ]]
}
events_of() {
    "$TRAINYARD" events --job "$1" --json
}

# ---- the error

cat >raises.py <<'END'
import sys
print("epoch 1 loss 0.5")
def train():
    raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
try:
    train()
except RuntimeError as e:
    print("saving", file=sys.stderr)
    raise
END
job=$(submit -n raises -- python3 raises.py)
error='RuntimeError: mat1 and mat2 shapes cannot be multiplied'
check 'it fails' ends raises 1
check_output 'ps has it' "^ *$job +raises +failed \(1\) .* $error$" "$TRAINYARD" ps
check_output 'show' "^  error +$error$" "$TRAINYARD" show raises
check_output 'explain' "It printed: $error$" "$TRAINYARD" explain raises
check_output 'the event' "\"kind\": ?\"job.ended\".*\"error\": ?\"$error\"" events_of "$job"
check_output 'the list' "\"error\": ?\"$error\"" "$TRAINYARD" ps -a --json
submit -n quiet -- sh -c 'echo the last line; exit 4' >id
check 'a job without an exception' ends quiet 4
check_output 'the last line' '^  error +the last line$' "$TRAINYARD" show quiet
submit -n good -- sh -c 'echo Error: none' >id
check 'a good job' ends good 0
check_no_line 'no error' <("$TRAINYARD" show good) '^  error'
check 'ps drops failures after a while' wait_until 40 bash -c "! '$TRAINYARD' ps | grep -q raises"

# ---- a loss that is not a number

cat >diverges.sh <<'END'
#!/bin/sh
for i in 1 2 3; do echo "step $i/1000 loss=0.$i"; sleep 0.1; done
while :; do echo "step 4/1000 loss=$1"; sleep 0.2; done
END
chmod +x diverges.sh
job=$(submit -n nan -- ./diverges.sh nan)
check 'NaN is seen' wait_until 30 bash -c "'$TRAINYARD' show nan | grep -Eq '^  loss +nan: the training has diverged$'"
check_output 'ps' "^ *$job +nan +running .* nan! " "$TRAINYARD" ps
check_output 'explain' 'Its loss is nan: the training has diverged\.$' "$TRAINYARD" explain nan
check_output 'the event' '"kind": ?"job.diverged".*"loss": ?"nan"' events_of "$job"
check 'it goes on' "$TRAINYARD" cancel nan --grace 0s
submit -n inf --stop-on-nan -- ./diverges.sh inf >id
check 'one that is to stop' bash -c "! '$TRAINYARD' wait inf --timeout 60"
check_output 'says why' '^  reason +stopped because its loss became inf$' "$TRAINYARD" show inf
check_output 'has failed' '\(inf\).*: failed' "$TRAINYARD" show inf

# ---- what cannot be run

printf '#!/no/such/python9\nprint(1)\n' >script.py
printf '#!/bin/sh\r\nexit 0\r\n' >windows.sh
chmod +x script.py windows.sh
submit -n gone -- ./script.py >id
check 'a script without its interpreter' ends gone 127
check_output 'names it' "^  reason +cannot run ./script.py: its interpreter /no/such/python9 does not exist$" \
    "$TRAINYARD" show gone
submit -n windows -- ./windows.sh >id
check 'a script from Windows' ends windows 127
check_output 'says so' 'its interpreter /bin/sh does not exist; its lines end as on Windows' \
    "$TRAINYARD" show windows

# ---- processes that are left

submit -n leaves -- sh -c 'sleep 1000 & sleep 0.3; echo done' >id
check 'one that leaves a process' ends leaves 0
check_output 'show names it' '^  left running +sleep 1000 \([0-9]+\), ended with the job$' "$TRAINYARD" show leaves
check_output 'so does the log' 'ended processes that the command left running: sleep 1000' "$TRAINYARD" logs leaves
submit -n waits --wait-children -- sh -c '{ sleep 1; echo later; } & exit 5' >id
check 'one that is waited for has its own code' ends waits 5
check_output 'and all output' '^later$' "$TRAINYARD" logs waits
check_no_line 'nothing was ended' <("$TRAINYARD" show waits) 'left running'
