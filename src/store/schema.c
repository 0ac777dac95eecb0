/* Owns the tables: for every version of the schema, the script that makes it from the previous
 * one. docs/store.md describes the tables. A released script never changes. */
#include "store/schema.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/fault.h"
#include "store/store.h"

#if SQLITE_VERSION_NUMBER < 3038000
#error "SQLite 3.38 or newer is needed, for STRICT tables and JSON"
#endif

/* An index implicitly ends with the table's id, so job_state is (state, id), and pages of a list
 * are read from it in order. What changes with every progress report is in no index. */
static const char version_1[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"

    "CREATE TABLE job ("
    "  id INTEGER PRIMARY KEY,"
    "  name TEXT NOT NULL,"
    "  user TEXT NOT NULL,"
    "  state TEXT NOT NULL,"
    "  over INTEGER NOT NULL,"
    "  priority INTEGER NOT NULL,"
    "  array_id INTEGER NOT NULL,"
    "  array_index INTEGER NOT NULL,"
    "  submitted INTEGER NOT NULL,"
    "  started INTEGER NOT NULL,"
    "  ended INTEGER NOT NULL,"
    "  deadline INTEGER NOT NULL,"
    "  eligible INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL,"
    "  failures INTEGER NOT NULL,"
    "  code INTEGER NOT NULL,"
    "  reason TEXT NOT NULL,"
    "  work REAL, done REAL, attained REAL,"
    "  run_time INTEGER NOT NULL,"
    "  wait_time INTEGER NOT NULL,"
    "  cpus_min INTEGER NOT NULL, cpus_max INTEGER NOT NULL,"
    "  step REAL, total REAL, metric REAL,"
    "  trimmed INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE INDEX job_state ON job (state);"
    "CREATE INDEX job_user ON job (user, state);"
    "CREATE INDEX job_name ON job (name);"
    "CREATE INDEX job_array ON job (array_id) WHERE array_id > 0;"
    "CREATE INDEX job_to_trim ON job (ended) WHERE over = 1 AND trimmed = 0;"

    /* Separate from the job, which is rewritten at each change. */
    "CREATE TABLE spec (job INTEGER PRIMARY KEY REFERENCES job (id), text TEXT NOT NULL) STRICT;"

    "CREATE TABLE job_count (state TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER job_added AFTER INSERT ON job BEGIN"
    "  INSERT INTO job_count VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;"
    "END;"
    "CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN old.state <> new.state BEGIN"
    "  UPDATE job_count SET n = n - 1 WHERE state = old.state;"
    "  INSERT INTO job_count VALUES (new.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;"
    "END;"
    "CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN"
    "  UPDATE job_count SET n = n - 1 WHERE state = old.state;"
    "END;"

    "CREATE TABLE dep ("
    "  job INTEGER NOT NULL REFERENCES job (id),"
    "  kind INTEGER NOT NULL,"
    "  on_job INTEGER NOT NULL,"
    "  PRIMARY KEY (job, kind, on_job)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE attempt ("
    "  job INTEGER NOT NULL REFERENCES job (id),"
    "  n INTEGER NOT NULL,"
    "  state TEXT NOT NULL,"
    "  over INTEGER NOT NULL,"
    "  node TEXT NOT NULL,"
    "  token TEXT NOT NULL,"
    "  places TEXT NOT NULL,"
    "  created INTEGER NOT NULL,"
    "  started INTEGER NOT NULL,"
    "  ended INTEGER NOT NULL,"
    "  code INTEGER NOT NULL,"
    "  signal INTEGER NOT NULL,"
    "  reason TEXT NOT NULL,"
    "  cpu_seconds REAL, memory_max_mb REAL,"
    "  pid INTEGER NOT NULL,"
    "  PRIMARY KEY (job, n)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX attempt_active ON attempt (job, n) WHERE over = 0;"

    "CREATE TABLE event ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  at INTEGER NOT NULL,"
    "  job INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  json TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX event_job ON event (job);"

    "CREATE TABLE sample ("
    "  job INTEGER NOT NULL REFERENCES job (id),"
    "  seq INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL,"
    "  at INTEGER NOT NULL,"
    "  step REAL, metric REAL, units REAL, cpu_time REAL, memory_mb REAL,"
    "  block_bytes REAL, net_bytes REAL,"
    "  PRIMARY KEY (job, seq)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE boot (n INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL) STRICT;"
    "CREATE TABLE journal ("
    "  seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  boot INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  data TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX journal_boot ON journal (boot);";

static const char version_2[] = "ALTER TABLE job ADD COLUMN said TEXT NOT NULL DEFAULT '';";

/* Whatever can change about a job or an attempt has a column; a request is kept once and
 * never changes. While a job is not over only one index follows its state, job_live; the
 * others take it in when it ends. Numbers of events and of the journal go on from the newest
 * row, which is therefore never deleted. A row of the journal belongs to the last boot that
 * begins with it or before it.
 *
 * Columns that only requests tell are 0 until the server, which can read requests, fills
 * them in: see STORE_META_REQUESTS. */
static const char version_3[] =
    "CREATE TABLE request (id INTEGER PRIMARY KEY, command TEXT NOT NULL, text TEXT NOT NULL)"
    "  STRICT;"
    "INSERT INTO request SELECT job, coalesce(iif(json_valid(text), text -> '$.command', '[]'),"
    "  '[]'), text FROM spec;"
    "DROP TABLE spec;"

    "DROP TRIGGER job_added;"
    "DROP TRIGGER job_moved;"
    "DROP TRIGGER job_removed;"
    "DROP TABLE job_count;"

    "DROP INDEX job_state;"
    "DROP INDEX job_user;"
    "ALTER TABLE job RENAME COLUMN array_id TO array;"
    "ALTER TABLE job ADD COLUMN request INTEGER REFERENCES request (id);"
    "ALTER TABLE job ADD COLUMN gpus_min INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN gpus_max INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN memory_mb INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN time_limit INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN resize_cost INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN epoch REAL;"
    "ALTER TABLE job ADD COLUMN epochs REAL;"
    "ALTER TABLE job ADD COLUMN loss REAL;"
    "ALTER TABLE job ADD COLUMN rate REAL;"
    "ALTER TABLE job ADD COLUMN metric_name TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE job ADD COLUMN progress_source TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE job ADD COLUMN progress_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN held INTEGER NOT NULL DEFAULT 0;"
    "UPDATE job SET held = state = 'held';"
    "UPDATE job SET request = (SELECT id FROM request WHERE request.id = job.id);"
    "UPDATE job SET epoch = said ->> '$.epoch', epochs = said ->> '$.epochs',"
    "  loss = said ->> '$.loss', metric_name = coalesce(said ->> '$.metric', ''),"
    "  progress_source = coalesce(said ->> '$.source', ''),"
    "  progress_at = coalesce(said ->> '$.at', 0) WHERE json_valid(said);"
    "UPDATE job SET resize_cost = coalesce((SELECT cast(round((json ->> '$.expected_s') * 1e6)"
    "  AS INTEGER) FROM event WHERE event.job = job.id AND kind = 'job.restarted'"
    "  AND json_valid(json) ORDER BY seq DESC LIMIT 1), 0) WHERE over = 0;"
    "ALTER TABLE job DROP COLUMN said;"
    /* With the id and the user, so that a list of one user's jobs passes over those of
     * others without reading their rows. */
    "CREATE INDEX job_live ON job (state, id, user) WHERE over = 0;"
    "CREATE INDEX job_over ON job (state) WHERE over = 1;"
    "CREATE INDEX job_over_user ON job (user, state) WHERE over = 1;"

    "ALTER TABLE attempt ADD COLUMN gpu_type TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempt ADD COLUMN cpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN cpu_limit INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN cpu_weight REAL DEFAULT 1;"
    "ALTER TABLE attempt ADD COLUMN boot TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempt ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN stop TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempt ADD COLUMN grace INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN before INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN ran INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN since INTEGER NOT NULL DEFAULT 0;"
    "UPDATE attempt SET gpu_type = coalesce((SELECT"
    "  iif(json_valid(data), data ->> ('$.gpu_types[' || ((places ->> '$.pool') - 1) || ']'), '')"
    "  FROM journal WHERE kind = 'boot' ORDER BY seq DESC LIMIT 1), '')"
    "  WHERE json_valid(places) AND (places ->> '$.pool') BETWEEN 1 AND 16;"
    "UPDATE attempt SET"
    "  cpus = coalesce(places ->> '$.cpus', 0),"
    "  gpus = coalesce(places ->> '$.gpus', 0),"
    "  cpu_limit = coalesce(places ->> '$.limit', 0),"
    "  cpu_weight = coalesce(places ->> '$.weight', 1),"
    "  boot = coalesce(places ->> '$.boot', ''),"
    "  paused = coalesce(places ->> '$.paused', 0),"
    "  stop = coalesce(places ->> '$.stop', ''),"
    "  seq = coalesce(places ->> '$.seq', 0),"
    "  before = coalesce(places ->> '$.ran', 0),"
    "  ran = coalesce(places ->> '$.ran', 0),"
    "  since = coalesce(places ->> '$.since', 0) WHERE json_valid(places);"
    "ALTER TABLE attempt DROP COLUMN places;"
    "ALTER TABLE attempt ADD COLUMN fetch INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN runtime TEXT NOT NULL DEFAULT 'local';"
    "DROP INDEX attempt_active;"
    "CREATE INDEX attempt_active ON attempt (job, n) WHERE over = 0 OR fetch = 1;"

    "CREATE TABLE speed ("
    "  job INTEGER NOT NULL REFERENCES job (id),"
    "  size INTEGER NOT NULL,"
    "  units REAL, mean REAL, squares REAL, inside REAL, weight REAL,"
    "  last INTEGER NOT NULL,"
    "  PRIMARY KEY (job, size)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE node (name TEXT PRIMARY KEY, drained INTEGER NOT NULL, reason TEXT NOT NULL)"
    "  STRICT, WITHOUT ROWID;"
    "INSERT INTO node SELECT substr(key, 7), value = '1', '' FROM meta WHERE key LIKE 'drain:%';"
    "DELETE FROM meta WHERE key LIKE 'drain:%';"

    "CREATE TABLE event_3 ("
    "  seq INTEGER PRIMARY KEY,"
    "  at INTEGER NOT NULL,"
    "  job INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  json TEXT NOT NULL"
    ") STRICT;"
    "INSERT INTO event_3 SELECT seq, at, job, kind, json FROM event ORDER BY seq;"
    /* The newest may have been deleted so far: then the last start has its number. */
    "INSERT INTO event_3 SELECT seq, (SELECT coalesce(max(at), 0) FROM boot), 0,"
    "  'server.started', '{}' FROM sqlite_sequence WHERE name = 'event'"
    "  AND seq > (SELECT coalesce(max(seq), 0) FROM event);"
    "DROP TABLE event;"
    "ALTER TABLE event_3 RENAME TO event;"
    "CREATE INDEX event_job ON event (job);"

    "CREATE TABLE journal_3 ("
    "  seq INTEGER PRIMARY KEY,"
    "  kind TEXT NOT NULL,"
    "  data TEXT NOT NULL"
    ") STRICT;"
    "INSERT INTO journal_3 SELECT seq, kind, data FROM journal ORDER BY seq;"
    "ALTER TABLE boot ADD COLUMN first INTEGER NOT NULL DEFAULT 0;"
    "UPDATE boot SET first = coalesce((SELECT seq FROM journal WHERE boot >= n"
    "  ORDER BY boot, seq LIMIT 1), (SELECT coalesce(max(seq), 0) + 1 FROM journal));"
    "CREATE INDEX boot_first ON boot (first);"
    "DROP TABLE journal;"
    "ALTER TABLE journal_3 RENAME TO journal;"

    "INSERT INTO meta SELECT '" STORE_META_REQUESTS "', 'unread' WHERE EXISTS (SELECT 1 FROM job);";

/* An arrival is an array that is still being accepted: members 0 to arrived - 1 have their jobs,
 * whose ids begin with that of the first; the ids up to that of the last member are reserved. */
static const char version_4[] =
    "CREATE TABLE arrival ("
    "  request INTEGER PRIMARY KEY REFERENCES request (id),"
    "  first INTEGER NOT NULL REFERENCES job (id),"
    "  arrived INTEGER NOT NULL,"
    "  members INTEGER NOT NULL"
    ") STRICT;"
    "ALTER TABLE job ADD COLUMN saves INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN stopped_by INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN lost INTEGER NOT NULL DEFAULT -1;"
    "INSERT INTO meta SELECT '" STORE_META_ENVIRONMENTS "', 'inside'"
    "  WHERE EXISTS (SELECT 1 FROM request);";

/* Where a total comes from, what the last line of an error was, a loss that is not a number;
 * processes that a command left running; what earlier runs of a program were like. */
static const char version_5[] =
    "ALTER TABLE job ADD COLUMN total_from TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE job ADD COLUMN diverged TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE job ADD COLUMN error TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempt ADD COLUMN error TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE attempt ADD COLUMN left_running TEXT NOT NULL DEFAULT '';"
    "CREATE TABLE past ("
    "  category TEXT NOT NULL,"
    "  arguments TEXT NOT NULL,"
    "  at INTEGER NOT NULL,"
    "  step REAL, work REAL,"
    "  PRIMARY KEY (category, arguments)"
    ") STRICT, WITHOUT ROWID;";

/* How busy the cluster was; the nodes are apart, so that times are found without them. */
static const char version_6[] = "CREATE TABLE load ("
                                "  at INTEGER PRIMARY KEY,"
                                "  running INTEGER NOT NULL, waiting INTEGER NOT NULL,"
                                "  cpus INTEGER NOT NULL, cpus_held INTEGER NOT NULL,"
                                "  gpus INTEGER NOT NULL, gpus_held INTEGER NOT NULL"
                                ") STRICT;"
                                "CREATE TABLE node_load ("
                                "  at INTEGER NOT NULL,"
                                "  node TEXT NOT NULL,"
                                "  running INTEGER NOT NULL,"
                                "  cpus INTEGER NOT NULL, cpus_held INTEGER NOT NULL,"
                                "  gpus INTEGER NOT NULL, gpus_held INTEGER NOT NULL,"
                                "  PRIMARY KEY (at, node)"
                                ") STRICT, WITHOUT ROWID;";

/* Container engines that were added as nodes. */
static const char version_7[] =
    "CREATE TABLE engine ("
    "  name TEXT PRIMARY KEY,"
    "  runtime TEXT NOT NULL,"
    "  address TEXT NOT NULL,"
    "  tls TEXT NOT NULL,"
    "  cpus INTEGER NOT NULL, gpus INTEGER NOT NULL, gpu_type TEXT NOT NULL,"
    "  memory_mb INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;";

/* The groups of jobs and what their members were compared by; the parameters of the members of
 * an array. */
static const char version_8[] = "ALTER TABLE job ADD COLUMN group_name TEXT NOT NULL DEFAULT '';"
                                "CREATE INDEX job_group ON job (group_name) WHERE group_name <> '';"
                                "ALTER TABLE request ADD COLUMN sweep TEXT NOT NULL DEFAULT '';"
                                "CREATE TABLE rung ("
                                "  job INTEGER NOT NULL REFERENCES job (id),"
                                "  step INTEGER NOT NULL,"
                                "  value REAL,"
                                "  PRIMARY KEY (job, step)"
                                ") STRICT, WITHOUT ROWID;";

/* Tokens of clients and sessions of browsers; only hashes of the secrets. */
static const char version_9[] =
    "CREATE TABLE token ("
    "  id INTEGER PRIMARY KEY,"
    "  kind TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  user TEXT NOT NULL,"
    "  role TEXT NOT NULL,"
    "  hash TEXT NOT NULL UNIQUE,"
    "  created INTEGER NOT NULL, expires INTEGER NOT NULL, used INTEGER NOT NULL,"
    "  parent INTEGER NOT NULL"
    ") STRICT;";

/* Leases of attempts, and whether one was given up while its node was lost; where the newest
 * checkpoint of a job is, and what its moves cost. */
static const char version_10[] =
    "ALTER TABLE attempt ADD COLUMN lease INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE attempt ADD COLUMN fenced INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN checkpoint_node TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE job ADD COLUMN checkpoint_attempt INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE job ADD COLUMN move_cost INTEGER NOT NULL DEFAULT 0;";

/* What was learnt from finished jobs of a category. */
static const char version_11[] = "CREATE TABLE category ("
                                 "  name TEXT PRIMARY KEY,"
                                 "  at INTEGER NOT NULL,"
                                 "  jobs INTEGER NOT NULL,"
                                 "  fixed REAL, parallel REAL, comm REAL,"
                                 "  estimates INTEGER NOT NULL, inside INTEGER NOT NULL,"
                                 "  error REAL, bias REAL"
                                 ") STRICT, WITHOUT ROWID;";

/* Whom users want to be told of what, and messages that are not delivered yet. */
static const char version_12[] =
    "CREATE TABLE target ("
    "  id INTEGER PRIMARY KEY,"
    "  user TEXT NOT NULL, target TEXT NOT NULL, secret TEXT NOT NULL,"
    "  events INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE notice ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  target TEXT NOT NULL, secret TEXT NOT NULL, message TEXT NOT NULL,"
    "  created INTEGER NOT NULL, due INTEGER NOT NULL, tries INTEGER NOT NULL"
    ") STRICT;";

/* The deadline of a job that was announced to be at risk, and when an attempt was last frozen. Both
 * were found among the events before. */
static const char version_13[] =
    "ALTER TABLE job ADD COLUMN risk INTEGER NOT NULL DEFAULT 0;"
    "UPDATE job SET risk = coalesce((SELECT cast(round((json ->> '$.deadline') * 1e6) AS INTEGER)"
    "  FROM event WHERE event.job = job.id AND kind = 'job.at_risk' AND json_valid(json)"
    "  ORDER BY seq DESC LIMIT 1), 0) WHERE over = 0;"
    "ALTER TABLE attempt ADD COLUMN frozen_at INTEGER NOT NULL DEFAULT 0;"
    "UPDATE attempt SET frozen_at = coalesce((SELECT max(at) FROM event"
    "  WHERE event.job = attempt.job AND kind = 'job.paused' AND at >= attempt.created), 0)"
    "  WHERE over = 0;"
    "UPDATE attempt SET stopped_by = coalesce((SELECT json ->> '$.by' FROM event"
    "  WHERE event.job = attempt.job AND kind = 'job.paused' AND json_valid(json)"
    "  ORDER BY seq DESC LIMIT 1), 0) WHERE over = 0 AND frozen_at > 0 AND stop = '';";

/* Whether the place that a job tells may not be its training's. */
static const char version_14[] = "ALTER TABLE job ADD COLUMN weak INTEGER NOT NULL DEFAULT 0;";

/* The growth efficiency of jobs over time; what was measured of nodes, and moves to them. */
static const char version_15[] =
    "CREATE TABLE growth ("
    "  job INTEGER NOT NULL REFERENCES job (id),"
    "  seq INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL,"
    "  at INTEGER NOT NULL,"
    "  span INTEGER NOT NULL,"
    "  cpu REAL, memory REAL, block REAL, network REAL,"
    "  PRIMARY KEY (job, seq)"
    ") STRICT, WITHOUT ROWID;"
    "ALTER TABLE load ADD COLUMN cpus_used REAL;"
    "ALTER TABLE load ADD COLUMN memory_mb INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE load ADD COLUMN memory_used_mb REAL;"
    "ALTER TABLE load ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE node_load ADD COLUMN cpus_used REAL;"
    "ALTER TABLE node_load ADD COLUMN memory_mb INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE node_load ADD COLUMN memory_used_mb REAL;"
    "ALTER TABLE node_load ADD COLUMN moves INTEGER NOT NULL DEFAULT 0;";

/* Everything that a job reports by name, as a JSON object. */
static const char version_16[] = "ALTER TABLE sample ADD COLUMN metrics TEXT NOT NULL DEFAULT '';";

/* The parts of attempts on several nodes, except part 0. */
static const char version_17[] =
    "CREATE TABLE part ("
    "  job INTEGER NOT NULL REFERENCES job (id), n INTEGER NOT NULL, part INTEGER NOT NULL,"
    "  state TEXT NOT NULL, over INTEGER NOT NULL,"
    "  token TEXT NOT NULL, runtime TEXT NOT NULL,"
    "  created INTEGER NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL,"
    "  node TEXT NOT NULL, gpu_type TEXT NOT NULL,"
    "  cpus INTEGER NOT NULL, gpus INTEGER NOT NULL,"
    "  cpu_limit INTEGER NOT NULL, cpu_weight REAL,"
    "  boot TEXT NOT NULL, pid INTEGER NOT NULL,"
    "  paused INTEGER NOT NULL, stop TEXT NOT NULL, grace INTEGER NOT NULL,"
    "  stopped_by INTEGER NOT NULL, frozen_at INTEGER NOT NULL, lost INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL, before INTEGER NOT NULL, ran INTEGER NOT NULL, since INTEGER NOT NULL,"
    "  cpu_seconds REAL, memory_max_mb REAL,"
    "  code INTEGER NOT NULL, signal INTEGER NOT NULL,"
    "  lease INTEGER NOT NULL, fenced INTEGER NOT NULL, fetch INTEGER NOT NULL,"
    "  reason TEXT NOT NULL, error TEXT NOT NULL, left_running TEXT NOT NULL,"
    "  PRIMARY KEY (job, n, part)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX part_active ON part (job, n, part) WHERE over = 0 OR fetch = 1;";

static const char *const scripts[] = {version_1,  version_2,  version_3,  version_4,  version_5,
                                      version_6,  version_7,  version_8,  version_9,  version_10,
                                      version_11, version_12, version_13, version_14, version_15,
                                      version_16, version_17};
const struct schema schema_current = {scripts, COUNT_OF(scripts)};

/* The number that the statement returns. */
static int ask(sqlite3 *db, const char *path, const char *sql, int64_t *out, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW ? 0 : fault_set(db, path, rc, err);
}

/* Names the program that wrote a database of an unknown version. */
static int refuse_newer(sqlite3 *db, const char *path, int version, int known, struct err *err)
{
    static const char sql[] = "SELECT value FROM meta WHERE key = '" STORE_META_PROGRAM "'";
    sqlite3_stmt *stmt = NULL;
    const char *program = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        program = (const char *)sqlite3_column_text(stmt, 0);
    err_set(err, ERR_CONFLICT,
            "%.100s: written by %s%.30s (schema %d, this program knows up to %d); install that "
            "version, or restore a backup from before the upgrade",
            path, program ? "trainyard " : "a newer trainyard", program ? program : "", version,
            known);
    sqlite3_finalize(stmt);
    return -1;
}

int schema_version(sqlite3 *db, const char *path, const struct schema *schema, int *version,
                   struct err *err)
{
    int64_t id = 0, user_version = 0, tables = 0;
    if (ask(db, path, "PRAGMA application_id", &id, err) < 0 ||
        ask(db, path, "PRAGMA user_version", &user_version, err) < 0 ||
        ask(db, path, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
        return -1;
    if (id != SCHEMA_APPLICATION_ID && (id || user_version || tables))
        return err_set(err, ERR_INVALID,
                       "%.100s: a database of another program (application id %lld); use another "
                       "--state directory",
                       path, (long long)id);
    if (user_version < 0)
        return fault_set(NULL, path, SQLITE_CORRUPT, err);
    if (user_version > schema->n)
        return refuse_newer(db, path, (int)user_version, schema->n, err);
    *version = (int)user_version;
    return 0;
}

static int run_script(sqlite3 *db, const char *path, const char *script, int version,
                      struct err *err)
{
    struct str sql = {0};
    str_addf(&sql,
             "BEGIN IMMEDIATE; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; "
             "COMMIT",
             script, SCHEMA_APPLICATION_ID, version);
    int rc = sqlite3_exec(db, sql.at, NULL, NULL, NULL);
    str_done(&sql);
    if (rc == SQLITE_OK)
        return 0;
    fault_set(db, path, rc, err);
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return err_prefix(err, "schema %d", version);
}

int schema_migrate(sqlite3 *db, const char *path, const struct schema *schema, struct err *err)
{
    int version = 0;
    if (schema_version(db, path, schema, &version, err) < 0)
        return -1;
    for (; version < schema->n; version++)
        if (run_script(db, path, schema->scripts[version], version + 1, err) < 0)
            return -1;
    return 0;
}
