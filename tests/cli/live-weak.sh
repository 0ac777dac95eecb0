#!/bin/bash
# What a job tells but is not sure to be its training, with a real server: it is shown with a mark,
# and no end follows from it. Nor does one follow from the loss alone.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start

cat >bar.py <<'END2'
import sys, time
for i in range(1, 10001):
    at = min(i, 80)
    sys.stderr.write(f"\rSelf Play: {at:3d}%|########  | {at}/100 [00:{i % 60:02d}<00:20, 1.00s/it]")
    sys.stderr.flush()
    time.sleep(0.05)
END2
cat >curve.py <<'END2'
import math, time
step = 0
while True:
    step += 1
    print(f"iteration {step} loss {2 + math.exp(-step / 20):.5f}", flush=True)
    time.sleep(0.02)
END2
"$TRAINYARD" submit --quiet -c 0.1 -n bar -- python3 bar.py >/dev/null
"$TRAINYARD" submit --quiet -c 0.1 -n curve -- python3 curve.py >/dev/null

shows() {
    "$TRAINYARD" show "$1" | grep -Eq "$2"
}
check 'a bar of something is marked' wait_until 60 shows bar '^  progress +80%\?, step 80 of 100$'
check_output 'in words too' '^ +This may not be the training; no estimate follows from it\.$' "$TRAINYARD" show bar
check_output 'in ps' ' 80%\?' "$TRAINYARD" ps
check_no_line 'no time left' <("$TRAINYARD" show bar) 'time left'
check_output 'in the API' '"weak": ?true' "$TRAINYARD" show bar --json
server_kill
server_start
check 'also after a restart' wait_until 20 shows bar '80%\?'

is_flat() {
    "$TRAINYARD" show --json curve >curve.json
    python3 -c 'import json; s = json.load(open("curve.json")); s = s[0] if isinstance(s, list) else s; exit(s["progress"]["step"] < 300)'
}
check 'it goes on while flat' wait_until 60 is_flat
check_no_line 'a flat loss is no percentage' curve.json '"fraction": ?[0-9]'
check_no_line 'no total' <("$TRAINYARD" show curve) '%|time left|^  total'
