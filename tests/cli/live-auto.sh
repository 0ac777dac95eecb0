#!/bin/bash
# The policy auto on a real server: it changes the allocator for a deadline, and says why.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start --policy auto:every=1s

cat >train.sh <<'END'
#!/bin/sh
i=0
while [ $i -lt "$2" ]; do
    i=$((i + 1))
    echo "step $i/$2 loss 0.5"
    sleep 0.1
done
END
chmod +x train.sh
cpus=$(nproc)
remaining() {
    "$TRAINYARD" show long --json | sed -n 's/.*"remaining_s": *\([0-9]*\).*/\1/p'
}

check_output 'it begins with hesrpt' 'found nothing better than hesrpt yet' "$TRAINYARD" policy
# The deadline leaves a third more time than the long job needs, and the short jobs need twice that
# third: neither errors of the estimates nor a slow machine change which policy meets it. The short
# jobs are known to take ten times as long as the earlier run.
check "an earlier run of the program" "$TRAINYARD" run -q -n before -c "$cpus" -- ./train.sh --steps 40
"$TRAINYARD" submit --quiet -n long -c "$cpus" -- ./train.sh --steps 3000 >"$TMP/id"
check 'it has an estimate' wait_until 60 bash -c "'$TRAINYARD' show long --json | grep -q '\"remaining_s\": *[1-9]'"
left=$(remaining)
"$TRAINYARD" set long --deadline "$((left + left / 3))s" >"$TMP/set"
check_no_line 'it sees deadlines' <("$TRAINYARD" submit -n due -H --deadline 1h -- true 2>&1) 'does not look at deadlines'
for _ in $(seq 5); do
    "$TRAINYARD" submit --quiet -n short -c "$cpus" -- ./train.sh --steps 400 >"$TMP/id"
done
check 'another allocator, and an event says why' wait_until 60 bash -c \
    "'$TRAINYARD' events | grep -Eq 'policy.chosen .*from=hesrpt .*to=[a-z]+ .*why=[a-z]+ instead of hesrpt: '"
check_output 'the policy says why' 'The policy auto chose [a-z-]+ instead of [a-z-]+: ' "$TRAINYARD" policy
check_output 'explain says why' 'The policy auto chose [a-z-]+ instead of [a-z-]+: ' "$TRAINYARD" explain long
check_output 'the choice is in its name' '^auto:now=[a-z-]+:every=1s$' "$TRAINYARD" policy -q
check_output 'another policy ends it' '"chosen": ?null' "$TRAINYARD" policy --json fifo
check_error 'bad goal' 2 'goal' "$TRAINYARD" policy auto:goal=nothing
"$TRAINYARD" cancel --all --yes >"$TMP/cancelled" 2>&1

