/* Owns the per-job CSV: one header, then one line per policy and job in the
 * order of the trace. Fields are quoted by RFC 4180 where they must be; lines
 * end with a line feed; what does not exist is left empty. */
#include "sim/report/result_csv.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "sim/report/figure.h"
#include "sim/report/outfile.h"

static void add_text(struct str *s, const char *text)
{
    if (!text)
        text = "";
    if (!text[strcspn(text, ",\"\r\n")]) {
        str_add(s, text);
        return;
    }
    str_add(s, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            str_add(s, "\"");
        str_add_n(s, p, 1);
    }
    str_add(s, "\"");
}

static void add_count(struct str *s, uint32_t n)
{
    str_add(s, ",");
    figure_add_int(s, n);
}

/* Empty when `there` is false. */
static void add_time(struct str *s, bool there, usec_t t)
{
    str_add(s, ",");
    if (there)
        figure_add_seconds(s, t);
}

static void add_job(struct str *s, const struct sim_result *r, const struct sim_job *j)
{
    const struct job *job = j->job;
    bool done = j->outcome == SIM_DONE, due = job->deadline != USEC_NEVER;
    add_text(s, r->policy);
    add_count(s, job->id);
    str_add(s, ",");
    add_text(s, job->name);
    str_add(s, ",");
    add_text(s, job->group);
    str_add(s, ",");
    figure_add(s, (double)job->req / UNIT);
    add_time(s, true, job->submit);
    add_time(s, j->start != USEC_NEVER, j->start);
    add_time(s, done, j->end);
    add_time(s, j->outcome != SIM_NEVER, j->wait);
    add_time(s, j->outcome != SIM_NEVER, j->run);
    add_time(s, done, done ? j->end - job->submit : 0);
    add_time(s, due, job->deadline);
    str_add(s, !due ? "," : result_met(j) ? ",1" : ",0");
    add_count(s, j->starts);
    add_count(s, j->preemptions);
    add_count(s, j->moves);
    add_count(s, j->resizes);
    add_count(s, j->failures);
    str_addf(s, ",%s,", result_outcome(j->outcome));
    if (isfinite(r->energy_wh))
        figure_add(s, j->energy_wh);
    str_add(s, ",");
    if (isfinite(result_fairness(j)))
        figure_add(s, result_fairness(j));
    str_add(s, "\n");
}

int result_jobs_csv(const struct sim_result *r, uint32_t n, const char *path, struct err *err)
{
    struct outfile file;
    if (outfile_open(&file, path, err) < 0)
        return -1;
    fputs("policy,id,name,group,units,submit_s,start_s,end_s,wait_s,run_s,jct_s,deadline_s,met,"
          "starts,preemptions,migrations,resizes,failures,outcome,energy_wh,"
          "fairness\n",
          file.stream);
    struct str line = {0};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < r[i].jobs; k++) {
            line.n = 0;
            add_job(&line, &r[i], &r[i].job[k]);
            fwrite(line.at, 1, line.n, file.stream);
        }
    str_done(&line);
    return outfile_commit(&file, err);
}
