#!/bin/bash
# trainyard db, and a server that is started on the database of an earlier version.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
export TRAINYARD_STATE=$TMP/state
database=$TMP/state/trainyard.db

# Runs SQL on a database that nobody has open.
sql() {
    python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.stdin.read())
db.close()' "$1"
}

for verb in check compact "backup $TMP/none.db"; do
    # shellcheck disable=SC2086 # the verb has arguments
    check_error "$verb of nothing" 1 'no database .*--state' "$TRAINYARD" db $verb
done

# ---- an upgrade

mkdir "$TMP/state"
sql "$database" <"$ROOT/tests/server/old/schema-2.sql"
check_output 'the check of an old one' '^sound: schema 2, 10 jobs' "$TRAINYARD" db check
check_error 'a replay of an old one' 1 'start the server once' "$TRAINYARD" replay
server_start
check_output 'all jobs are there' '^10$' sh -c "'$TRAINYARD' ps --all --quiet | wc -l"
check_output 'a changed time limit' '^  time limit +3h00m' "$TRAINYARD" show second
check_output 'a changed priority' '^  priority +2$' "$TRAINYARD" show second
check_output 'progress' '"epochs":3.0' "$TRAINYARD" show 'done' --json
check_output 'a size set by hand' '"cpus_min":1.0,"cpus_max":1.0' "$TRAINYARD" show elastic --json
check_output 'the size that was asked for' '"cpus":"1-2"' "$TRAINYARD" show elastic --json
# Another version may decide otherwise; what was told is there.
"$TRAINYARD" replay --boot 1 >"$TMP/old" 2>&1
check_file 'the journal of the old one' "$TMP/old" '^1 start of the server, 31 events, 13 decisions'
check_output 'what this one decided' '^1 start of the server, .*: all reproduced byte for byte$' \
    "$TRAINYARD" replay --boot 2

# ---- care

check 'an array' "$TRAINYARD" submit --array 1-100 --hold --quiet -- true
check_output 'check' '^sound: schema [0-9]+, 110 jobs' "$TRAINYARD" db check
check 'backup' "$TRAINYARD" db backup "$TMP/copy.db"
check 'compact' "$TRAINYARD" db compact
mkdir "$TMP/copy"
mv "$TMP/copy.db" "$TMP/copy/trainyard.db"
check_output 'the backup is one' '^sound: schema [0-9]+, 110 jobs' \
    "$TRAINYARD" db check --state "$TMP/copy"
sql "$TMP/copy/trainyard.db" <<<"PRAGMA foreign_keys = OFF; UPDATE job SET request = 99 WHERE id = 1"
check_error 'damage' 1 '^table job: a row without its request' \
    "$TRAINYARD" db check --state "$TMP/copy"
sql "$TMP/copy/trainyard.db" <<<'PRAGMA user_version = 99'
version=$("$TRAINYARD" --version | sed 's/trainyard //')
check_error 'a newer one names its program' 1 "written by trainyard $version \(schema 99" \
    "$TRAINYARD" serve --state "$TMP/copy"
server_stop
