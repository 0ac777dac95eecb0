#!/bin/bash
# What a finished job teaches the next one of its category on a real server: how it scales, and how
# good estimates were. History that makes no sense is ignored.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
[[ $(nproc) -ge 2 ]] || skip 'it needs two CPUs'
server_start --policy elastic-fifo

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

is_measured() {
    "$TRAINYARD" estimate "$1" | grep -qE ' measured(, now)?$'
}

"$TRAINYARD" submit -q -n first -c 1-2 --category flat -- ./train.sh 150 >id
check 'it is measured' wait_until 60 is_measured first
check 'on one CPU' "$TRAINYARD" resize first --cpus 1
check 'and on two sizes' wait_until 60 bash -c "'$TRAINYARD' estimate first | grep -q 'It was measured on 2 sizes'"
check 'it ends' "$TRAINYARD" wait first
"$TRAINYARD" submit -q -n second -c 1-2 --category flat -- ./train.sh 3000 >id
check 'the next one is measured' wait_until 60 is_measured second
"$TRAINYARD" estimate second >answer
check_file 'it scales like the first' answer 'others are expected to scale like finished jobs of its category'
check_file 'how good estimates were' answer 'estimates of 1 finished job of its category were off by [0-9]+ % on average, and [01] of 1 ends were inside the band'
check_output 'as JSON' '"past_jobs": ?1, ?"past_error": ?[0-9.]+' "$TRAINYARD" estimate second --json
check_output 'show says it, too' 'such estimates were off by [0-9]+ %' "$TRAINYARD" show second

server_kill # the database is the server's alone
python3 - "$TMP/state/trainyard.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1], timeout=20)
db.execute("UPDATE category SET fixed=-1, parallel=9e999, comm=NULL, inside=9, error=-5")
db.commit()
END
server_start --policy elastic-fifo
"$TRAINYARD" submit -q -n third -c 1-2 --category flat -- ./train.sh 3000 >id
"$TRAINYARD" cancel second --grace 0s >"$TMP/cancelled"
check 'with garbage for history' wait_until 60 is_measured third
"$TRAINYARD" estimate third >answer
check_file 'others are assumed to scale' answer 'others are assumed to scale with a loss of 5 % for each further unit'
check 'and nothing is said of the past' bash -c '! grep -q category answer'
check_error 'a name that is too long' 2 'category: a name has 1 to 63 bytes' \
    "$TRAINYARD" submit --category "$(printf 'x%.0s' {1..64})" -- true
"$TRAINYARD" cancel --all --yes --grace 0s >"$TMP/cancelled" 2>&1
