/* Owns the reader: the ways of a line, from the output and from the file, to what
 * is known of the job. */
#include "progress/progress.h"

#include <string.h>

#include "base/mem.h"
#include "progress/bar.h"
#include "progress/gate.h"
#include "progress/json.h"
#include "progress/keras.h"
#include "progress/labels.h"
#include "progress/log.h"
#include "progress/pattern.h"
#include "progress/phrases.h"
#include "progress/special.h"
#include "progress/table.h"
#include "progress/text.h"
#include "progress/track.h"
#include "progress/translate.h"

/* So many lines that are no rows of it, and a table is over. */
#define TABLE_MISSES 5000

struct progress_reader {
    struct progress_text output;
    struct progress_text file;
    struct progress_table table;
    struct progress_track track;
    struct progress_pattern *pattern;
    unsigned misses;                   /* lines since the last row of the table */
    bool titled;                       /* the last line announced an evaluation: "Test Error:" */
    bool bad_lines;                    /* of the file */
    bool saves;                        /* the file says so */
    bool told_bad_lines, told_pattern; /* problems that were asked for */
};
_Static_assert(sizeof(struct progress_reader) <= PROGRESS_MEMORY, "a reader is small");

int progress_create(const struct progress_config *config, struct progress_reader **out,
                    struct err *err)
{
    struct progress_pattern *pattern = NULL;
    if (config->pattern && progress_pattern_create(config->pattern, &pattern, err) < 0)
        return -1;
    struct progress_reader *r = xcalloc(1, sizeof *r);
    r->pattern = pattern;
    bool steps = config->total_unit == PROGRESS_UNIT_NONE;
    progress_track_init(&r->track, steps ? config->total : 0, config->plan);
    r->track.past = config->past;
    if (!steps)
        progress_plan_add(&r->track.plan, config->total_unit, config->total, PROGRESS_FROM_USER,
                          "--total");
    *out = r;
    return 0;
}

void progress_free(struct progress_reader *r)
{
    if (!r)
        return;
    progress_pattern_free(r->pattern);
    free(r);
}

/* "Test Error:" and the like: the metrics on the line below are an evaluation's. */
static bool is_eval_title(const char *text, size_t n)
{
    while (n && (text[n - 1] == ' ' || text[n - 1] == ':'))
        n--;
    while (n && (*text == ' ' || *text == '=' || *text == '-' || *text == '*')) {
        text++;
        n--;
    }
    size_t word = 0;
    while (word < n && ((text[word] | 32) >= 'a' && (text[word] | 32) <= 'z'))
        word++;
    return n < 40 && progress_eval_prefix(text, word);
}

/* The forms in the order in which they are tried: the surest first. */
static bool read_line(struct progress_reader *r, const char *text, size_t n, bool continued,
                      bool titled, struct sighting *s)
{
    struct progress_line line;
    if (!continued && *text == '{' && progress_read_json(text, n, false, s))
        return true;
    progress_line_read(&line, text, n, continued);
    line.eval = titled ? "test" : NULL;
    if (!line.count && !r->table.ready)
        return false;
    if (progress_table_row(&r->table, &line, s)) {
        r->misses = 0;
        return true;
    }
    if (r->table.ready && ++r->misses > TABLE_MISSES)
        r->table.ready = false;
    return progress_read_bar(&line, s) || progress_read_keras(&line, s) ||
           progress_read_special(&line, s) || progress_read_phrase(&line, s) ||
           progress_read_drawn(&line, s) || progress_read_text(&line, s);
}

static void take_output(void *ctx, const char *text, size_t n, bool continued)
{
    struct progress_reader *r = ctx;
    struct sighting s;
    char translated[PROGRESS_WINDOW];
    size_t length = r->pattern ? 0 : progress_translate(text, n, translated, sizeof translated);
    if (length) {
        text = translated;
        n = length;
    }
    if (r->pattern) {
        if (progress_pattern_read(r->pattern, text, n, &s))
            progress_track_take(&r->track, &s);
        return;
    }
    unsigned look = progress_gate_look(text, n);
    bool number = look & PROGRESS_GATE_NUMBER, pass = look & PROGRESS_GATE_PASS;
    if ((pass || !number) && !continued && progress_table_head(&r->table, text, n)) {
        r->misses = 0;
        return;
    }
    bool titled = r->titled;
    r->titled = !number && !continued && is_eval_title(text, n);
    if (!pass && !(number && r->table.ready))
        return;
    if (read_line(r, text, n, continued, titled, &s))
        progress_track_take(&r->track, &s);
}

bool progress_feed(struct progress_reader *r, const char *bytes, size_t n)
{
    uint64_t seq = r->track.now.seq;
    progress_text_feed(&r->output, bytes, n, take_output, r);
    return r->track.now.seq != seq;
}

void progress_skip(struct progress_reader *r)
{
    r->output = (struct progress_text){0};
}

bool progress_settle(struct progress_reader *r)
{
    uint64_t seq = r->track.now.seq;
    bool titled = r->titled; /* for the line when it is whole */
    progress_text_peek(&r->output, take_output, r);
    r->titled = titled;
    return r->track.now.seq != seq;
}

/* Whether the line is the object, with blanks anywhere. */
static bool is_object(const char *text, size_t n, const char *object)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && (!*object || text[i] != *object++))
            return false;
    return !*object;
}

static void take_said(void *ctx, const char *text, size_t n, bool continued)
{
    struct progress_reader *r = ctx;
    struct sighting s;
    if (!continued && is_object(text, n, "{\"checkpoint\":true}"))
        r->saves = true;
    else if (!continued && progress_read_json(text, n, true, &s))
        progress_track_take(&r->track, &s);
    else
        r->bad_lines = true;
}

bool progress_feed_file(struct progress_reader *r, const char *bytes, size_t n)
{
    uint64_t seq = r->track.now.seq;
    progress_text_feed(&r->file, bytes, n, take_said, r);
    return r->track.now.seq != seq;
}

static void take_logged(void *ctx, const struct sighting *s)
{
    struct progress_reader *r = ctx;
    progress_track_take(&r->track, s);
}

bool progress_feed_log(struct progress_reader *r, struct progress_log *log, const char *bytes,
                       size_t n)
{
    uint64_t seq = r->track.now.seq;
    if (!r->pattern)
        progress_log_read(log, bytes, n, take_logged, r);
    return r->track.now.seq != seq;
}

void progress_restart_file(struct progress_reader *r)
{
    r->file = (struct progress_text){0};
}

bool progress_saves(const struct progress_reader *r)
{
    return r->saves;
}

const struct progress *progress_now(const struct progress_reader *r)
{
    return &r->track.now;
}

const char *progress_problem(struct progress_reader *r)
{
    if (r->pattern && progress_pattern_given_up(r->pattern) && !r->told_pattern) {
        r->told_pattern = true;
        return "the progress pattern takes too long on this output and is not used any more";
    }
    if (r->bad_lines && !r->told_bad_lines) {
        r->told_bad_lines = true;
        return "lines of the progress file are not JSON objects with numbers and were skipped";
    }
    return NULL;
}
