/* trainyard sim: runs policies on a trace in virtual time and compares them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "policy/allocate/auto.h"
#include "sim/nodes.h"
#include "sim/report/report.h"
#include "sim/report/result_csv.h"
#include "sim/report/result_gantt.h"
#include "sim/report/result_json.h"
#include "sim/report/result_nodes.h"
#include "sim/report/result_text.h"
#include "sim/sim.h"
#include "sim/trace/generate.h"
#include "sim/trace/write.h"

/* What the command line asks for. */
struct request {
    struct arena arena;
    struct cluster cluster;
    struct trace trace;
    struct trace rigid; /* run times as in the trace; only under the rules of another simulator */
    struct sim_options options;
    struct power power;
    VEC(struct combo) combos;
    const char *trace_name, *nodes;
    bool sizes_given; /* also for auto, which would have estimates otherwise */
    bool timing;      /* report figures that depend on the machine */
};

static void request_done(struct request *r)
{
    trace_done(&r->trace);
    trace_done(&r->rigid);
    arena_done(&r->arena);
    VEC_DONE(&r->combos);
}

static int get_duration(const struct args *a, const char *name, usec_t *out, struct err *err)
{
    const char *text = args_get(a, name);
    if (!text)
        return 0;
    if (time_parse(text, out, err) < 0)
        return err_prefix(err, "--%s", name);
    return 0;
}

/* A percentage, as a share. */
static int get_share(const struct args *a, const char *name, double *out, struct err *err)
{
    const char *text = args_get(a, name);
    char label[32];
    struct param percent = {.name = label, .type = PARAM_PERCENT, .lo = 0, .hi = 1000};
    struct param_value value = {0};
    snprintf(label, sizeof label, "--%s", name);
    if (!text)
        return 0;
    if (param_parse(&percent, text, &value, err) < 0)
        return -1;
    *out = value.number;
    return 0;
}

static int get_rules(const struct args *a, enum rules *out, struct err *err)
{
    const char *text = args_get(a, "rules");
    if (!text || !strcmp(text, "own"))
        *out = RULES_OWN;
    else if (!strcmp(text, "tiresias"))
        *out = RULES_TIRESIAS;
    else if (!strcmp(text, "elasticflow"))
        *out = RULES_ELASTICFLOW;
    else if (!strcmp(text, "pollux"))
        *out = RULES_POLLUX;
    else if (!strcmp(text, "gavel"))
        *out = RULES_GAVEL;
    else if (!strcmp(text, "muri"))
        *out = RULES_MURI;
    else if (!strcmp(text, "sia"))
        *out = RULES_SIA;
    else
        return err_set(
            err, ERR_INVALID,
            "--rules %s: expected own, tiresias, elasticflow, pollux, gavel, muri or sia", text);
    return 0;
}

/* The simulators of Pollux and Sia: rounds of a minute, in which jobs train by their goodput. */
static bool in_rounds(enum rules rules)
{
    return rules == RULES_POLLUX || rules == RULES_SIA;
}

static int get_rounds(const struct args *a, enum rules rules, struct rounds_options *out,
                      struct err *err)
{
    *out = (struct rounds_options){.length = 60 * USEC_PER_SEC, .shapes_only = rules == RULES_SIA};
    if (get_duration(a, "resched-min", &out->length, err) < 0)
        return -1;
    if (out->length < USEC_PER_SEC)
        return err_set(err, ERR_INVALID, "--resched-min: a round takes at least 1 s");
    if (get_share(a, "interference", &out->interference, err) < 0)
        return -1;
    if (out->interference >= 1)
        return err_set(err, ERR_INVALID, "--interference: must be below 100%%");
    out->learned = args_get(a, "learned") != NULL;
    return 0;
}

/* Whether policies are told the sizes of jobs. Other simulators' rules, and nodes that fail, have
 * no estimates. */
static int get_sizes(const struct args *a, struct request *r, struct err *err)
{
    const char *text = args_get(a, "sizes"), *error = args_get(a, "size-error");
    bool possible = r->options.rules == RULES_OWN && !r->options.mtbf;
    r->options.estimates = text && !strcmp(text, "estimated");
    r->sizes_given = !possible || (text && !strcmp(text, "given"));
    if (text && !r->options.estimates && strcmp(text, "given") != 0)
        return err_set(err, ERR_INVALID, "--sizes %s: expected given or estimated", text);
    if (r->options.estimates && !possible)
        return err_set(err, ERR_INVALID, "--sizes estimated needs --rules own, and no --mtbf");
    if (error && !in_rounds(r->options.rules) && !r->options.estimates)
        return err_set(err, ERR_INVALID,
                       "--size-error needs --rules pollux or sia, or --sizes estimated");
    if (error && str_parse_double(error, 0, 5, &r->options.rounds.size_error, err) < 0)
        return err_prefix(err, "--size-error");
    return 0;
}

static int get_policies(const struct args *a, struct request *r, struct err *err)
{
    const char *text;
    struct combo combo;
    for (size_t i = 0; (text = args_nth(a, "policy", i)); i++) {
        if (combo_parse(text, &combo, err) < 0)
            return -1;
        VEC_PUSH(&r->combos, combo);
    }
    if (r->combos.n == 0)
        return err_set(err, ERR_INVALID, "missing --policy; `trainyard policies` lists them");
    return 0;
}

static int get_options(const struct args *a, struct request *r, struct err *err)
{
    struct sim_options *o = &r->options;
    const char *seed = args_get(a, "seed");
    int64_t number = 1;
    if (seed && str_parse_int(seed, 0, INT64_MAX, &number, err) < 0)
        return err_prefix(err, "--seed");
    o->seed = (uint64_t)number;
    o->repair = 600 * USEC_PER_SEC;
    if (get_rules(a, &o->rules, err) < 0)
        return -1;
    if (o->rules == RULES_ELASTICFLOW)
        o->resched_min = 60 * USEC_PER_SEC;
    if (o->rules == RULES_GAVEL)
        o->resched_min = 360 * USEC_PER_SEC;
    if (get_duration(a, "resched-min", &o->resched_min, err) < 0 ||
        get_duration(a, "min-run", &o->min_run, err) < 0 ||
        get_duration(a, "mtbf", &o->mtbf, err) < 0 ||
        get_duration(a, "repair", &o->repair, err) < 0)
        return -1;
    if (in_rounds(o->rules)) {
        o->resched_min = 0;
        if (get_rounds(a, o->rules, &o->rounds, err) < 0)
            return -1;
        o->rounds.seed = o->seed;
    } else if (args_get(a, "learned")) {
        return err_set(err, ERR_INVALID,
                       "--learned needs --rules pollux or sia; under --rules own there is "
                       "--sizes estimated");
    } else if (get_share(a, "interference", &o->interference, err) < 0) {
        return -1;
    }
    if (get_sizes(a, r, err) < 0)
        return -1;
    if (args_get(a, "mtbf") && o->mtbf == 0)
        return err_set(err, ERR_INVALID, "--mtbf: must be above 0; without it no node fails");
    if (args_get(a, "power") && power_parse(args_get(a, "power"), &r->power, err) < 0)
        return err_prefix(err, "--power");
    o->power = args_get(a, "power") ? &r->power : NULL;
    if (args_get(a, "json") && args_get(a, "gantt"))
        return err_set(err, ERR_INVALID, "give either --gantt or --json, not both");
    o->record = args_get(a, "report") || args_get(a, "gantt") || args_get(a, "by-node");
    r->timing = !args_get(a, "no-timing");
    return get_policies(a, r, err);
}

/* How jobs with goodput profiles train. Under the rules of Pollux and Sia goodput always counts. */
static int get_batch(const struct args *a, enum rules rules, enum trace_batch *out, struct err *err)
{
    const char *text = args_get(a, "batch");
    *out = in_rounds(rules) ? BATCH_FIXED : BATCH_STEPS;
    if (!text)
        return 0;
    if (!strcmp(text, "fixed"))
        *out = BATCH_FIXED;
    else if (!strcmp(text, "adaptive"))
        *out = BATCH_ADAPTIVE;
    else
        return err_set(err, ERR_INVALID, "--batch %s: expected fixed or adaptive", text);
    return 0;
}

static int refuse_without_goodput(const struct trace *t, struct err *err)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!t->jobs[i].learning)
            return err_set(err, ERR_INVALID,
                           "--rules pollux and sia need a trace in the pollux format");
    return 0;
}

/* The jobs: from a file, or generated. */
static int get_trace(const struct args *a, struct request *r, struct err *err)
{
    const char *generate = args_get(a, "generate");
    struct trace_options t = {.profiles = args_get(a, "profiles"),
                              .colocated = args_get(a, "colocated"),
                              .cluster = &r->cluster};
    if (in_rounds(r->options.rules)) {
        usec_t restart = 30 * USEC_PER_SEC; /* in Pollux' simulator; Sia's has its own by model */
        if (get_duration(a, "restart-cost", &restart, err) < 0)
            return -1;
        t.cost = (struct job_cost){.restart = restart, .resize = restart, .move = restart};
    }
    t.sia = r->options.rules == RULES_SIA;
    if (r->options.rules == RULES_MURI)
        t.cost.restart = 10 * USEC_PER_SEC;
    t.iterations = r->options.rules == RULES_MURI;
    if (get_batch(a, r->options.rules, &t.batch, err) < 0)
        return -1;
    if (get_duration(a, "restart-cost", &t.cost.restart, err) < 0 ||
        get_duration(a, "resize-cost", &t.cost.resize, err) < 0 ||
        get_duration(a, "move-cost", &t.cost.move, err) < 0 ||
        get_duration(a, "checkpoint-every", &t.cost.checkpoint, err) < 0)
        return -1;
    t.all_sizes = r->options.rules == RULES_ELASTICFLOW;
    if (generate && a->operands.n)
        return err_set(err, ERR_INVALID, "give either TRACE or --generate, not both");
    if (generate && (t.profiles || t.colocated))
        return err_set(err, ERR_INVALID, "give either --generate or %s, not both",
                       t.profiles ? "--profiles" : "--colocated");
    r->trace_name = generate ? generate : a->operands.n ? a->operands.at[0] : NULL;
    if (generate)
        return trace_generate(generate, r->options.seed, &t, &r->trace, err);
    if (!r->trace_name)
        return err_set(err, ERR_INVALID, "missing TRACE; give a file or --generate SPEC");
    if (trace_read(r->trace_name, &t, &r->trace, err) < 0)
        return -1;
    if (in_rounds(r->options.rules))
        return refuse_without_goodput(&r->trace, err);
    t.profiles = NULL;
    if (r->options.rules == RULES_ELASTICFLOW)
        return trace_read(r->trace_name, &t, &r->rigid, err);
    return 0;
}

static int get_request(const struct args *a, struct request *r, struct err *err)
{
    r->nodes = args_get(a, "nodes");
    if (!r->nodes)
        return err_set(err, ERR_INVALID,
                       "missing --nodes; write 16x4 (nodes x GPUs) or 4x8c (cores)");
    if (nodes_parse(r->nodes, &r->arena, &r->cluster, err) < 0)
        return -1;
    if (get_options(a, r, err) < 0)
        return -1;
    return get_trace(a, r, err);
}

/* The progress bar of a policy that takes long. */
struct bar {
    const char *name;
    int columns; /* of the terminal */
    int shown;   /* percent; -1 = nothing yet */
    usec_t begun;
};

static void show_progress(void *ctx, double share)
{
    struct bar *b = ctx;
    int percent = (int)(share * 100);
    if (percent == b->shown || clock_read_steady() - b->begun < 2 * USEC_PER_SEC)
        return;
    b->shown = percent;
    int rest = b->columns - 10, name = rest / 2 < 32 ? rest / 2 : 32;
    int width = rest - name < 30 ? rest - name : 30, full = percent * width / 100;
    fprintf(stderr, "\r%-*.*s [%.*s%*s] %3d%%", name, name, b->name, full,
            "##############################", width - full, "", percent);
}

static void hide_progress(const struct bar *b)
{
    if (b->shown >= 0)
        fprintf(stderr, "\r%*s\r", b->columns - 1, "");
}

/* ElasticFlow's simulator resizes jobs by its table under EDF, and uses the run times of the
 * trace under policies that never resize. */
static const struct trace *trace_for(const struct request *r, const struct combo *c)
{
    bool edf = !strcmp(c->policy[AXIS_ALLOCATE]->name, "edf");
    return r->options.rules == RULES_ELASTICFLOW && !edf ? &r->rigid : &r->trace;
}

/* Figures that depend on the machine become unknown. */
static void forget_timing(struct sim_result *result)
{
    result->decision_p50_us = result->decision_p99_us = result->decision_max_us = NAN;
    result->wall_s = NAN;
}

static int run_policies(struct request *r, struct sim_result *results, struct err *err)
{
    size_t width = terminal_width(stderr);
    int columns = width ? (int)(width < 80 ? width : 80) : 80;
    bool shows = terminal_obeys(stderr) && columns >= 30;
    for (size_t i = 0; i < r->combos.n; i++) {
        struct sim_options o = r->options;
        o.combo = r->combos.at[i];
        o.cluster = &r->cluster;
        o.trace = trace_for(r, &o.combo);
        o.estimates |= !r->sizes_given && combo_is_auto(&o.combo);
        struct bar bar = {o.combo.name, columns, -1, clock_read_steady()};
        o.progress = shows ? show_progress : NULL;
        o.ctx = &bar;
        int rc = sim_run(&o, &results[i], err);
        hide_progress(&bar);
        if (rc < 0)
            return -1;
        if (!r->timing)
            forget_timing(&results[i]);
    }
    return 0;
}

static int write_results(const struct args *a, const struct request *r,
                         const struct sim_result *results, struct err *err)
{
    uint32_t n = (uint32_t)r->combos.n;
    const char *csv = args_get(a, "jobs-csv"), *html = args_get(a, "report");
    if (csv && result_jobs_csv(results, n, csv, err) < 0)
        return -1;
    if (html && report_write(results, n, &r->cluster, r->trace_name, r->nodes, html, err) < 0)
        return -1;
    for (uint32_t i = 0; args_get(a, "gantt") && i < n; i++) {
        result_gantt(&results[i], stdout);
        printf("\n");
    }
    if (args_get(a, "json"))
        for (uint32_t i = 0; i < n; i++)
            result_json(&results[i], r->timing, args_get(a, "by-node") ? &r->cluster : NULL,
                        stdout);
    else
        result_table(results, n, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), stdout);
    if (args_get(a, "by-node") && !args_get(a, "json")) {
        printf("\n");
        result_node_table(results, n, &r->cluster, stdout);
    }
    return 0;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (!strcmp(a, b))
        return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Refuses to write a file that this command also reads or writes elsewhere. */
static int check_files(const struct args *a, struct err *err)
{
    static const char *const outputs[] = {"jobs-csv", "report", "save-trace"};
    static const char *const inputs[] = {"profiles", "nodes"};
    VEC(const char *) others = {0};
    int rc = 0;
    for (size_t i = 0; i < a->operands.n; i++)
        VEC_PUSH(&others, a->operands.at[i]);
    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        if (args_get(a, inputs[i]))
            VEC_PUSH(&others, args_get(a, inputs[i]));
    for (size_t i = 0; rc == 0 && i < COUNT_OF(outputs); i++) {
        const char *out = args_get(a, outputs[i]);
        if (out && !*out)
            rc = err_set(err, ERR_INVALID, "--%s needs the name of a file to write", outputs[i]);
        for (size_t k = 0; out && k < others.n; k++)
            if (same_file(out, others.at[k]))
                rc = err_set(err, ERR_INVALID,
                             "--%s %s: the command already uses this file; give "
                             "another one",
                             outputs[i], out);
        if (out)
            VEC_PUSH(&others, out);
    }
    VEC_DONE(&others);
    return rc;
}

static int run(const struct args *args)
{
    struct request r = {0};
    struct err err;
    int rc = check_files(args, &err);
    if (rc == 0)
        rc = get_request(args, &r, &err);
    struct sim_result *results = xcalloc(r.combos.n, sizeof *results);
    const char *save = args_get(args, "save-trace");
    if (rc == 0 && save)
        rc = trace_write(&r.trace, save, &err);
    if (rc == 0)
        rc = run_policies(&r, results, &err);
    if (rc == 0)
        rc = write_results(args, &r, results, &err);
    for (size_t i = 0; i < r.combos.n; i++)
        result_done(&results[i]);
    free(results);
    request_done(&r);
    return rc < 0 ? command_fail(args->command, &err) : 0;
}

static const struct option options[] = {
    {"nodes", 'n', "SPEC", "cluster: 16x4 (nodes x GPUs), 4x8c (cores), 6x4:t4,2x8:a100, or a file",
     false},
    {"policy", 'p', "P", "a preset, an allocator, or allocate=A,place=P,share=S", true},
    {"profiles", 0, "F", "throughput tables that the trace refers to", false},
    {"colocated", 0, "F", "speeds of pairs of jobs that share GPUs, for traces of Gavel", false},
    {"generate", 'g', "SPEC", "generate jobs, such as poisson:jobs=1000,load=0.9", false},
    {"save-trace", 0, "F", "write the jobs in Trainyard's own format", false},
    {"seed", 0, "N", "seed of the random numbers (default 1)", false},
    {"rules", 0, "R", "event rules: own, tiresias, elasticflow, pollux, gavel, muri or sia", false},
    {"batch", 0, "HOW",
     "jobs with goodput profiles train at a fixed batch size, or at the best: fixed or adaptive",
     false},
    {"learned", 0, NULL,
     "under the rules of Pollux and Sia: offer a job one GPU at first, and at most twice what it "
     "has used; take its size and curve from earlier jobs of its group",
     false},
    {"size-error", 0, "S",
     "under the rules of Pollux and Sia, or with --sizes estimated: job size estimates are off by "
     "a "
     "factor e^S (default 0)",
     false},
    {"sizes", 0, "HOW",
     "policies know job sizes as in the trace, or as a live server would: given or estimated "
     "(default: given, but estimated for auto)",
     false},
    {"resched-min", 0, "T", "minimum time between two decisions (default 0)", false},
    {"min-run", 0, "T",
     "a preempted job runs this long before it can be preempted again (default 0)", false},
    {"restart-cost", 0, "T", "time that a preempted job loses when it resumes", false},
    {"resize-cost", 0, "T", "time that a job loses at each change of size", false},
    {"move-cost", 0, "T", "time that a job loses at each move to another node", false},
    {"checkpoint-every", 0, "T", "the most work that a job loses when its node fails (default 0)",
     false},
    {"mtbf", 0, "T", "mean time between failures of a node (default: no failures)", false},
    {"repair", 0, "T", "how long a failed node is down (default 10m)", false},
    {"interference", 0, "P%",
     "how much longer a job takes when others keep its node busy (default 0); under Pollux' "
     "rules: what jobs on several nodes lose on shared nodes",
     false},
    {"power", 0, "SPEC", "count energy: idle=100,cpu=10,gpu=250 watts, or default", false},
    {"json", 0, NULL, "print one JSON object per policy, one per line", false},
    {"no-timing", 0, NULL, "omit figures that depend on the machine from --json and --report",
     false},
    {"by-node", 0, NULL, "also show each node: its use, its jobs, the moves; over time with --json",
     false},
    {"gantt", 0, NULL, "also draw what each job held over time", false},
    {"jobs-csv", 0, "F", "write one line per job and policy", false},
    {"report", 0, "F.html", "write a report with charts, one self-contained file", false},
    {},
};

const struct command command_sim = {
    .name = "sim",
    .summary = "Run policies on a trace in virtual time and compare them",
    .operands = "[TRACE]",
    .details =
        "Runs the engine and policies of the live server on a virtual clock. The same input and\n"
        "seed give the same result. TRACE is a CSV file in Trainyard's own or a public format,\n"
        "which is recognised by its header. Parameters of a policy follow a colon, as in\n"
        "las:thresholds=3250 or fifo:order=strict. Durations are seconds, or 90s, 15m, 2h.",
    .examples =
        "  trainyard sim data/tiresias/60_job.csv -n 4x4 -p fifo -p srtf -p las\n"
        "  trainyard sim -g poisson:jobs=1000,load=0.9,kind=malleable -n 16x4 -p voda-afs-l\n"
        "  trainyard sim trace.csv -n 2x8c -p flowcon -p docker --report report.html",
    .options = options,
    .max_operands = 1,
    .completes = "FILE",
    .run = run,
};
