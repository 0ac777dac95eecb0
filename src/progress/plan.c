/* Owns the names of limits and what they limit, and which of several limits counts. */
#include "progress/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/letter.h"
#include "progress/line.h"
#include "progress/number.h"

#define NAME_BYTES 48

struct unit_name {
    const char *name;
    enum progress_unit unit;
};

/* A name is split into "how many" and "of what": any of these words, or none, ... */
static const char *const counting[] = {
    "max", "maximum", "n", "num", "number_of", "nb", "no_of", "total", "train", "training", "end",
};
/* ... in front of one of these. */
static const struct unit_name units[] = {
    {"epoch", PROGRESS_UNIT_EPOCH},
    {"epochs", PROGRESS_UNIT_EPOCH},
    {"step", PROGRESS_UNIT_STEP},
    {"steps", PROGRESS_UNIT_STEP},
    {"iter", PROGRESS_UNIT_STEP},
    {"iters", PROGRESS_UNIT_STEP},
    {"iteration", PROGRESS_UNIT_STEP},
    {"iterations", PROGRESS_UNIT_STEP},
    {"update", PROGRESS_UNIT_STEP},
    {"updates", PROGRESS_UNIT_STEP},
    {"round", PROGRESS_UNIT_STEP},
    {"rounds", PROGRESS_UNIT_STEP},
    {"boost_round", PROGRESS_UNIT_STEP},
    {"boost_rounds", PROGRESS_UNIT_STEP},
    {"boosting_rounds", PROGRESS_UNIT_STEP},
    {"tree", PROGRESS_UNIT_STEP},
    {"trees", PROGRESS_UNIT_STEP},
    {"estimators", PROGRESS_UNIT_STEP},
    {"timesteps", PROGRESS_UNIT_TIMESTEP},
    {"env_steps", PROGRESS_UNIT_TIMESTEP},
    {"frames", PROGRESS_UNIT_TIMESTEP},
    {"episode", PROGRESS_UNIT_EPISODE},
    {"episodes", PROGRESS_UNIT_EPISODE},
    {"generation", PROGRESS_UNIT_GENERATION},
    {"generations", PROGRESS_UNIT_GENERATION},
    {"gen", PROGRESS_UNIT_GENERATION},
    {"kimg", PROGRESS_UNIT_KIMG},
};
/* Names that are written otherwise. A bare "round" or "tree" limits nothing. */
static const struct unit_name whole_names[] = {
    {"nepoch", PROGRESS_UNIT_EPOCH},       {"nepochs", PROGRESS_UNIT_EPOCH},
    {"epoch_num", PROGRESS_UNIT_EPOCH},    {"epochs_num", PROGRESS_UNIT_EPOCH},
    {"niter", PROGRESS_UNIT_STEP},         {"niters", PROGRESS_UNIT_STEP},
    {"maxiter", PROGRESS_UNIT_STEP},       {"maxit", PROGRESS_UNIT_STEP},
    {"nsteps", PROGRESS_UNIT_STEP},        {"nround", PROGRESS_UNIT_STEP},
    {"nrounds", PROGRESS_UNIT_STEP},       {"ntree", PROGRESS_UNIT_STEP},
    {"ntrees", PROGRESS_UNIT_STEP},        {"max_batches", PROGRESS_UNIT_STEP},
    {"after_batches", PROGRESS_UNIT_STEP}, {"after_epochs", PROGRESS_UNIT_EPOCH},
    {"ngen", PROGRESS_UNIT_GENERATION},    {"step", PROGRESS_UNIT_NONE},
    {"update", PROGRESS_UNIT_NONE},        {"round", PROGRESS_UNIT_NONE},
    {"tree", PROGRESS_UNIT_NONE},          {"n_steps", PROGRESS_UNIT_NONE},
    {"frames", PROGRESS_UNIT_NONE},        {"n_step", PROGRESS_UNIT_NONE},
    {"gen", PROGRESS_UNIT_NONE},           {"end_step", PROGRESS_UNIT_NONE},
    {"end_iter", PROGRESS_UNIT_NONE},      {"generation", PROGRESS_UNIT_NONE},
    {"episode", PROGRESS_UNIT_NONE},
};

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const struct unit_name *find_name(const struct unit_name *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (*list[i].name == *name && !strcmp(list[i].name, name))
            return &list[i];
    }
    return NULL;
}

/* In lower case, "-" as "_", without what stands before the last dot or stroke:
 * "trainer.max-epochs", "SOLVER.MAX_ITER". False when it is no such name. */
static bool spell_name(const char *name, size_t n, char *out)
{
    for (size_t i = n; i > 0; i--) {
        if (name[i - 1] == '.' || name[i - 1] == '/') {
            name += i;
            n -= i;
            break;
        }
    }
    if (!n || n >= NAME_BYTES)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = letter_lower(name[i]);
        if (!letter_is_alpha(c) && !letter_is_digit(c) && c != '_' && c != '-' && c != ' ')
            return false;
        bool hump = i && name[i] != c && letter_is_alpha(name[i - 1]) &&
                    letter_lower(name[i - 1]) == name[i - 1];
        if (hump)
            return false; /* maxEpochs is spelled by spell_humps */
        out[i] = (char)(c == '-' || c == ' ' ? '_' : c);
    }
    out[n] = '\0';
    return true;
}

/* "maxEpochs", "MaxEpochs" */
static bool spell_humps(const char *name, size_t n, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        if (!letter_is_alpha(c) || used + 2 >= NAME_BYTES)
            return false;
        if (i && letter_lower(c) != c)
            out[used++] = '_';
        out[used++] = letter_lower(c);
    }
    out[used] = '\0';
    return used;
}

/* Drops one word that counts from the front: "num_train_epochs" is "train_epochs". */
static const char *skip_counting(const char *name)
{
    for (size_t i = 0; i < LENGTH(counting); i++) {
        size_t n = strlen(counting[i]);
        if (!strncmp(name, counting[i], n) && name[n] == '_')
            return name + n + 1;
    }
    return NULL;
}

enum progress_unit progress_plan_unit(const char *name, size_t n)
{
    char spelled[NAME_BYTES];
    if (!spell_name(name, n, spelled) && !spell_humps(name, n, spelled))
        return PROGRESS_UNIT_NONE;
    const struct unit_name *found = find_name(whole_names, LENGTH(whole_names), spelled);
    if (found)
        return found->unit;
    const char *rest = spelled;
    for (int skipped = 0; rest && skipped < 4; skipped++) {
        found = find_name(units, LENGTH(units), rest);
        if (found)
            return found->unit;
        rest = skip_counting(rest);
    }
    return PROGRESS_UNIT_NONE;
}

bool progress_plan_repeats(const char *name, size_t n)
{
    static const char *const words[] = {"runs",        "folds",    "seeds",  "repeats",
                                        "repetitions", "kfold",    "kfolds", "restarts",
                                        "splits",      "fold_num", "k_fold", "k_folds"};
    char spelled[NAME_BYTES];
    if (!spell_name(name, n, spelled))
        return false;
    for (const char *rest = spelled; rest; rest = skip_counting(rest)) {
        for (size_t i = 0; i < LENGTH(words); i++) {
            if (!strcmp(rest, words[i]))
                return true;
        }
    }
    return false;
}

enum progress_unit progress_unit_of_word(const char *word, size_t n)
{
    char low[NAME_BYTES];
    if (!spell_name(word, n, low))
        return PROGRESS_UNIT_NONE;
    const struct unit_name *found = find_name(units, LENGTH(units), low);
    if (!found && !strcmp(low, "timestep"))
        return PROGRESS_UNIT_TIMESTEP;
    return found ? found->unit : PROGRESS_UNIT_NONE;
}

size_t progress_plan_value(const char *text, size_t n, int64_t *out)
{
    char digits[32];
    size_t used = 0, i = 0;
    for (; i < n && used + 1 < sizeof digits; i++) {
        if (text[i] == '_' && i && i + 1 < n && letter_is_digit(text[i + 1]))
            continue;
        if (!letter_is_digit(text[i]) && text[i] != '.' && (text[i] | 32) != 'e' && text[i] != '+')
            break;
        digits[used++] = text[i];
    }
    double value;
    if (!used || !letter_is_digit(digits[0]) ||
        progress_number_read(digits, used, &value) != used || !(value >= 1 && value <= 1e15) ||
        value != floor(value))
        return 0;
    *out = (int64_t)value;
    return i;
}

void progress_plan_add(struct progress_plan *p, enum progress_unit unit, int64_t value,
                       enum progress_origin origin, const char *from)
{
    struct progress_limit *l = &p->limit[unit];
    if (unit == PROGRESS_UNIT_NONE || value <= 0 || origin < l->origin)
        return;
    bool file = origin == PROGRESS_FROM_CONFIG || origin == PROGRESS_FROM_SCRIPT;
    bool disputed = file && origin == l->origin && (l->disputed || l->value != value);
    *l = (struct progress_limit){
        .value = disputed ? 0 : value, .origin = origin, .disputed = disputed};
    l->rollout = strstr(from, "num_steps") || strstr(from, "num-steps");
    snprintf(l->from, sizeof l->from, "%s", from);
}

const char *progress_unit_name(enum progress_unit unit)
{
    static const char *const names[PROGRESS_UNITS] = {
        [PROGRESS_UNIT_NONE] = "",
        [PROGRESS_UNIT_EPOCH] = "epochs",
        [PROGRESS_UNIT_STEP] = "steps",
        [PROGRESS_UNIT_TIMESTEP] = "timesteps",
        [PROGRESS_UNIT_EPISODE] = "episodes",
        [PROGRESS_UNIT_GENERATION] = "generations",
        [PROGRESS_UNIT_KIMG] = "kimg",
    };
    return names[unit];
}

/* "500steps": the number, and then a word for a unit. */
int progress_total_parse(const char *text, enum progress_unit *unit, int64_t *value,
                         struct err *err)
{
    size_t n = strlen(text), i = 0;
    int64_t number;
    /* The e of "10epochs" is no exponent. */
    while (i < n && (letter_is_digit(text[i]) || text[i] == '_'))
        i++;
    bool exponent = i + 1 < n && (text[i] | 32) == 'e' && letter_is_digit(text[i + 1]);
    size_t length = progress_plan_value(text, exponent || text[i] == '.' ? n : i, &number);
    if (!length)
        return err_set(err, ERR_INVALID,
                       "'%.40s': expected a number of steps, or a number and a unit such as "
                       "10epochs",
                       text);
    i = length;
    while (text[i] == ' ')
        i++;
    enum progress_unit found = progress_unit_of_word(text + i, n - i);
    if (text[i] && found == PROGRESS_UNIT_NONE)
        return err_set(err, ERR_INVALID,
                       "'%.40s': unknown unit '%.40s'; expected steps, epochs, episodes, timesteps "
                       "or generations",
                       text, text + i);
    *unit = found;
    *value = number;
    return 0;
}
