/* Scores the recogniser on outputs in the form of known programs, and demands a
 * minimum. tests/corpus/programs/programs.tsv says for each output what is true at
 * its end: the share of the job that is done, with the output alone and with the
 * command line known, the epoch and the loss. A value that is not told is "none"; a
 * value that is told and not true is "wrong".
 *
 *     build/tests/unit/test_progress_programs --table [SET]     prints the scores */
#include "progress/command.h"
#include "progress/progress.h"

#include <math.h>

#include "support/test.h"

#define CORPUS "tests/corpus/programs/"
#define ROW "%-32s %-3s %-14s %-14s %-14s %-14s %s\n"

enum { PIECE = 64 };
/* What must be reached: programs without a value that is missing or wrong. */
enum { LEAST_PROGRAMS = 656, LEAST_CLEAN = 612 };

enum verdict { RIGHT, NONE, WRONG, VERDICTS };
static const char *const verdict_names[] = {"right", "none", "WRONG"};

enum { NAME, SET, ALONE, GIVEN, EPOCH, LOSS, COMMAND, COLUMNS };

struct score {
    unsigned programs, clean, count[VERDICTS];
};

static void load(const char *path, struct str *out)
{
    char piece[65536];
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("%s: cannot be opened; run from the root of the tree", path);
    str_add(out, "");
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        str_add_n(out, piece, n);
    fclose(in);
}

/* A share is true within a point and a half, and never more than half off. */
static bool is_share(double got, double want)
{
    double off = fabs(got - want);
    return off <= 0.3 || (off <= 1.5 && got < 1.6 * want && got > 0.6 * want);
}

static bool is_value(double got, double want)
{
    return fabs(got - want) <= 1e-4 * fabs(want) + 1e-9;
}

/* "?" is not judged, "-" must not be told. */
static int judge(const char *want, bool told, double got, bool (*is_true)(double, double))
{
    if (!strcmp(want, "?"))
        return -1;
    if (!strcmp(want, "-"))
        return told ? WRONG : RIGHT;
    if (!told)
        return NONE;
    return is_true(got, atof(want)) ? RIGHT : WRONG;
}

static double share(const struct progress *p)
{
    bool known = (p->has & PROGRESS_STEP) && (p->has & PROGRESS_TOTAL) && p->total > 0;
    return known ? 100 * (double)p->step / (double)p->total : -1;
}

/* A weak share is shown with a mark, and nothing is decided by it. */
static double sure_share(const struct progress *p)
{
    return p->weak ? -1 : share(p);
}

/* What is known at the end, and the largest share that was told for sure on the way. */
static struct progress read_log(const struct str *log, const char *command, double *most)
{
    struct progress_reader *r = NULL;
    struct progress_plan plan = {0};
    struct err err;
    if (command)
        progress_command_read(&plan, 1, &command);
    assert_ok(progress_create(&(struct progress_config){.plan = &plan}, &r, &err), err);
    *most = -1;
    for (size_t i = 0; i < log->n; i += PIECE) {
        progress_feed(r, log->at + i, log->n - i < PIECE ? log->n - i : PIECE);
        *most = fmax(*most, sure_share(progress_now(r)));
    }
    progress_settle(r);
    struct progress p = *progress_now(r);
    *most = fmax(*most, sure_share(&p));
    progress_free(r);
    return p;
}

/* No share on the way may be beyond the one at the end. */
static int judge_way(const char *want, double most)
{
    if (!strcmp(want, "?"))
        return -1;
    return most > (*want == '-' ? 0 : atof(want) + 2.5) ? WRONG : RIGHT;
}

static void add_verdict(struct score *s, int verdict, bool *clean, char *cell, size_t size,
                        double got)
{
    if (verdict < 0) {
        snprintf(cell, size, "-");
        return;
    }
    s->count[verdict]++;
    *clean = *clean && verdict == RIGHT;
    if (verdict == WRONG)
        snprintf(cell, size, "WRONG %.6g", got);
    else
        snprintf(cell, size, "%s", verdict_names[verdict]);
}

static void score_program(char *const *column, bool table, struct score *s)
{
    char path[512], cell[5][32];
    double most_alone, most;
    struct str log = {0};
    bool clean = true;
    snprintf(path, sizeof path, CORPUS "%s.log", column[NAME]);
    load(path, &log);
    struct progress alone = read_log(&log, NULL, &most_alone),
                    given = read_log(&log, column[COMMAND], &most);
    double a = share(&alone), g = share(&given);
    add_verdict(s, judge(column[ALONE], a >= 0, a, is_share), &clean, cell[0], 32, a);
    add_verdict(s, judge(column[GIVEN], g >= 0, g, is_share), &clean, cell[1], 32, g);
    add_verdict(s, judge(column[EPOCH], given.has & PROGRESS_EPOCH, given.epoch, is_value), &clean,
                cell[2], 32, given.epoch);
    add_verdict(s, judge(column[LOSS], given.has & PROGRESS_LOSS, given.loss, is_value), &clean,
                cell[3], 32, given.loss);
    add_verdict(s, judge_way(column[GIVEN], most), &clean, cell[4], 32, most);
    s->programs++;
    s->clean += clean;
    if (table)
        printf(ROW, column[NAME], column[SET], cell[0], cell[1], cell[2], cell[3], cell[4]);
    str_done(&log);
}

static bool split(char *row, char **column)
{
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = strsep(&row, "\t");
        if (!column[i])
            return false;
    }
    return !row;
}

static struct score score_all(const char *set, bool table)
{
    struct score s = {0};
    struct str index = {0};
    char *column[COLUMNS];
    load(CORPUS "programs.tsv", &index);
    char *rest = index.at, *row;
    while ((row = strsep(&rest, "\n"))) {
        if (!*row || *row == '#')
            continue;
        if (!split(row, column))
            fail_msg("programs.tsv: a row has not %d columns: %s", COLUMNS, row);
        if (!set || !strcmp(set, column[SET]))
            score_program(column, table, &s);
    }
    str_done(&index);
    return s;
}

static void test_score(void **state)
{
    (void)state;
    struct score s = score_all(NULL, false);
    assert_true(s.programs >= LEAST_PROGRAMS);
    if (s.count[WRONG] || s.clean < LEAST_CLEAN)
        fail_msg("%u values are wrong, %u programs are all right; see --table", s.count[WRONG],
                 s.clean);
}

static const struct CMUnitTest tests[] = {
    TEST(test_score),
};

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--table") != 0)
        return RUN(tests);
    printf(ROW, "program", "set", "output alone", "with command", "epoch", "loss", "on the way");
    struct score s = score_all(argv[2], true);
    printf("%u of %u programs all right; values: %u right, %u none, %u wrong\n", s.clean,
           s.programs, s.count[RIGHT], s.count[NONE], s.count[WRONG]);
    return 0;
}
