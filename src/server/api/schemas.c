/* Owns the schemas of what the API takes and gives. */
#include <stddef.h>
#include <string.h>

#include "server/api/operations.h"
#include "store/job_state.h"

#define X(name, text, over) text "|"
#define STATES JOB_STATES(X)

static const struct api_field state[] = {{"", STATES, ""}, {0}};
#undef X

static const struct api_field nothing[] = {{0}};

static const struct api_field problem[] = {
    {"type", "string", "about:blank"},
    {"title", "string", "The status in words"},
    {"status", "integer", "The status"},
    {"code", "string", "What went wrong, for programs: invalid, not_found, conflict, limit, ..."},
    {"detail", "string", "What went wrong, for people, and what to do instead"},
    {"field", "?string", "The part of the request that is to blame"},
    {0},
};

/* ---- the server ------------------------------------------------------------ */

static const struct api_field version[] = {
    {"version", "string", "Of the program"},
    {"api", "string", "v1"},
    {"schema", "integer", "Version of the database"},
    {0},
};

static const struct api_field health[] = {
    {"status", "string", "ok or failing"},
    {"detail", "?string", "Why it fails"},
    {0},
};

static const struct api_field ready[] = {{"ready", "boolean", ""}, {0}};

/* ---- jobs ------------------------------------------------------------------ */

static const struct api_field array_place[] = {
    {"job", "integer", "The first job of the array"},
    {"index", "integer", "Of this one"},
    {0},
};

static const struct api_field progress[] = {
    {"step", "number|null", ""},
    {"total", "number|null", "Steps in all"},
    {"fraction", "number|null", "Done, from 0 to 1"},
    {"epoch", "number|null", ""},
    {"epochs", "number|null", "In all"},
    {"loss", "number|null", ""},
    {"metric", "string|null", "Name of the metric"},
    {"value", "number|null", "Of the metric"},
    {"rate", "number|null", "Steps a second"},
    {"remaining_s", "number|null", "At this rate"},
    {"source", "string|null", "How it was recognised"},
    {"at", "number|null", "When it was said"},
    {0},
};

static const struct api_field usage[] = {
    {"cpu_s", "number|null", "CPU seconds of this attempt"},
    {"cpus", "number|null", "CPUs in use between the last two samples"},
    {"memory_mb", "number|null", ""},
    {"block_bytes", "number|null", "Read and written"},
    {"net_bytes", "number|null", "Received and sent"},
    {"pids", "integer", "Processes and threads"},
    {"throttled_s", "number|null", "It was kept from running by its limit"},
    {0},
};

static const struct api_field job[] = {
    {"id", "integer", ""},
    {"name", "string", ""},
    {"user", "string", ""},
    {"state", "JobState", ""},
    {"paused", "boolean", "It is frozen"},
    {"priority", "integer", "A higher one goes first"},
    {"submitted", "number", ""},
    {"started", "number|null", "For the first time"},
    {"ended", "number|null", ""},
    {"attempt", "integer", "The last one begun; 0 = none yet"},
    {"code", "integer|null", "Exit code, 128 + N after signal N"},
    {"reason", "string", "Why it ended as it did, or was queued again"},
    {"cpus", "number", "That it holds now"},
    {"cpus_min", "number", "Fewest that it may hold"},
    {"cpus_max", "number", "Most"},
    {"gpus", "number", "That it holds now"},
    {"gpus_min", "number", ""},
    {"gpus_max", "number", ""},
    {"memory_mb", "integer|null", "Its limit"},
    {"node", "string|null", "Where it is"},
    {"threads", "integer|null", "Of its newest parallel region, as far as it was seen"},
    {"cpuset", "string|null", "The CPUs that it may use, as 0-1,4"},
    {"deadline", "number|null", ""},
    {"time_limit_s", "number|null", ""},
    {"eligible", "number|null", "It is not started before this time"},
    {"array", "ArrayPlace|null", ""},
    {"waits_for", "string[]", "Why it is not in the queue"},
    {"progress", "Progress|null", ""},
    {"usage", "Usage|null", ""},
    {"wait_s", "number", "In the queue so far"},
    {"run_s", "number", "Running so far, in all attempts"},
    {"command", "string[]", ""},
    {0},
};

static const struct api_field dependency[] = {
    {"kind", "string", "after, afterok, afternotok, afterany or singleton"},
    {"job", "integer|null", ""},
    {0},
};

static const struct api_field attempt[] = {
    {"n", "integer", "From 1 on"},
    {"state", "JobState", ""},
    {"node", "string|null", ""},
    {"cpus", "number|null", "The last size"},
    {"created", "number|null", ""},
    {"started", "number|null", "The command ran"},
    {"ended", "number|null", ""},
    {"code", "integer|null", ""},
    {"signal", "integer|null", "That ended it"},
    {"reason", "string", ""},
    {"cpu_s", "number|null", ""},
    {"memory_max_mb", "number|null", ""},
    {"log_bytes", "integer", "Written so far; the oldest may have been removed"},
    {0},
};

static const struct api_field size_change[] = {
    {"at", "number|null", ""},
    {"cpus", "number", "From then on"},
    {"why", "string", "start, resize, pause, resume, stop, fail or end; and by which policy"},
    {0},
};

static const struct api_field job_detail[] = {
    {"spec", "object", "The request as it was submitted"},
    {"failures", "integer", "Attempts that failed on their own"},
    {"standing", "string[]", "What the policies in force think of it, in sentences"},
    {"deps", "Dependency[]", ""},
    {"attempts", "Attempt[]", ""},
    {"sizes", "SizeChange[]", "The newest 200"},
    {"log", "string|null", "Path of the last attempt's log"},
    {0},
};

static const struct api_field job_page[] = {
    {"jobs", "Job[]", ""},
    {"next", "integer|null", "`after` of the next page; null on the last"},
    {0},
};

static const struct api_field job_batch[] = {{"jobs", "JobRequest[]", ""}, {0}};

static const struct api_field submitted_job[] = {
    {"id", "integer", ""},
    {"name", "string", ""},
    {"state", "JobState", ""},
    {0},
};

static const struct api_field submitted[] = {
    {"jobs", "SubmittedJob[]", "In order; an array has one for each index"},
    {0},
};

static const struct api_field job_change[] = {
    {"priority", "integer", ""},
    {"deadline", "string|number|null", "From now on, as 2h; null = none"},
    {"deadline_at", "string|number|null", "Or a time"},
    {"time_limit", "string|number|null", "As 1h; null = none"},
    {0},
};

static const struct api_field job_cancel[] = {
    {"grace", "string|number|null", "Between the signal and the kill, as 10s; null = the job's"},
    {0},
};

static const struct api_field job_requeue[] = {{"hold", "boolean", "And hold it"}, {0}};

static const struct api_field job_resize[] = {
    {"cpus", "string|number|null", "2, or 1-2; null = as it was submitted"},
    {0},
};

static const struct api_field sample[] = {
    {"attempt", "integer", ""},
    {"at", "number|null", ""},
    {"step", "number|null", ""},
    {"metric", "number|null", ""},
    {"cpus", "number|null", "Held; null for a job with GPUs"},
    {"gpus", "number|null", "Held; null for a job without"},
    {"cpu_s", "number|null", "Used so far by the attempt"},
    {"memory_mb", "number|null", ""},
    {0},
};

static const struct api_field series[] = {
    {"job", "integer", ""},
    {"samples", "Sample[]", ""},
    {0},
};

static const struct api_field reason[] = {
    {"code", "string", ""},
    {"text", "string", "A sentence"},
    {"jobs", "?integer[]", "That it is about"},
    {0},
};

static const struct api_field ahead[] = {
    {"id", "integer", ""},
    {"name", "string", ""},
    {"state", "JobState", ""},
    {"cpus", "number", "Held, or asked for"},
    {"remaining_s", "number|null", ""},
    {0},
};

static const struct api_field forecast[] = {
    {"expected", "number|null", ""},
    {"in_s", "number|null", ""},
    {"basis", "string", "What this rests on"},
    {0},
};

static const struct api_field explanation[] = {
    {"job", "integer", ""},
    {"state", "JobState", ""},
    {"policy", "string", ""},
    {"summary", "string", "One sentence"},
    {"reasons", "Reason[]", "The most important first"},
    {"ahead", "Ahead[]", "Who comes before it"},
    {"frees", "string[]", "What would let it start or grow"},
    {"start", "Forecast|null", "When it should start; null when it has"},
    {0},
};

/* ---- nodes, policy, events ------------------------------------------------- */

static const struct api_field node_state[] = {{"", "up|draining|down|", ""}, {0}};

static const struct api_field node[] = {
    {"name", "string", ""},
    {"state", "NodeState", ""},
    {"cpus", "number", ""},
    {"cpus_held", "number", ""},
    {"gpus", "number", ""},
    {"gpus_held", "number", ""},
    {"gpu_type", "string|null", ""},
    {"memory_mb", "integer|null", ""},
    {"memory_held_mb", "integer", ""},
    {"jobs", "integer[]", "That hold something there"},
    {"runtime", "string", "What runs jobs there"},
    {"notice", "string", "What users should know of it"},
    {0},
};

static const struct api_field node_list[] = {{"nodes", "Node[]", ""}, {0}};

static const struct api_field parameters[] = {{"", "number|string|number[]", ""}, {0}};
static const struct api_field all_parameters[] = {
    {"allocate", "Parameters", ""},
    {"place", "Parameters", ""},
    {"share", "Parameters", ""},
    {0},
};

static const struct api_field policy[] = {
    {"policy", "string", "As it was set"},
    {"allocate", "string", "Who gets how much"},
    {"place", "string", "Where"},
    {"share", "string", "Of the CPUs of a node"},
    {"parameters", "AllParameters", "Percentages as such, durations in seconds"},
    {0},
};

static const struct api_field policy_change[] = {
    {"policy", "string",
     "A preset, an allocator, or allocate=A,place=P,share=S; las:thresholds=60"},
    {0},
};

static const struct api_field event[] = {
    {"seq", "?integer", "Rises with each; job.progress has none"},
    {"at", "number", ""},
    {"kind", "string", "job.submitted, job.started, job.ended, ..."},
    {"job", "integer|null", ""},
    {0},
};

static const struct api_field event_list[] = {{"events", "Event[]", "Oldest first"}, {0}};

static const struct api_field decision[] = {
    {"n", "integer|null", "Since the server started"},
    {"at", "number|null", ""},
    {"plan", "object", "What was decided, why, and what was done"},
    {0},
};

static const struct api_field decision_list[] = {{"decisions", "Decision[]", ""}, {0}};

#define GIVEN(name, fields)                                                                        \
    {                                                                                              \
        name, SCHEMA_OBJECT, false, NULL, fields                                                   \
    }
#define ASKED(name, fields)                                                                        \
    {                                                                                              \
        name, SCHEMA_OBJECT, true, NULL, fields                                                    \
    }

const struct api_schema api_schemas[] = {
    GIVEN("Problem", problem),
    GIVEN("Version", version),
    GIVEN("Health", health),
    GIVEN("Ready", ready),
    ASKED("Nothing", nothing),
    {"JobState", SCHEMA_WORDS, false, NULL, state},
    {"JobRequest", SCHEMA_REQUEST, true, NULL, NULL},
    ASKED("JobBatch", job_batch),
    GIVEN("SubmittedJob", submitted_job),
    GIVEN("Submitted", submitted),
    GIVEN("ArrayPlace", array_place),
    GIVEN("Progress", progress),
    GIVEN("Usage", usage),
    GIVEN("Job", job),
    GIVEN("JobPage", job_page),
    GIVEN("Dependency", dependency),
    GIVEN("Attempt", attempt),
    GIVEN("SizeChange", size_change),
    {"JobDetail", SCHEMA_OBJECT, false, "Job", job_detail},
    ASKED("JobChange", job_change),
    ASKED("JobCancel", job_cancel),
    ASKED("JobRequeue", job_requeue),
    ASKED("JobResize", job_resize),
    GIVEN("Sample", sample),
    GIVEN("ProgressSeries", series),
    GIVEN("Reason", reason),
    GIVEN("Ahead", ahead),
    GIVEN("Forecast", forecast),
    GIVEN("Explanation", explanation),
    {"NodeState", SCHEMA_WORDS, false, NULL, node_state},
    GIVEN("Node", node),
    GIVEN("NodeList", node_list),
    {"Parameters", SCHEMA_MAP, false, NULL, parameters},
    GIVEN("AllParameters", all_parameters),
    GIVEN("Policy", policy),
    ASKED("PolicyChange", policy_change),
    {"Event", SCHEMA_OPEN, false, NULL, event},
    GIVEN("EventList", event_list),
    GIVEN("Decision", decision),
    GIVEN("DecisionList", decision_list),
    {0},
};

const struct api_schema *api_schema_find(const char *name)
{
    for (const struct api_schema *s = api_schemas; s->name; s++)
        if (name && !strcmp(s->name, name))
            return s;
    return NULL;
}
