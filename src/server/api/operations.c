/* Owns the table of operations: what each route is asked and answers. */
#include "server/api/operations.h"

#include <stddef.h>
#include <string.h>

static const struct api_field list_query[] = {
    {"state", "string", "States, separated by commas: running,queued"},
    {"active", "boolean", "1: only jobs that are not over"},
    {"name", "string", "This name; with a * at its end, names that begin with it"},
    {"user", "string", "Whose jobs"},
    {"array", "integer", "Of the array whose first job this is"},
    {"limit", "integer", "Jobs on a page, 1 to 1000; 100 when it is not given"},
    {"after", "integer", "`next` of the page before"},
    {"order", "string", "newest (first; the default) or oldest"},
    {0},
};

static const struct api_field logs_query[] = {
    {"attempt", "integer", "Number of the attempt; the last one when it is not given"},
    {"offset", "integer", "First byte"},
    {"tail", "integer", "Instead: only so many lines from the end, looked for in the last 64 MiB"},
    {"follow", "boolean", "1: goes on while the job does, through its next attempts"},
    {0},
};

static const struct api_field events_query[] = {
    {"after", "integer",
     "Events behind this one; else, from the first that is kept, or for followers from now on"},
    {"job", "string", "Of this job: a number, a name or a unique prefix of one"},
    {"limit", "integer", "At most so many, 1 to 1000; 100 when it is not given"},
    {"follow", "boolean", "1: a stream of server-sent events; `Accept: text/event-stream` does it"},
    {"progress", "boolean", "1: followers also get job.progress, which is not kept and has no id"},
    {0},
};

static const struct api_field decisions_query[] = {
    {"limit", "integer", "At most so many, 1 to 1000; 20 when it is not given"},
    {0},
};

const struct api_operation api_operations[] = {
    {"version", "Version of the server, its API and its database", .status = 200,
     .reply = "Version"},
    {"health", "Whether the server can do its work; 503 when it cannot write", .status = 200,
     .or_status = 503, .reply = "Health"},
    {"ready", "Whether the server takes requests", .status = 200, .or_status = 503,
     .reply = "Ready"},
    {"openapi", "This document", .status = 200, .reply = "object"},
    {"jobs_submit", "Submit one job, or several of which all are taken or none",
     .body = "JobRequest|JobBatch", .status = 201, .reply = "Submitted"},
    {"jobs_list", "List jobs, page by page", list_query, .status = 200, .reply = "JobPage"},
    {"job_show", "All that is known of a job", .status = 200, .reply = "JobDetail"},
    {"job_change", "Change priority, deadline or time limit", .body = "JobChange", .status = 200,
     .reply = "JobDetail"},
    {"job_cancel", "Stop a job for good; 202 while it is being stopped, 200 when it is over",
     .body = "JobCancel", .body_optional = true, .status = 202, .or_status = 200,
     .reply = "JobDetail"},
    {"job_hold", "Keep a job from starting", .body = "Nothing", .body_optional = true,
     .status = 200, .reply = "JobDetail"},
    {"job_release", "Let a job that is held start", .body = "Nothing", .body_optional = true,
     .status = 200, .reply = "JobDetail"},
    {"job_requeue", "Stop a job that runs, or take one that is over, and queue it again",
     .body = "JobRequeue", .body_optional = true, .status = 200, .reply = "JobDetail"},
    {"job_resize", "Set the CPUs that a job may have", .body = "JobResize", .status = 200,
     .reply = "JobDetail"},
    {"job_logs", "What the job wrote; the header X-Log-Offset has the offset of the first byte",
     logs_query, .status = 200, .or_status = 206, .other_media = "text/plain"},
    {"job_progress", "Samples of a job's progress and usage, thinned", .status = 200,
     .reply = "ProgressSeries"},
    {"job_explain", "Why a job waits, or has what it has", .status = 200, .reply = "Explanation"},
    {"job_hosts",
     "Where its workers run: NODE:WORKERS a line, as Horovod's host discovery wants it",
     .status = 200, .other_media = "text/plain"},
    {"nodes_list", "List nodes", .status = 200, .reply = "NodeList"},
    {"node_show", "One node", .status = 200, .reply = "Node"},
    {"node_drain", "Start nothing new on a node", .body = "Nothing", .body_optional = true,
     .status = 200, .reply = "Node"},
    {"node_undrain", "Use a node again", .body = "Nothing", .body_optional = true, .status = 200,
     .reply = "Node"},
    {"policy_show", "The policy in force", .status = 200, .reply = "Policy"},
    {"policy_set", "Put another policy in force, for jobs that run, too", .body = "PolicyChange",
     .status = 200, .reply = "Policy"},
    {"events", "What has happened, or happens", events_query, .status = 200, .reply = "EventList",
     .other_media = "text/event-stream"},
    {"decisions", "The newest decisions of the policy, newest first", decisions_query,
     .status = 200, .reply = "DecisionList"},
    {0},
};

const struct api_operation *api_operation_find(const char *route)
{
    for (const struct api_operation *o = api_operations; o->route; o++)
        if (!strcmp(o->route, route))
            return o;
    return NULL;
}
