/* What would happen under other policies, with other jobs or more nodes: copies of an engine that
 * run on in virtual time until all their tasks have ended, one for each policy, and several for
 * each with lengths of jobs that are drawn from the bands of their estimates. It is done in small
 * steps. Pure. */
#ifndef ADVISOR_WHATIF_H
#define ADVISOR_WHATIF_H

#include "engine/engine.h"
#include "model/range.h"

struct whatif;

enum { WHATIF_POLICIES = 64, WHATIF_DRAWS = 100 };

/* One course of events. */
struct whatif_figures {
    double mean_s;          /* from submission to end, over the tasks that ended; NAN = none */
    double makespan_s;      /* until the last end */
    uint32_t ended, missed; /* tasks, and those of them that miss their deadline or never end */
    uint32_t preemptions, moves, resizes;
};

struct whatif_policy {
    const char *name;
    bool failed; /* then `error` says why, and there is nothing else */
    char error[256];
    bool cut;     /* it took too many decisions, so that some tasks have not ended */
    usec_t until; /* all expected courses were followed up to this time; USEC_NEVER = to the end */
    const double *left;                      /* by task: work that is left then */
    struct whatif_figures expected;          /* if every job takes as long as expected */
    struct range mean_s, makespan_s, missed; /* over the draws; the median and the 10-90 % band */
    double better;     /* part of the draws whose mean is below that of the first policy */
    const usec_t *end; /* by task, as expected; USEC_NEVER = it does not end */
};

/* Copies the engine and its jobs: it may change afterwards. Its nodes' names stay borrowed. */
struct whatif *whatif_create(const struct engine *e, usec_t now);
void whatif_free(struct whatif *w);

/* Another job, which is copied; it is submitted now. Fails if no node could hold it. */
int whatif_add_job(struct whatif *w, const struct job *job, uint32_t *task, struct err *err);
/* Another node; its texts stay borrowed. */
int whatif_add_node(struct whatif *w, const struct capacity *has, struct err *err);
/* The task has this much work in all; what is left of it is between `low` and `high` times that
 * with a probability of 80 %. */
int whatif_set_work(struct whatif *w, uint32_t task, double work, struct err *err);
void whatif_set_band(struct whatif *w, uint32_t task, double low, double high);

/* The policies in the order of these calls; the first is what others are compared with, and
 * NULL is the engine's own. At most WHATIF_POLICIES. */
void whatif_add_policy(struct whatif *w, const struct combo *combo);

uint32_t whatif_policies(const struct whatif *w);

/* Shortens the future: the first course ends when it has cost this much, in instants and tasks that
 * decisions look at, and the others at the same time; those that cost three times as much are cut.
 */
void whatif_shorten(struct whatif *w, uint64_t looks);

/* Does some of the work, usually less than a millisecond. Returns whether there is more. The
 * expected course of each policy comes first, then draw after draw, WHATIF_DRAWS of them. */
bool whatif_work(struct whatif *w);
/* Draws that are complete for all policies; -1 = not even the expected courses are. */
int whatif_draws(const struct whatif *w);

/* The tasks that count: those that are not held. */
uint32_t whatif_tasks(const struct whatif *w);
/* The job of a task that counts; NULL for others. Tasks are numbered up to the engine's last. */
const struct job *whatif_job(const struct whatif *w, uint32_t task);
uint32_t whatif_last(const struct whatif *w);
const struct cluster *whatif_cluster(const struct whatif *w);

/* The result of policy number i, as far as it is complete. */
void whatif_result(const struct whatif *w, uint32_t i, struct whatif_policy *out);

#endif
