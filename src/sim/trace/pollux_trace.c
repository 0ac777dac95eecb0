/* Owns the workloads of Pollux (OSDI'21) and Sia (SOSP'23). A job trains its
 * application to the last profiled epoch at a fixed global batch size, and is
 * malleable between the sizes at which that batch runs: see sim/trace/pollux.h. */
#include "sim/trace/reader.h"

enum { ID, SUBMIT, MODEL, REPLICAS, BATCH };

static const struct column columns[] = {{"name", true},        {"time", true},
                                        {"application", true}, {"num_replicas", true},
                                        {"batch_size", true},  {NULL, false}};

static int pollux_row(struct trace_reader *r, struct job *j, struct err *err)
{
    const struct scaling *s;
    units_t asked;
    double batch;
    if (reader_gpus(r, REPLICAS, &asked, err) < 0 ||
        table_double(&r->table, BATCH, 1, 1e9, &batch, err) < 0 ||
        reader_scaling(r, MODEL, BATCH, &s, err) < 0)
        return -1;
    reader_set_malleable(r, s, s->steps, asked, j);
    j->group = reader_intern(r, table_text(&r->table, MODEL));
    return 0;
}

const struct trace_format trace_pollux = {.name = "pollux",
                                          .columns = columns,
                                          .id = ID,
                                          .submit = SUBMIT,
                                          .profiles = PROFILES_DIRECTORY,
                                          .needs_profiles = true,
                                          .row = pollux_row};
