/* Owns the reading of cluster specifications. A group of equal nodes is
 * parsed, checked and then repeated; files give one node a line, or are
 * Tiresias' one-line specification. */
#include "sim/nodes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "sim/devices.h"
#include "sim/trace/table.h"

enum { NODES_LIMIT = 100000, GPUS_LIMIT = 1024, CPUS_LIMIT = 4096, TYPE_LENGTH = 31 };

/* What is being built. */
struct builder {
    struct arena *arena;
    struct cluster cluster;
    VEC(struct node) nodes;
    struct map names;
};

/* Equal nodes, as one part of a specification. */
struct group {
    int64_t count, gpus, memory_mb;
    units_t cpus;
    char type[TYPE_LENGTH + 1]; /* "" = not named */
    struct devices devices;
};

static int find_pool(struct builder *b, const char *type, uint8_t *pool, struct err *err)
{
    const char *name = *type ? type : "gpu";
    unsigned found = cluster_gpu_pool(&b->cluster, name), next = cluster_pools(&b->cluster);
    if (found == POOLS_MAX && next == POOLS_MAX)
        return err_set(err, ERR_INVALID, "'%s': too many GPU types; at most %d", name,
                       POOLS_MAX - POOL_GPU);
    if (found == POOLS_MAX)
        b->cluster.gpu_types[next - POOL_GPU] = arena_strdup(b->arena, name);
    *pool = (uint8_t)(found == POOLS_MAX ? next : found);
    return 0;
}

/* Adds a group's nodes; a NULL name means n1, n2 and so on. */
static int add_nodes(struct builder *b, const struct group *g, const char *name, struct err *err)
{
    struct node node = {
        .cpus = g->cpus, .gpus = g->gpus * UNIT, .memory_mb = g->memory_mb, .devices = g->devices};
    char number[16];
    if (g->count < 1)
        return err_set(err, ERR_INVALID, "no nodes; expected at least one");
    if (g->gpus == 0 && g->cpus == 0)
        return err_set(err, ERR_INVALID, "a node needs GPUs or CPUs");
    if ((int64_t)b->nodes.n + g->count > NODES_LIMIT)
        return err_set(err, ERR_INVALID, "more than %d nodes", NODES_LIMIT);
    if (g->gpus && find_pool(b, g->type, &node.gpu_pool, err) < 0)
        return -1;
    for (int64_t i = 0; i < g->count; i++) {
        snprintf(number, sizeof number, "n%zu", b->nodes.n + 1);
        node.name = arena_strdup(b->arena, name ? name : number);
        VEC_PUSH(&b->nodes, node);
    }
    return 0;
}

/* A whole number at *p, which is left behind it. */
static int take_count(const char **p, const char *what, int64_t most, int64_t *out, struct err *err)
{
    int64_t n = 0;
    const char *q = *p;
    for (; isdigit((unsigned char)*q); q++)
        n = n <= most ? n * 10 + (*q - '0') : n;
    if (q == *p && *q != '-')
        return err_set(err, ERR_INVALID, "expected a number of %s at '%.20s'", what, q);
    if (*q == '.' || n < 1 || n > most)
        return err_set(err, ERR_INVALID, "expected a whole number of %s from 1 to %lld at '%.20s'",
                       what, (long long)most, *p);
    *out = n;
    *p = q;
    return 0;
}

/* ":t4" */
static int take_type(const char **p, struct group *g, struct err *err)
{
    const char *q = ++*p;
    while (isalnum((unsigned char)*q) || (*q && strchr("_.-", *q)))
        q++;
    size_t n = (size_t)(q - *p);
    if (n == 0 || n > TYPE_LENGTH)
        return err_set(err, ERR_INVALID,
                       "expected a GPU type of 1 to %d letters and digits at '%.20s'", TYPE_LENGTH,
                       *p);
    memcpy(g->type, *p, n);
    g->type[n] = '\0';
    *p = q;
    return 0;
}

/* "@64g" */
static int take_memory(const char **p, struct group *g, struct err *err)
{
    char text[32];
    size_t n = strcspn(++*p, ",:+@/");
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1), *p);
    if (memory_parse(text, &g->memory_mb, err) < 0)
        return err_prefix(err, "'%s'", text);
    if (g->memory_mb < 1)
        return err_set(err, ERR_INVALID, "'%s': no memory", text);
    *p += n;
    return 0;
}

/* "/tpu=2/fpga=1" */
static int take_devices(struct builder *b, const char **p, struct group *g, struct err *err)
{
    size_t n = strcspn(++*p, ",");
    if (devices_parse(*p, n, b->cluster.device_names, b->arena, &g->devices, err) < 0)
        return -1;
    *p += n;
    return 0;
}

/* COUNTxGPUS[:TYPE][+CPUSc][@MEMORY][/DEVICES] or COUNTxCPUSc[@MEMORY][/DEVICES] */
static int parse_group(struct builder *b, const char **p, struct group *g, struct err *err)
{
    int64_t size, cpus;
    if (take_count(p, "nodes", NODES_LIMIT, &g->count, err) < 0)
        return -1;
    if (**p != 'x')
        return err_set(err, ERR_INVALID, "expected an x after the number of nodes, as in 16x4");
    ++*p;
    const char *start = *p;
    if (take_count(p, "GPUs or cores", CPUS_LIMIT, &size, err) < 0)
        return -1;
    if (**p == 'c') {
        ++*p;
        g->cpus = size * UNIT;
    } else {
        *p = start;
        if (take_count(p, "GPUs of a node", GPUS_LIMIT, &g->gpus, err) < 0)
            return -1;
    }
    if (**p == ':' && g->gpus && take_type(p, g, err) < 0)
        return -1;
    if (**p == '+' && g->gpus) {
        ++*p;
        if (take_count(p, "cores of a node", CPUS_LIMIT, &cpus, err) < 0)
            return -1;
        if (**p != 'c')
            return err_set(err, ERR_INVALID, "expected a c after the number of cores, as in +32c");
        ++*p;
        g->cpus = cpus * UNIT;
    }
    if (**p == '@' && take_memory(p, g, err) < 0)
        return -1;
    return **p == '/' ? take_devices(b, p, g, err) : 0;
}

static int parse_text(struct builder *b, const char *spec, struct err *err)
{
    for (const char *p = spec;; p++) {
        struct group g = {0};
        if (parse_group(b, &p, &g, err) < 0 || add_nodes(b, &g, NULL, err) < 0)
            return -1;
        if (!*p)
            return 0;
        if (*p != ',')
            return err_set(err, ERR_INVALID,
                           "'%.20s': expected 16x4, 4x8c, 2x4+32c, "
                           "4x8c@64g or 6x4:t4,2x8:a100",
                           p);
    }
}

enum { NAME, CPUS, GPUS, TYPE, MEMORY, DEVICES };
static const struct column node_columns[] = {{"name", true},  {"cpus", false},   {"gpus", false},
                                             {"type", false}, {"memory", false}, {"devices", false},
                                             {NULL, false}};

/* Copies a type that may stand in a specification. */
static int read_type(const struct table *t, struct group *g, struct err *err)
{
    struct err why;
    AUTO_FREE char *text = xmalloc(strlen(table_text(t, TYPE)) + 2);
    text[0] = ':';
    memcpy(text + 1, table_text(t, TYPE), strlen(table_text(t, TYPE)) + 1);
    const char *p = text;
    if (take_type(&p, g, &why) < 0 || *p)
        return table_fail(t, TYPE, err, "expected a GPU type of 1 to %d letters and digits",
                          TYPE_LENGTH);
    return 0;
}

static int read_node(struct builder *b, const struct table *t, struct err *err)
{
    struct group g = {.count = 1};
    struct err why;
    uint32_t seen;
    const char *name = table_text(t, NAME);
    if (!*name)
        return table_fail(t, NAME, err, "expected a name");
    if (map_get(&b->names, name, &seen))
        return table_fail(t, NAME, err, "node %u has this name already", seen + 1);
    if (table_has(t, CPUS) && table_units(t, CPUS, 0, &g.cpus, err) < 0)
        return -1;
    if (g.cpus > CPUS_LIMIT * UNIT)
        return table_fail(t, CPUS, err, "expected at most %d", CPUS_LIMIT);
    if (table_has(t, GPUS) && table_int(t, GPUS, 0, GPUS_LIMIT, &g.gpus, err) < 0)
        return -1;
    if (table_has(t, TYPE) && !g.gpus)
        return table_fail(t, TYPE, err, "expected no type for a node without GPUs");
    if (table_has(t, TYPE) && read_type(t, &g, err) < 0)
        return -1;
    if (table_has(t, MEMORY) && memory_parse(table_text(t, MEMORY), &g.memory_mb, &why) < 0)
        return table_fail(t, MEMORY, err, "%s", why.text);
    if (table_has(t, DEVICES) &&
        devices_parse(table_text(t, DEVICES), strlen(table_text(t, DEVICES)),
                      b->cluster.device_names, b->arena, &g.devices, &why) < 0)
        return table_fail(t, DEVICES, err, "%s", why.text);
    if (add_nodes(b, &g, name, &why) < 0)
        return table_fail(t, NAME, err, "%s", why.text);
    map_add(&b->names, b->nodes.at[b->nodes.n - 1].name, (uint32_t)b->nodes.n - 1);
    return 0;
}

enum { SWITCHES, NODES, NODE_GPUS, NODE_CPUS, NODE_MEMORY };
static const struct column switch_columns[] = {
    {"num_switch", true},      {"num_node_p_switch", true}, {"num_gpu_p_node", true},
    {"num_cpu_p_node", false}, {"mem_p_node", false},       {NULL, false}};

static int read_switches(struct builder *b, const struct table *t, struct err *err)
{
    struct group g = {0};
    struct err why;
    int64_t switches, nodes, cpus = 0, gb = 0;
    if (table_int(t, SWITCHES, 1, NODES_LIMIT, &switches, err) < 0 ||
        table_int(t, NODES, 1, NODES_LIMIT, &nodes, err) < 0 ||
        table_int(t, NODE_GPUS, 1, GPUS_LIMIT, &g.gpus, err) < 0)
        return -1;
    if (table_has(t, NODE_CPUS) && table_int(t, NODE_CPUS, 0, CPUS_LIMIT, &cpus, err) < 0)
        return -1;
    if (table_has(t, NODE_MEMORY) && table_int(t, NODE_MEMORY, 0, 1000000, &gb, err) < 0)
        return -1;
    g.count = switches * nodes;
    g.cpus = cpus * UNIT;
    g.memory_mb = gb * 1024;
    if (add_nodes(b, &g, NULL, &why) < 0)
        return table_fail(t, NODES, err, "%s", why.text);
    return 0;
}

static int read_file(struct builder *b, struct table *t, struct err *err)
{
    bool switches = table_fits(t, switch_columns, NULL);
    int got = table_bind(t, switches ? switch_columns : node_columns,
                         switches ? "tiresias cluster" : "nodes", err);
    while (got == 0 && (got = table_next(t, err)) > 0)
        got = switches ? read_switches(b, t, err) : read_node(b, t, err);
    if (got == 0 && b->nodes.n == 0)
        return err_set(err, ERR_INVALID, "%s: it has a header but no nodes", t->csv.name);
    return got;
}

static int finish(struct builder *b, int rc, struct cluster *out)
{
    if (rc == 0) {
        b->cluster.n = (uint32_t)b->nodes.n;
        b->cluster.nodes = ARENA_ARRAY(b->arena, b->nodes.n, struct node);
        memcpy(b->cluster.nodes, b->nodes.at, b->nodes.n * sizeof *b->nodes.at);
        *out = b->cluster;
    }
    VEC_DONE(&b->nodes);
    map_done(&b->names);
    return rc;
}

int nodes_parse_file(const char *name, const char *text, size_t n, struct arena *a,
                     struct cluster *out, struct err *err)
{
    struct builder b = {.arena = a};
    struct table t;
    if (table_from_text(&t, name, text, n, err) < 0)
        return -1;
    int rc = read_file(&b, &t, err);
    table_done(&t);
    return finish(&b, rc, out);
}

int nodes_parse(const char *spec, struct arena *a, struct cluster *out, struct err *err)
{
    struct builder b = {.arena = a};
    struct table t;
    int rc;
    if (!*spec)
        return err_set(err, ERR_INVALID, "no nodes; expected a specification like 16x4, or a file");
    if (isdigit((unsigned char)spec[*spec == '-'])) {
        rc = parse_text(&b, spec, err);
        if (rc < 0)
            err_prefix(err, "nodes '%.60s'", spec);
    } else {
        struct err why;
        if (table_open(&t, spec, &why) < 0)
            return err_set(err, why.code, "%.190s; nodes are a file, or like 16x4", why.text);
        rc = read_file(&b, &t, err);
        table_done(&t);
    }
    return finish(&b, rc, out);
}
