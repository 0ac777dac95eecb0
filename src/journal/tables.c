/* Owns the tables of the journal's rows. Bounds keep values in the range that
 * the engine can compute with; job_normalise() checks whether a job is valid. */
#include "journal/tables.h"

#define MEMORY_MAX 1000000000000

/* clang-format off */
#define MEMBER(type, member) offsetof(struct type, member)

const struct field journal_job[] = {
    {"id", FIELD_U32, MEMBER(job, id), 0, UINT32_MAX, NULL},
    {"name", FIELD_TEXT, MEMBER(job, name), 0, 0, NULL},
    {"group", FIELD_TEXT, MEMBER(job, group), 0, 0, NULL},
    {"priority", FIELD_I32, MEMBER(job, priority), INT32_MIN, INT32_MAX, NULL},
    {"submit", FIELD_TIME, MEMBER(job, submit), 0, 0, NULL},
    {"kind", FIELD_WORD, MEMBER(job, kind), 0, 0, "rigid|moldable|malleable"},
    {"pool", FIELD_U8, MEMBER(job, pool), POOL_CPU, POOL_ANY_GPU, NULL},
    {"whole", FIELD_FLAG, MEMBER(job, whole), 0, 0, NULL},
    {"apart", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(job, apart), 0, 0, NULL},
    {"can_pause", FIELD_FLAG, MEMBER(job, can_pause), 0, 0, NULL},
    {"no_restart", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(job, no_restart), 0, 0, NULL},
    {"no_move", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(job, no_move), 0, 0, NULL},
    {"no_preempt", FIELD_FLAG | FIELD_OPTIONAL, MEMBER(job, no_preempt), 0, 0, NULL},
    {"req", FIELD_I64, MEMBER(job, req), 1, UNITS_MAX, NULL},
    {"min", FIELD_I64, MEMBER(job, min), 1, UNITS_MAX, NULL},
    {"max", FIELD_I64, MEMBER(job, max), 1, UNITS_MAX, NULL},
    {"worker", FIELD_I64 | FIELD_OPTIONAL, MEMBER(job, worker), 0, UNITS_MAX, NULL},
    {"nodes", FIELD_U32 | FIELD_OPTIONAL, MEMBER(job, nodes), 0, UINT32_MAX, NULL},
    {"cpus", FIELD_I64, MEMBER(job, cpus), 0, UNITS_MAX, NULL},
    {"memory_mb", FIELD_I64, MEMBER(job, memory_mb), 0, MEMORY_MAX, NULL},
    {"weight", FIELD_REAL, MEMBER(job, weight), 0, 0, NULL},
    {"deadline", FIELD_TIME, MEMBER(job, deadline), 0, 0, NULL},
    {"work", FIELD_REAL, MEMBER(job, work), 0, 0, NULL},
    {"restart", FIELD_I64, MEMBER(job, cost.restart), 0, USEC_LIMIT, NULL},
    {"resize", FIELD_I64, MEMBER(job, cost.resize), 0, USEC_LIMIT, NULL},
    {"move", FIELD_I64, MEMBER(job, cost.move), 0, USEC_LIMIT, NULL},
    {"checkpoint", FIELD_I64, MEMBER(job, cost.checkpoint), 0, USEC_LIMIT, NULL},
    {"loss", FIELD_WORD, MEMBER(job, loss.kind), 0, 0, "none|exp|inverse|power|decay"},
    {"loss_a", FIELD_REAL, MEMBER(job, loss.a), 0, 0, NULL},
    {"loss_b", FIELD_REAL, MEMBER(job, loss.b), 0, 0, NULL},
    {"loss_c", FIELD_REAL, MEMBER(job, loss.c), 0, 0, NULL},
    {"target", FIELD_REAL, MEMBER(job, target), 0, 0, NULL},
    {0},
};

const struct field journal_task[] = {
    {"phase", FIELD_WORD, MEMBER(task, phase), 0, 0, "queued|running|paused|stopping|held"},
    {"pool", FIELD_U8, MEMBER(task, pool), POOL_CPU, POOL_ANY_GPU, NULL},
    {"n", FIELD_I64, MEMBER(task, n), 0, UNITS_MAX, NULL},
    {"hold", FIELD_FLAG, MEMBER(task, hold), 0, 0, NULL},
    {"work", FIELD_REAL, MEMBER(task, work), 0, 0, NULL},
    {"done", FIELD_REAL, MEMBER(task, done), 0, 0, NULL},
    {"saved", FIELD_REAL, MEMBER(task, saved), 0, 0, NULL},
    {"attained", FIELD_REAL, MEMBER(task, attained), 0, 0, NULL},
    {"cpu_time", FIELD_REAL, MEMBER(task, cpu_time), 0, 0, NULL},
    {"started_at", FIELD_TIME, MEMBER(task, started_at), 0, 0, NULL},
    {"queued_at", FIELD_I64, MEMBER(task, queued_at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"resumed_at", FIELD_I64, MEMBER(task, resumed_at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"changed_at", FIELD_I64, MEMBER(task, changed_at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"ready_at", FIELD_I64, MEMBER(task, ready_at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"run_time", FIELD_I64, MEMBER(task, run_time), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"wait_time", FIELD_I64, MEMBER(task, wait_time), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"starts", FIELD_U32, MEMBER(task, starts), 0, UINT32_MAX, NULL},
    {"preemptions", FIELD_U32, MEMBER(task, preemptions), 0, UINT32_MAX, NULL},
    {"moves", FIELD_U32, MEMBER(task, moves), 0, UINT32_MAX, NULL},
    {"resizes", FIELD_U32, MEMBER(task, resizes), 0, UINT32_MAX, NULL},
    {"failures", FIELD_U32, MEMBER(task, failures), 0, UINT32_MAX, NULL},
    {"cpu_limit", FIELD_I64, MEMBER(task, cpu_limit), 0, UNITS_MAX, NULL},
    {"cpu_weight", FIELD_REAL, MEMBER(task, cpu_weight), 0, 0, NULL},
    {0},
};

const struct field journal_sample[] = {
    {"at", FIELD_I64, MEMBER(sample, at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"step", FIELD_REAL, MEMBER(sample, step), 0, 0, NULL},
    {"metric", FIELD_REAL, MEMBER(sample, metric), 0, 0, NULL},
    {"metric_at", FIELD_I64, MEMBER(sample, metric_at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {"units", FIELD_REAL, MEMBER(sample, units), 0, 0, NULL},
    {"cpu_time", FIELD_REAL, MEMBER(sample, cpu_time), 0, 0, NULL},
    {"memory_mb", FIELD_REAL, MEMBER(sample, memory_mb), 0, 0, NULL},
    {"block_bytes", FIELD_REAL, MEMBER(sample, block_bytes), 0, 0, NULL},
    {"net_bytes", FIELD_REAL, MEMBER(sample, net_bytes), 0, 0, NULL},
    {0},
};

const struct field journal_node[] = {
    {"name", FIELD_TEXT, MEMBER(node, name), 0, 0, NULL},
    {"state", FIELD_WORD, MEMBER(node, state), 0, 0, "up|draining|down|closed"},
    {"cpus", FIELD_I64, MEMBER(node, cpus), 0, UNITS_MAX, NULL},
    {"gpus", FIELD_I64, MEMBER(node, gpus), 0, UNITS_MAX, NULL},
    {"gpu_pool", FIELD_U8, MEMBER(node, gpu_pool), 0, POOLS_MAX - 1, NULL},
    {"memory_mb", FIELD_I64, MEMBER(node, memory_mb), 0, MEMORY_MAX, NULL},
    {"memory_used", FIELD_I64 | FIELD_OPTIONAL, MEMBER(node, memory_used), 0, MEMORY_MAX, NULL},
    {0},
};

const struct field journal_capacity[] = {
    {"name", FIELD_TEXT, MEMBER(capacity, name), 0, 0, NULL},
    {"cpus", FIELD_I64, MEMBER(capacity, cpus), 0, UNITS_MAX, NULL},
    {"gpus", FIELD_I64, MEMBER(capacity, gpus), 0, UNITS_MAX, NULL},
    {"gpu_type", FIELD_TEXT, MEMBER(capacity, gpu_type), 0, 0, NULL},
    {"memory_mb", FIELD_I64, MEMBER(capacity, memory_mb), 0, MEMORY_MAX, NULL},
    {"memory_used", FIELD_I64 | FIELD_OPTIONAL, MEMBER(capacity, memory_used), 0, MEMORY_MAX, NULL},
    {0},
};

/* The rules of other simulators are never those of a server: `rules` is not kept. */
const struct field journal_config[] = {
    {"seed", FIELD_I64, MEMBER(engine_config, seed), INT64_MIN, INT64_MAX, NULL},
    {"resched_min", FIELD_I64, MEMBER(engine_config, resched_min), 0, USEC_LIMIT, NULL},
    {"min_run", FIELD_I64 | FIELD_OPTIONAL, MEMBER(engine_config, min_run), 0, USEC_LIMIT, NULL},
    {"explain", FIELD_FLAG, MEMBER(engine_config, explain), 0, 0, NULL},
    {"instant", FIELD_FLAG, MEMBER(engine_config, instant), 0, 0, NULL},
    {"interference", FIELD_REAL | FIELD_OPTIONAL, MEMBER(engine_config, interference), 0, 0, NULL},
    {0},
};

static const struct field of_task[] = {
    {"task", FIELD_U32, MEMBER(event, task), 0, UINT32_MAX, NULL},
    {0},
};
static const struct field of_node[] = {
    {"node", FIELD_U32, MEMBER(event, node), 0, UINT32_MAX, NULL},
    {0},
};
static const struct field of_state[] = {
    {"state", FIELD_WORD, MEMBER(event, state), 0, 0, "up|draining|down|closed"},
    {0},
};
static const struct field of_progress[] = {
    {"work", FIELD_REAL, MEMBER(event, work), 0, 0, NULL},
    {"done", FIELD_REAL, MEMBER(event, done), 0, 0, NULL},
    {0},
};
static const struct field of_at[] = {
    {"at", FIELD_I64, MEMBER(event, at), -USEC_LIMIT, USEC_LIMIT, NULL},
    {0},
};
/* clang-format on */

const struct field *const journal_event[JOURNAL_PLAIN] = {of_task, of_node, of_state, of_progress,
                                                          of_at};

unsigned journal_parts(enum event_kind kind)
{
    switch (kind) {
    case EVENT_SUBMIT:
        return JOURNAL_JOB;
    case EVENT_RESTORE:
        return JOURNAL_JOB | JOURNAL_WAS;
    case EVENT_SAMPLE:
        return JOURNAL_TASK | JOURNAL_SAMPLE;
    case EVENT_PROGRESS:
        return JOURNAL_TASK | JOURNAL_PROGRESS;
    case EVENT_MOVE:
    case EVENT_LOSE:
        return JOURNAL_TASK | JOURNAL_NODE;
    case EVENT_READY:
        return JOURNAL_TASK | JOURNAL_AT;
    case EVENT_JOB:
        return JOURNAL_TASK | JOURNAL_JOB;
    case EVENT_NODE:
        return JOURNAL_NODE | JOURNAL_STATE;
    case EVENT_CAPACITY:
        return JOURNAL_NODE | JOURNAL_HAS;
    case EVENT_POLICY:
        return JOURNAL_POLICY;
    case EVENT_TICK:
        return 0;
    default:
        return JOURNAL_TASK;
    }
}
