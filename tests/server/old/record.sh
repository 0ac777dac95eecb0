#!/bin/bash
# Writes a small database with a program of an earlier version, as SQL text, for tests of
# the migration:
#
#   tests/server/old/record.sh path/to/old/trainyard >tests/server/old/schema-2.sql
#
# Afterwards the database has jobs that are done, failed, running, held and queued; an
# array, dependencies, a changed time limit and priority, a resize by hand, the cost of a
# restart for a size, progress with and without a metric, and a node that is drained.
set -eu
trainyard=$(realpath "$1")
dir=$(mktemp -d)
export TRAINYARD_STATE=$dir/state
mkdir "$dir/state" "$dir/work"
clean=(env -i PATH=/usr/bin:/bin HOME=/root "TRAINYARD_STATE=$TRAINYARD_STATE")

cat >"$dir/work/train.py" <<'END'
import os, signal, sys, time
path = os.environ["TRAINYARD_CHECKPOINT_DIR"] + "/step"
step = int(open(path).read()) if os.path.exists(path) else 0
def save(*_):
    open(path, "w").write(str(step))
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
while True:
    step += 1
    print(f"step {step}/100000 loss {10 / (step + 1):.4f}", flush=True)
    time.sleep(0.1)
END

cd "$dir/work"
"${clean[@]}" "$trainyard" serve >"$dir/serve.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
t() {
    "${clean[@]}" "$trainyard" "$@" >&2
}
until t ps 2>/dev/null; do sleep 0.1; done

t submit --name 'done' -- sh -c 'echo "epoch 3/3 loss=0.25"'
t submit --name failed --retries 1 --backoff 1s -- sh -c 'exit 3'
t wait 1 2 || true
t submit --name elastic -c 1-2 --resize restart --requeue -- python3 train.py
sleep 2
t submit --name second -c 1 --time-limit 2h -- sleep 1000
sleep 3 # it has restarted on one CPU, and reported since
t set second --time-limit 3h --priority 2
t resize elastic --cpus 1
t submit --hold --name held -c 1 --deadline 4h -- true
t submit --array 1-4%2 --name array -c 1 -- sleep 500
t submit --after afterok:elastic --name after -- true
t drain "$(hostname)"
sleep 2
t db backup "$dir/old.db"
python3 - "$dir/old.db" "$dir" "$(hostname)" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print("-- Made by tests/server/old/record.sh.")
for (sql,) in [("PRAGMA user_version",), ("PRAGMA application_id",)]:
    print(f"{sql} = {db.execute(sql).fetchone()[0]};")
for line in db.iterdump():
    print(line.replace(sys.argv[2], "/old").replace(sys.argv[3], "node1"))
END
t cancel --grace 0 3 4 5 6 7 8 9 10
t wait 3 4 || true
