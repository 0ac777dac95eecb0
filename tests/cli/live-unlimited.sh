#!/bin/bash
# A server of a user without control groups: a memory limit that nobody enforces is not shown as if
# it were, and threads are counted all the same.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "becoming a user without control groups needs root"
command -v setpriv >/dev/null || skip "no setpriv"
chmod 755 "$TMP"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
mkdir state
chown nobody state
setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$TMP/state" TRAINYARD_STATE="$TMP/state" \
    "$TRAINYARD" serve >"$TMP/serve.log" 2>&1 &
server=$!
trap 'kill $server; wait $server' EXIT
export TRAINYARD_STATE=$TMP/state
answers() {
    "$TRAINYARD" nodes >nodes.txt 2>&1
}
wait_until 20 answers || { cat serve.log nodes.txt; skip "the server does not start as another user"; }
grep -q 'without control groups' serve.log nodes.txt || skip "this user has control groups"

cat >big.py <<'END2'
import threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
time.sleep(60)
END2
"$TRAINYARD" submit -n big -m 50m -- python3 big.py >submit.txt 2>&1
check_output 'submit warns' 'memory limit is not enforced' cat submit.txt
shows() {
    "$TRAINYARD" show big | grep -Eq "$1"
}
check 'show says so' wait_until 30 shows '^  memory +50 MB asked for; the limit is not enforced$'
check 'in words' shows 'Its memory limit is not enforced: its node has no control groups for it\.'
check 'threads' wait_until 30 shows '1 process with 2 threads'
check_output 'explain' 'Its memory limit is not enforced' "$TRAINYARD" explain big
check 'the end' "$TRAINYARD" cancel big
