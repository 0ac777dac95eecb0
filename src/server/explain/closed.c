/* Owns the explanation of nodes that accept no new jobs: drained by a user, not responding,
 * or closed for a while because they failed to start jobs. */
#include "server/explain/closed.h"

#include "base/str.h"
#include "server/explain/text.h"
#include "server/nodes.h"

/* Whether the node has what the job needs, or a part of it if the job may be split. */
static bool could_run(const struct explanation *x, uint32_t node)
{
    const struct job *j = x->t->job;
    struct cluster alone = x->y->cluster;
    alone.nodes += node;
    alone.n = 1;
    for (unsigned pool = 0; pool < cluster_pools(&alone); pool++)
        if (cluster_most(&alone, j, pool, false) >= (j->whole ? j->min : 1))
            return true;
    return false;
}

static void phrase_node(struct str *out, const struct explanation *x, const struct yard_node *n)
{
    str_add(out, n->name);
    if (n->lost || n->suspect) {
        str_add(out, " does not respond");
    } else if (n->fenced) {
        str_add(out, " was lost, and what is left there is being stopped");
    } else if (n->drained) {
        str_add(out, " is drained");
    } else {
        str_add(out, " failed to start ");
        phrase_count(out, n->refusals, "job");
        if (n->refusals > 1)
            str_add(out, " in a row");
        str_add(out, nodes_gave_up(n) ? " and is drained; it is tried again in "
                                      : " and is closed for ");
        phrase_span(out, n->closed_until - x->now);
        str_add(out, " (");
        str_add_utf8(out, n->refusal);
        str_add(out, ")");
    }
}

static void suggest_opening(struct explanation *x, const struct yard_node *n)
{
    struct str s = {0};
    if (n->lost || n->suspect || n->fenced) {
        str_addf(&s, "Jobs can start on %s when it responds again.", n->name);
    } else if (n->drained || nodes_gave_up(n)) {
        str_addf(&s, "`trainyard drain --undo %s` lets jobs start there again.", n->name);
    } else {
        str_addf(&s, "Node %s accepts jobs again in ", n->name);
        phrase_span(&s, n->closed_until - x->now);
        str_add(&s, ".");
    }
    explain_free(x, &s);
}

void explain_closed(struct explanation *x)
{
    enum { SHOWN = 3 };
    struct yard *y = x->y;
    uint32_t n = 0;
    struct str s = {0};
    str_add(&s, "No node that could run it accepts new jobs");
    for (uint32_t i = 0; i < y->nodes.n; i++) {
        if (y->engine.cluster.nodes[i].state == NODE_UP || !could_run(x, i) || n++ >= SHOWN)
            continue;
        str_add(&s, n == 1 ? ": " : "; ");
        phrase_node(&s, x, &y->nodes.at[i]);
        suggest_opening(x, &y->nodes.at[i]);
    }
    if (n > SHOWN) {
        str_add(&s, "; and ");
        phrase_count(&s, n - SHOWN, "more node");
    }
    str_add(&s, ".");
    explain_reason(x, "closed", &s, NULL);
}
