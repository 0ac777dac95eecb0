#!/bin/bash
# A deadline and no resources on a real server: the size is open, the reply says whether the deadline
# can be met, and bad deadlines are refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start --policy deadline

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
most=$("$TRAINYARD" nodes --json | sed -n 's/.*"cpus": *\([0-9]*\).*/\1/p' | head -1)

check_output 'nothing is known yet' 'job 1: the deadline in .*: how long the job takes is not known yet' \
    "$TRAINYARD" submit -n first --deadline 2h -- ./train.sh 30
show_end() {
    "$TRAINYARD" submit -q -n timed -c 0.5 --deadline 3h -- ./train.sh 3000 >"$TMP/id"
    wait_until 30 bash -c "'$TRAINYARD' show timed | grep -q 'expected end'"
    "$TRAINYARD" show timed
}
check_output 'any size' "\"cpus_min\": ?1.*\"cpus_max\": ?${most}[,.]" "$TRAINYARD" show first --json
check 'it is done' "$TRAINYARD" wait first
check_output 'it can be met' 'job 2: the deadline in .* can be met: it starts at once on [0-9]+ CPUs? and ends in about ' \
    "$TRAINYARD" submit -n second --deadline 2h -- ./train.sh 30
check_output 'it cannot' 'warning: job 3: the deadline in .* cannot be met: .* and ends in .* at the earliest' \
    "$TRAINYARD" submit -n third --deadline 500ms -- ./train.sh 30
check_error 'strictly' 1 'strict_deadline: the deadline in .* cannot be met: .* at the earliest' \
    "$TRAINYARD" submit -n fourth --deadline 500ms --strict-deadline -- ./train.sh 30
check_output 'a size that was given stays' '"cpus_max": ?1[,.]' \
    bash -c "'$TRAINYARD' submit -q -n sized -H -c 1 --deadline 2h -- true; '$TRAINYARD' show sized --json"
check_output 'without a deadline it is one CPU' '"cpus_max": ?1[,.]' \
    bash -c "'$TRAINYARD' submit -q -n plain -H -- true; '$TRAINYARD' show plain --json"
check_output 'the deadline is moved' 'second' "$TRAINYARD" set second --deadline 3h

check_output 'show has the time of day' '^  expected end +[0-9:-]+( [0-9:]+)?, likely [0-9: -]+ to ' show_end
check_output 'a moved deadline is answered' 'job [0-9]+: the deadline in .* can be met' "$TRAINYARD" set timed --deadline 4h
check_output 'an impossible one too' 'warning: job [0-9]+: the deadline in .* cannot be met: .* at the earliest' \
    bash -c "'$TRAINYARD' set timed --deadline 1s 2>&1"
check_output 'by the time of day' 'can be met' "$TRAINYARD" set timed --deadline-at 2035-01-31T18:00
check_output 'estimate says it too' '^Deadline: the deadline in .* can be met' "$TRAINYARD" estimate timed
check_output 'of CPUs' '^ *CPUS +STEP +TIME LEFT' "$TRAINYARD" estimate timed
check_error 'set in the past' 2 'deadline_at: must be in the future' "$TRAINYARD" set timed --deadline-at 2020-01-01T00:00
check_error 'set twice' 2 'either --deadline or --deadline-at' "$TRAINYARD" set timed --deadline-at 2035-01-01T00:00 --deadline 1h
check_output 'a time limit is the latest end, not the expected one' \
    'the deadline in .*: how long the job takes is not known yet; its time limit ends it in .* at the latest' \
    "$TRAINYARD" submit -c 0.1 -n limited --time-limit 1h --deadline 10m -- sleep 600
check_output 'and enough if it is short' 'can be met: .* and ends in .* at the latest' \
    "$TRAINYARD" submit -c 0.1 -n short --time-limit 5m --deadline 1h -- sleep 601
check_error 'no time' 2 "--deadline: '0s' is not between 1ms and " "$TRAINYARD" submit --deadline 0s -- true
check_error 'set to no time' 2 "--deadline: '0' must be more than 0; \`--deadline none\` removes it" \
    "$TRAINYARD" set second --deadline 0
check_error 'strict without a deadline' 2 'strict_deadline: there is no deadline' \
    "$TRAINYARD" submit --strict-deadline -- true
check_error 'in the past' 2 'deadline_at: must be in the future' "$TRAINYARD" submit --deadline-at 2020-01-01T00:00 -- true
check_error 'an unknown zone' 2 "--deadline-at: .* is not a time; write " \
    "$TRAINYARD" submit --deadline-at '2030-01-01T00:00 Mars/Phobos' -- true
check_error 'no format' 2 "--deadline: 'soon' is not a duration; write " "$TRAINYARD" submit --deadline soon -- true
check_error 'a longer time limit' 2 'strict_deadline: time_limit is longer than deadline' \
    "$TRAINYARD" submit --deadline 1h --time-limit 2h --strict-deadline -- true
"$TRAINYARD" cancel --all --yes --grace 0s >"$TMP/cancelled" 2>&1
