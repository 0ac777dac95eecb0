#!/bin/bash
# trainyard replay: after a random workload with everything that users do, and servers
# that are killed, every recorded decision is made again, byte for byte.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export TRAINYARD_STATE=$TMP/state

check_error 'no state' 1 "$TMP/state is not the state directory of a server" "$TRAINYARD" replay
check_error 'no number' 2 'boot: .*three' "$TRAINYARD" replay --boot three

# One step of the workload, by lot.
RANDOM=${SEED:-11}
policies=(elastic-fifo fifo las srtf voda-afs-l malleable qos flowcon)
act() {
    local job=$((RANDOM % (submitted + 1) + 1)) cpus=(0.5 1 1-2 0.5-2 2)
    local preempts=(restart restart pause pause never)
    case $((RANDOM % 14)) in
    0) "$TRAINYARD" cancel "$job" --grace 0s ;;
    1) "$TRAINYARD" hold "$job" ;;
    2) "$TRAINYARD" release "$job" ;;
    3) "$TRAINYARD" resize "$job" --cpus 1 ;;
    4) "$TRAINYARD" set "$job" --priority $((RANDOM % 3)) ;;
    5) "$TRAINYARD" policy "${policies[RANDOM % ${#policies[@]}]}" ;;
    6) "$TRAINYARD" requeue "$job" ;;
    *)
        "$TRAINYARD" submit --quiet --cpus "${cpus[RANDOM % 5]}" --priority $((RANDOM % 2)) \
            --preempt "${preempts[RANDOM % 5]}" --retries 1 --backoff 0.1s \
            --grace 1s -- sh -c "i=0; while [ \$i -lt $((RANDOM % 12)) ]; do i=\$((i + 1)); \
                echo step \$i/12 loss=0.\$i; sleep 0.05; done; exit $((RANDOM % 5 == 0))" &&
            submitted=$((submitted + 1))
        ;;
    esac
}

submitted=0
for life in 1 2 3; do
    server_start
    for ((i = 0; i < 40; i++)); do
        act >/dev/null 2>&1
    done
    check_output "beside the running server ($life)" \
        "^$life starts? of the server, [0-9]+ events, [0-9]+ decisions: all reproduced byte for byte$" \
        "$TRAINYARD" replay
    ((life < 3)) && server_kill
done
check_output 'enough was decided' '^[0-9]{2,}$' sh -c \
    "'$TRAINYARD' replay --json | sed 's/.*\"decisions\":\\([0-9]*\\).*/\\1/'"
check_output 'one start' '^1 start of the server' "$TRAINYARD" replay --boot 2
check_output 'JSON' '^\{"starts":3,"events":[0-9]+,.*"differing":0,"first":null\}$' \
    "$TRAINYARD" replay --json
check_error 'no such start' 1 'the journal has no start 9' "$TRAINYARD" replay --boot 9

# ---- other policies

"$TRAINYARD" replay --policy srtf --policy las >"$TMP/tried" 2>&1
check_file 'other policies' "$TMP/tried" '^[1-9][0-9]* jobs ran and ended\.'
check_file 'what happened' "$TMP/tried" '^as recorded +[0-9.]+m?s'
check_file 'the same policy' "$TMP/tried" '^[a-z-]+ \(same\) +[0-9.]+m?s'
check_file 'another one' "$TMP/tried" '^las +[0-9.]+m?s .* 0$'
check_output 'as JSON' '^\{"policy": ?"srtf", ?"jobs": ?[0-9]+, ?"unfinished": ?0,' \
    "$TRAINYARD" replay --policy srtf --json
check_error 'an unknown one' 2 "unknown policy 'sjf'" "$TRAINYARD" replay --policy sjf

# ---- a number is changed in a copy

check 'a copy' "$TRAINYARD" db backup "$TMP/copy.db"
mkdir "$TMP/changed"
mv "$TMP/copy.db" "$TMP/changed/trainyard.db"
row=$(python3 - "$TMP/changed/trainyard.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
seq, data = db.execute("SELECT seq, data FROM journal WHERE kind = 'plan' AND data LIKE"
                       " '%\"to\":1000,%' ORDER BY seq LIMIT 1").fetchone()
db.execute("UPDATE journal SET data = ? WHERE seq = ?",
           (data.replace('"to":1000,', '"to":1001,', 1), seq))
db.commit()
print(seq)
PY
)
check_error 'is found' 1 "^1 of them differ; the first is row $row of the journal:" \
    "$TRAINYARD" replay --state "$TMP/changed"
check_file 'what was recorded' "$TMP/output" '^  recorded .*"to":1001,'
check_file 'what comes out' "$TMP/output" '^  reproduced .*"to":1000,'
check_error 'is found, as JSON' 1 "\"differing\":1,\"first\":\{\"row\":$row,\"recorded\":" \
    "$TRAINYARD" replay --state "$TMP/changed" --json
python3 - "$TMP/changed/trainyard.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE journal SET data = substr(data, 1, 40) WHERE seq ="
           " (SELECT min(seq) FROM journal WHERE data LIKE '%submit%')")
db.commit()
PY
check_error 'a row that is cut' 1 'journal, row [0-9]+: no JSON object' \
    "$TRAINYARD" replay --state "$TMP/changed"
server_stop
