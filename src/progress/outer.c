/* Owns the headers of loops around a training. What they have in common is a small number with its
 * end, in a line that measures nothing, before the epochs begin. Which word is counted does not
 * matter: stocks, scenes, subjects. Words are needed only where there is no end. */
#include "progress/outer.h"

#include <string.h>

#include "base/letter.h"

/* A header is short, and rounds without an end are few. */
#define HEADER_BYTES 120
#define ROUNDS 50

void progress_outer_note(struct sighting *s, int64_t at, int64_t of)
{
    s->has |= SIGHTING_OUTER;
    s->round_at = at;
    s->round_of = of;
}

/* In front of `at`: a word for a part of the machine, or for what belongs to one process. */
static bool names_machine(const struct progress_line *line, size_t at)
{
    static const char *const words[] = {
        "gpu",     "rank", "node",  "worker",  "process", "device", "core", "host", "thread",
        "replica", "cpu",  "world", "trainab", "param",   "retry",  "port", "load", "skip"};
    for (size_t i = 0; i < at; i++) {
        bool begins = letter_is_alpha(line->text[i]) && (!i || !letter_is_alpha(line->text[i - 1]));
        for (size_t w = 0; begins && w < sizeof words / sizeof *words; w++) {
            size_t n = strlen(words[w]), k = 0;
            while (k < n && i + k < at && letter_lower(line->text[i + k]) == words[w][k])
                k++;
            if (k == n)
                return true;
        }
    }
    return false;
}

/* The last word of a name: the "fold" of "outer_fold". */
static const char *last_word(const struct progress_name *name)
{
    const char *last = strrchr(name->text, '_');
    return last ? last + 1 : name->text;
}

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (!strcmp(word, *list))
            return true;
    }
    return false;
}

/* Only marks, and what a logger puts there, stand in front of the name. */
static bool opens_line(const struct progress_line *line, const struct progress_number *x)
{
    size_t i = x->label;
    while (i && line->text[i - 1] == ' ')
        i--;
    return !i || strchr(":]>-=*#|", line->text[i - 1]);
}

/* "FOLD 0", "Phase 1: training", "Starting Iter #1 ...": how many there are is not said. */
static bool read_endless(const struct progress_line *line, const struct progress_name *names,
                         struct sighting *s)
{
    static const char *const sure[] = {"fold", "chain", "trial", NULL};
    static const char *const likely[] = {"phase", "stage", "task", "run",    "split",      "repeat",
                                         "cycle", "round", "seed", "member", "experiment", NULL};
    static const char *const counts[] = {"iter", "iteration", "round", "generation", NULL};
    const struct progress_number *x = &line->number[line->count - 1];
    const struct progress_name *name = &names[line->count - 1];
    const char *word = x->words ? last_word(name) : "";
    if (!x->words || x->over || x->percent || x->whole < 0 || x->whole > ROUNDS ||
        !opens_line(line, x))
        return false;
    bool starts = !strncmp(name->text, "start", 5) || !strncmp(name->text, "begin", 5);
    s->round_sure = is_one_of(word, sure);
    bool alone = !strcmp(name->text, word);
    /* A seed is also a setting, with others around it. */
    bool small = strcmp(word, "seed") != 0 || x->whole <= 10;
    if (!s->round_sure && !(starts && is_one_of(word, counts)) &&
        !(alone && small && is_one_of(word, likely)))
        return false;
    progress_outer_note(s, x->whole, 0);
    return true;
}

bool progress_read_outer(const struct progress_line *line, const struct progress_name *names,
                         struct sighting *s)
{
    if (line->n > HEADER_BYTES || line->continued)
        return false;
    for (unsigned i = 0; i < line->count; i++) {
        const struct progress_number *x = &line->number[i];
        if (!x->over || x->scaled || x->percent || x->whole < 0 || x[1].whole < 2 ||
            x->whole > x[1].whole || names_machine(line, x->at))
            continue;
        s->round_sure = x->words && (!strcmp(last_word(&names[i]), "fold") ||
                                     !strcmp(last_word(&names[i]), "trial"));
        progress_outer_note(s, x->whole, x[1].whole);
        return true;
    }
    return read_endless(line, names, s);
}
