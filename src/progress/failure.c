/* Owns the search for the line that says why a program failed.
 *
 * One pass, from the beginning: the last line that is of the surest kind wins. A
 * launcher that reports that its child failed does not replace what the child said. */
#include "progress/failure.h"

#include <string.h>

#include "base/letter.h"
#include "base/str.h"
#include "progress/line.h"
#include "progress/text.h"

/* A signal so few lines after an exception is its consequence. */
#define CAUSE_LINES 4

/* How sure a line is to be the cause; of equals the last one counts. */
enum rank { RANK_NONE, RANK_LINE, RANK_LAUNCHER, RANK_ERROR, RANK_EXCEPTION };

struct search {
    char *out;
    enum rank best;
    bool traceback; /* in a traceback: the exception is still to come */
    unsigned since; /* lines since the best one */
};

static bool begins(const char *line, size_t n, const char *word)
{
    size_t k = strlen(word);
    return n >= k && !memcmp(line, word, k);
}

static void keep(struct search *s, enum rank rank, const char *line, size_t n)
{
    if (rank < s->best)
        return;
    n = n < PROGRESS_FAILURE_BYTES ? n : PROGRESS_FAILURE_BYTES - 1;
    memcpy(s->out, line, n);
    s->out[n] = '\0';
    s->out[str_valid_utf8(s->out)] = '\0';
    s->best = rank;
    s->since = 0;
}

/* "[rank0]: ", as PyTorch's launcher puts in front of each line. */
static size_t prefix_length(const char *line, size_t n)
{
    const char *end = begins(line, n, "[") ? progress_find(line, n < 40 ? n : 40, "]: ") : NULL;
    return end ? (size_t)(end - line) + 3 : 0;
}

/* "RuntimeError: ...", "torch.cuda.OutOfMemoryError: ...", "KeyboardInterrupt". */
static bool is_exception(const char *line, size_t n)
{
    static const char *const endings[] = {"Error", "Exception", "Interrupt", "Exit", "Warning"};
    size_t k = 0;
    while (k < n && (letter_is_alpha(line[k]) || letter_is_digit(line[k]) || line[k] == '_' ||
                     line[k] == '.'))
        k++;
    if (!k || (k < n && line[k] != ':'))
        return false;
    for (size_t i = 0; i + 1 < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        if (k >= length && !memcmp(line + k - length, endings[i], length))
            return true;
    }
    return false;
}

/* What only says that another process failed. */
static bool is_launcher(const char *line, size_t n)
{
    return progress_find(line, n, "ChildFailedError") ||
           progress_find(line, n, "CalledProcessError") ||
           progress_find(line, n, "ProcessRaisedException") ||
           progress_find(line, n, "ProcessExitedException");
}

static bool has_one_of(const char *line, size_t n, const char *const *words)
{
    for (; *words; words++) {
        if (progress_find(line, n, *words))
            return true;
    }
    return false;
}

/* What other languages say. */
static bool is_raised(const char *line, size_t n)
{
    static const char *const words[] = {"what(): ", "panicked at", "Exception in thread",
                                        "CUDA error", NULL};
    return begins(line, n, "panic: ") || begins(line, n, "Caused by: ") ||
           has_one_of(line, n, words);
}

/* What the shell or the C library says of a signal. It often follows the cause at once. */
static bool is_signal(const char *line, size_t n)
{
    static const char *const words[] = {"Segmentation fault", "Bus error", "Aborted", "stack smash",
                                        "core dumped",        "Killed",    NULL};
    return has_one_of(line, n, words);
}

/* "error: ...", "ERROR ...", "Error in f(x) : ...", "fatal: ...", "train: command not found". */
static bool is_error(const char *line, size_t n)
{
    static const char *const words[] = {"error:", "fatal:", "error ", "fatal error"};
    static const char *const others[] = {"command not found", "No such file or directory",
                                         "Permission denied", "cannot open",
                                         "not found",         NULL};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t k = strlen(words[w]);
        for (size_t i = 0; i + k <= n && i < 60; i++) {
            size_t m = 0;
            while (m < k && letter_lower(line[i + m]) == words[w][m])
                m++;
            if (m == k && (!i || !letter_is_alpha(line[i - 1])))
                return true;
        }
    }
    return has_one_of(line, n, others);
}

static bool is_empty(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (letter_is_alpha(line[i]) || letter_is_digit(line[i]) || (unsigned char)line[i] >= 0x80)
            return false;
    }
    return true;
}

static void take_line(void *ctx, const char *line, size_t n, bool continued)
{
    struct search *s = ctx;
    size_t skip = prefix_length(line, n);
    if (continued || is_empty(line, n))
        return;
    const char *bare = line + skip;
    size_t length = n - skip;
    while (length && bare[length - 1] == ' ')
        length--;
    if (begins(bare, length, "Traceback (most recent call last)")) {
        s->traceback = true;
        return;
    }
    if (s->traceback && (*bare == ' ' || *bare == '\t' || *bare == '|'))
        return;
    bool raised = s->traceback || is_exception(bare, length);
    s->traceback = false;
    while (length && *bare == ' ') {
        bare++;
        length--;
    }
    s->since++;
    if (raised && is_launcher(bare, length))
        keep(s, RANK_LAUNCHER, bare, length);
    else if (raised || is_raised(bare, length) ||
             (is_signal(bare, length) && s->since > CAUSE_LINES))
        keep(s, RANK_EXCEPTION, bare, length);
    else if (is_signal(bare, length))
        keep(s, RANK_ERROR, bare, length);
    else
        keep(s, is_error(bare, length) ? RANK_ERROR : RANK_LINE, bare, length);
}

bool progress_failure_find(const char *text, size_t n, char *out)
{
    struct search s = {.out = out};
    struct progress_text lines = {0};
    progress_text_feed(&lines, text, n, take_line, &s);
    progress_text_peek(&lines, take_line, &s);
    return s.best != RANK_NONE;
}
