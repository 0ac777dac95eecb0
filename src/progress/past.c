/* Owns what is the same in two command lines, and what a difference means. A wrong total is worse
 * than none, so a difference that is not understood makes runs incomparable. */
#include "progress/past.h"

#include <string.h>

#include "base/letter.h"
#include "progress/plan.h"

enum { LINE_SHOWN = 200 };

static bool ends_with(const char *text, size_t n, const char *ending)
{
    size_t k = strlen(ending);
    return n > k && !memcmp(text + n - k, ending, k);
}

static bool is_script(const char *word)
{
    static const char *const endings[] = {".py", ".R", ".r", ".sh", ".jl", ".pl", ".lua", ".js"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(word, strlen(word), endings[i]))
            return *word != '-';
    return false;
}

/* "train", "detector": a command within a program. */
static bool is_plain(const char *word)
{
    for (const char *p = word; *p; p++)
        if (!letter_is_alpha(*p) && *p != '_' && *p != '-')
            return false;
    return *word && *word != '-';
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add_path(struct str *out, const char *workdir, const char *path)
{
    if (*path == '/')
        str_add(out, path);
    else
        str_addf(out, "%s/%s", workdir, strncmp(path, "./", 2) ? path : path + 2);
}

void progress_past_category(const char *const *command, const char *workdir, struct str *out)
{
    const char *program = command[0];
    for (const char *const *word = command; *word; word++) {
        if (!is_script(*word))
            continue;
        if (word > command)
            str_addf(out, "%s ", base_of(program));
        add_path(out, workdir, *word);
        return;
    }
    if (!program)
        return;
    if (strchr(program, '/') && *program != '/')
        add_path(out, workdir, program);
    else
        str_add(out, base_of(program));
    if (command[1] && !strcmp(command[1], "-c") && command[2]) {
        str_addf(out, " -c %.*s", LINE_SHOWN, command[2]);
        return;
    }
    for (const char *const *word = command + 1; *word && is_plain(*word); word++)
        str_addf(out, " %s", *word);
}

const char *progress_past_model(const char *const *command)
{
    static const char *const names[] = {"model", "arch", "model-name", "model_name",
                                        "model_name_or_path"};
    for (const char *const *word = command; *word; word++) {
        size_t dashes = strspn(*word, "-");
        if (dashes > 2)
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t n = strlen(names[i]);
            const char *end = *word + dashes + n;
            if (strncmp(*word + dashes, names[i], n) != 0)
                continue;
            if (*end == '=' && end[1])
                return end + 1;
            if (!*end && dashes && word[1] && *word[1] != '-')
                return word[1];
        }
    }
    return NULL;
}

/* ---- differences ------------------------------------------------------------------------- */

/* What has no part in how long a run is: where it writes to, how it is called, and numbers of the
 * optimiser. Sizes of batches, models and data do. */
static bool is_harmless(const char *name, size_t n)
{
    static const char *const names[] = {
        "seed",     "random_seed", "lr",       "learning_rate", "momentum",    "weight_decay",
        "wd",       "dropout",     "gamma",    "eta",           "alpha",       "beta",
        "lambda",   "name",        "run_name", "exp_name",      "tag",         "comment",
        "out",      "output",      "out_dir",  "output_dir",    "save",        "save_dir",
        "log_dir",  "logdir",      "run_id",   "port",          "master_port", "model_out",
        "save_path"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t k = 0;
        while (k < n && names[i][k] &&
               (name[k] == '-' ? '_' : letter_lower(name[k])) == names[i][k])
            k++;
        if (k == n && !names[i][k])
            return true;
    }
    return false;
}

/* The name of an option that both words have, "epochs" of "--epochs=3"; 0 = none. */
static size_t name_length(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return a[n] && n && !strncmp(a, b, n + 1) ? n : 0;
}

static bool read_count(const char *text, int64_t *out)
{
    size_t n = strlen(text);
    return n && progress_plan_value(text, n, out) == n;
}

/* What the difference between two values of an option means: a factor, 0 = not known. */
static double compare_values(const char *name, size_t n, const char *now, const char *then)
{
    int64_t a, b;
    if (progress_plan_unit(name, n) == PROGRESS_UNIT_NONE)
        return is_harmless(name, n) ? 1 : 0;
    return read_count(now, &a) && read_count(then, &b) ? (double)a / (double)b : 0;
}

/* The same for two words that differ, of which `before` is the one in front. */
static double compare_words(const char *before, const char *now, const char *then)
{
    size_t n = name_length(now, then), dashes = strspn(now, "-");
    if (n > dashes)
        return compare_values(now + dashes, n - dashes, now + n + 1, then + n + 1);
    dashes = before ? strspn(before, "-") : 0;
    if (!dashes || *now == '-' || *then == '-')
        return 0;
    return compare_values(before + dashes, strlen(before + dashes), now, then);
}

double progress_past_scale(const char *const *now, const char *const *then)
{
    double scale = 1;
    bool limited = false;
    size_t i = 0;
    for (; now[i] && then[i]; i++) {
        if (!strcmp(now[i], then[i]))
            continue;
        double factor = compare_words(i ? now[i - 1] : NULL, now[i], then[i]);
        if (factor == 0 || (factor != 1 && limited))
            return 0;
        limited = limited || factor != 1;
        scale *= factor;
    }
    return now[i] || then[i] ? 0 : scale;
}
