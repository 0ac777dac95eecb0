/* Owns the choice of a job's name. A command is looked at word by word: what only sets something
 * up or starts another program is skipped, a shell's text is split into its commands, and of a
 * script the name counts, not its interpreter's. This is a guess for people to read, not a shell:
 * quotes are dropped and nothing is expanded. */
#include "wire/spec_name.h"

#include <ctype.h>
#include <stdio.h>

#include "base/mem.h"

/* A shell's text may contain another shell with a text. */
enum { DEPTH = 4, WORDS = 256 };

struct words {
    const char *at[WORDS];
    size_t n;
};

static bool is_in(const char *word, const char *const list[])
{
    for (; *list; list++)
        if (!strcmp(*list, word))
            return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Programs that start another one, with the letters of their options that have a value, and the
 * number of operands before the other program. */
static const struct wrapper {
    const char *name, *valued;
    unsigned operands;
} wrappers[] = {
    {"env", "uCS", 0},    {"nice", "n", 0},        {"ionice", "cn", 0},  {"time", "fo", 0},
    {"timeout", "ks", 1}, {"nohup", "", 0},        {"stdbuf", "ioe", 0}, {"taskset", "", 1},
    {"chrt", "", 1},      {"setsid", "", 0},       {"sudo", "ugh", 0},   {"exec", "a", 0},
    {"command", "", 0},   {"numactl", "NmCpi", 0}, {"unbuffer", "", 0},  {"xvfb-run", "ns", 0},
    {"catchsegv", "", 0}, {"strace", "eops", 0},   {"valgrind", "", 0},
};

/* Launchers have so many options that the script is looked for instead. */
static const char *const launchers[] = {
    "torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun", "ray", NULL};
/* They run a command in an environment of Python's: "conda run -n e python main.py". */
static const char *const environments[] = {"uv",     "conda", "mamba", "micromamba", "poetry",
                                           "pipenv", "pixi",  "hatch", "rye",        NULL};
static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", NULL};
static const char *const interpreters[] = {"Rscript", "julia", "node",   "ruby", "perl",
                                           "php",     "lua",   "octave", NULL};
static const char *const extensions[] = {".py", ".sh", ".R",   ".r",   ".jl",   ".pl", ".js",
                                         ".rb", ".m",  ".lua", ".jar", ".bash", NULL};
/* They begin a command that follows, or are none themselves. */
static const char *const keywords[] = {"do", "then", "else", "elif", "if", "while", "until", "!",
                                       "{",  "(",    "}",    ")",    "fi", "done",  "esac",  NULL};
/* What says little about a job. */
static const char *const minor[] = {
    "cd",     "set",   "export", "source", ".",     "ulimit", "umask", "trap",  "echo",
    "printf", "sleep", "test",   "[",      "[[",    "mkdir",  "true",  "wait",  "module",
    "unset",  "local", "date",   "exit",   "read",  "eval",   ":",     "break", "continue",
    "return", "shift", "pwd",    "ls",     "false", NULL};
/* What says nothing at all. */
static const char *const nowhere[] = {"-",     "cd",       "set",  "export", "source", ".",
                                      "break", "continue", "true", ":",      "exit",   NULL};
/* They head commands that follow. */
static const char *const heads[] = {"for", "case", "select", "function", NULL};

static bool is_python(const char *program)
{
    return !strncmp(program, "python", 6) || !strncmp(program, "pypy", 4);
}

/* NAME=value before a command. */
static bool is_assignment(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n && word[n] == '=' && !isdigit((unsigned char)*word);
}

static const char *extension_of(const char *word)
{
    size_t n = strlen(word);
    for (const char *const *e = extensions; *e; e++)
        if (n > strlen(*e) && !strcmp(word + n - strlen(*e), *e))
            return *e;
    return NULL;
}

static void put(const char *word, char *out)
{
    const char *name = base_name(word), *extension = extension_of(name);
    size_t end = strlen(name) - (extension ? strlen(extension) : 0), n = 0;
    for (const char *p = name; p < name + end && !isspace((unsigned char)*p); p++)
        if (n < SPEC_NAME_SIZE - 1)
            out[n++] = (char)(isalnum((unsigned char)*p) || strchr("._-", *p) ? *p : '-');
    out[n] = '\0';
}

static const struct wrapper *find_wrapper(const char *program)
{
    for (const struct wrapper *w = wrappers; w < wrappers + COUNT_OF(wrappers); w++)
        if (!strcmp(w->name, program))
            return w;
    return NULL;
}

/* The first word after a wrapper at `i`, its options and its operands. */
static size_t pass_wrapper(const struct words *w, size_t i, const struct wrapper *as)
{
    size_t k = i + 1;
    for (; k < w->n && w->at[k][0] == '-' && w->at[k][1]; k++)
        if (!w->at[k][2] && strchr(as->valued, w->at[k][1]))
            k++;
    return k + as->operands;
}

/* The word that is run by what stands at `i`: the script, or what follows a launcher. */
static size_t pass_launcher(const struct words *w, size_t i)
{
    for (size_t k = i + 1; k < w->n; k++)
        if (w->at[k][0] != '-' && extension_of(w->at[k]))
            return k;
    for (size_t k = i + 1; k < w->n; k++)
        if (w->at[k][0] != '-' && !isdigit((unsigned char)w->at[k][0]) &&
            strcmp(w->at[k], "launch") != 0)
            return k;
    return w->n;
}

/* The archive of "java -jar weka.jar". */
static size_t find_jar(const struct words *w, size_t i)
{
    for (size_t k = i + 1; k + 1 < w->n; k++)
        if (!strcmp(w->at[k], "-jar"))
            return k + 1;
    return w->n;
}

/* The word that is run by "conda run -n env", "uv run --with x", "poetry run": an environment's. */
static size_t pass_environment(const struct words *w, size_t i)
{
    static const char *const valued[] = {"-n",       "-p",    "--name",      "--prefix",  "--with",
                                         "--python", "--cwd", "--directory", "--project", NULL};
    size_t k = i + 1;
    if (k >= w->n || strcmp(w->at[k], "run") != 0)
        return w->n;
    for (k++; k < w->n && w->at[k][0] == '-'; k++)
        if (is_in(w->at[k], valued))
            k++;
    return k;
}

static bool name_text(const char *text, unsigned depth, char *out);

/* Names a script after its interpreter at `i`; false when there is none. */
static bool name_script(const struct words *w, size_t i, bool shell, unsigned depth, char *out)
{
    for (size_t k = i + 1; k < w->n; k++) {
        const char *word = w->at[k];
        bool last = k + 1 == w->n;
        if (shell && word[0] == '-' && word[1] != '-' && strchr(word, 'c') && !last)
            return depth < DEPTH && name_text(w->at[k + 1], depth + 1, out);
        if (!shell && !strcmp(word, "-m") && !last) {
            const char *dot = strrchr(w->at[k + 1], '.'), *module = dot ? dot + 1 : w->at[k + 1];
            bool launches = !strncmp(w->at[k + 1], "torch.distributed", 17);
            size_t next = launches ? pass_launcher(w, k + 1) : w->n;
            put(next < w->n ? w->at[next] : module, out);
            return true;
        }
        bool expression = !strcmp(word, "-e") && is_in(base_name(w->at[i]), interpreters);
        if (!shell && (!strcmp(word, "-c") || expression))
            return false;
        if (word[0] != '-') {
            put(word, out);
            return true;
        }
    }
    return false;
}

/* Names one command; false when it is a minor one. That has a name in `out` all the same, unless
 * it is none. */
static bool name_command(const struct words *w, unsigned depth, char *out)
{
    size_t i = 0;
    while (i < w->n) {
        const char *program = base_name(w->at[i]);
        const struct wrapper *wrapper = find_wrapper(program);
        bool shell = is_in(program, shells);
        if (is_in(program, heads))
            return false;
        if (is_assignment(w->at[i]) || is_in(program, keywords))
            i++;
        else if (wrapper && pass_wrapper(w, i, wrapper) < w->n)
            i = pass_wrapper(w, i, wrapper);
        else if (is_in(program, environments) && pass_environment(w, i) < w->n)
            i = pass_environment(w, i);
        else if (!strcmp(program, "java") && find_jar(w, i) < w->n)
            i = find_jar(w, i);
        else if (is_in(program, launchers) && pass_launcher(w, i) < w->n)
            i = pass_launcher(w, i);
        else if ((shell || is_python(program) || is_in(program, interpreters)) &&
                 name_script(w, i, shell, depth, out))
            return true;
        else {
            put(program, out);
            return !is_in(program, minor);
        }
    }
    return false;
}

/* Ends the command that was read; true when it has a good name. `first` keeps the first other
 * one. */
static bool end_command(struct words *w, unsigned depth, char *first, char *out)
{
    *out = '\0';
    bool good = name_command(w, depth, out);
    w->n = 0;
    /* Any other says more than where it happens. */
    if (!good && (!*first || (*out && is_in(first, nowhere) && !is_in(out, nowhere))))
        snprintf(first, SPEC_NAME_SIZE, "%s", out);
    return good;
}

/* Names a shell's text after the first of its commands that is not a minor one. */
static bool name_text(const char *text, unsigned depth, char *out)
{
    AUTO_FREE char *copy = xstrdup(text);
    struct words w = {0};
    char first[SPEC_NAME_SIZE] = "", quote = '\0';
    bool within = false;
    for (char *p = copy, *to = copy;; p++) {
        if (*p == '#' && !quote && !within)
            p += strcspn(p, "\n");
        bool end = !*p || (!quote && strchr(";&|\n()", *p));
        if (!end && (quote ? *p == quote : *p == '\'' || *p == '"')) {
            quote = quote ? '\0' : *p;
            if (!within && w.n < WORDS)
                w.at[w.n++] = to;
            within = true;
        } else if (end || (!quote && isspace((unsigned char)*p))) {
            char c = *p;
            if (within)
                *to++ = '\0';
            within = false;
            if (end && end_command(&w, depth, first, out))
                return true;
            if (!c)
                break;
        } else {
            if (!within && w.n < WORDS)
                w.at[w.n++] = to;
            within = true;
            *to++ = *p;
        }
    }
    snprintf(out, SPEC_NAME_SIZE, "%s", first);
    return *out;
}

void spec_name_derive(const struct spec_list *command, char out[SPEC_NAME_SIZE])
{
    struct words w = {0};
    for (; w.n < command->n && w.n < WORDS; w.n++)
        w.at[w.n] = command->at[w.n];
    *out = '\0';
    (void)name_command(&w, 0, out);
    if (!out[strspn(out, "0123456789")]) /* a number, or nothing at all */
        snprintf(out, SPEC_NAME_SIZE, "job");
}
