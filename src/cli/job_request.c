/* Owns how the arguments of `submit` and `run` become job requests. Command-line options
 * override the file, and the file overrides what is taken from the submitter's session. */
#include "cli/job_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/member.h"
#include "cli/screen_text.h"
#include "cli/upload.h"
#include "wire/slurm_calls.h"
#include "wire/spec.h"
#include "wire/spec_check.h"
#include "wire/spec_export.h"
#include "wire/spec_json.h"
#include "wire/spec_places.h"
#include "wire/spec_script.h"
#include "wire/spec_set.h"
#include "wire/spec_yaml.h"

extern char **environ;

/* Larger than any real job file or script. */
enum { FILE_LIMIT = 16 << 20 };

struct reading {
    const struct args *args;
    json_t *jobs;
};

/* ---- files ----------------------------------------------------------------- */

static int read_stream(FILE *in, const char *name, struct str *out, struct err *err)
{
    char piece[16384];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, in)) > 0 && out->n <= FILE_LIMIT)
        str_add_n(out, piece, n);
    if (ferror(in))
        return err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
    if (out->n > FILE_LIMIT)
        return err_set(err, ERR_INVALID, "%s: larger than %d MB; is it a job file or a script?",
                       name, FILE_LIMIT >> 20);
    str_add_n(out, "", 0);
    return 0;
}

static int read_file(const char *name, struct str *out, struct err *err)
{
    if (!strcmp(name, "-"))
        return read_stream(stdin, "standard input", out, err);
    FILE *in = fopen(name, "r");
    if (!in && errno == ENOENT)
        return err_set(
            err, ERR_INVALID,
            "there is no file '%s'; to run a command, write -- before it: trainyard submit -- %s",
            name, name);
    if (!in)
        return err_set(err, ERR_INVALID, "%s: %s", name, strerror(errno));
    int rc = read_stream(in, name, out, err);
    fclose(in);
    return rc;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static bool is_script(const char *name, const char *text)
{
    return !strncmp(text, "#!", 2) || ends_with(name, ".sh") || ends_with(name, ".slurm") ||
           ends_with(name, ".sbatch");
}

static bool is_yaml(const char *name)
{
    return ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json") ||
           !strcmp(name, "-");
}

/* ---- one request ----------------------------------------------------------- */

/* Replaces the field's name at the beginning of the error by the option. */
static int fail_option(const struct option *o, const struct spec_field *f, struct err *err)
{
    struct err why = *err;
    size_t n = strlen(f->name);
    const char *text =
        !strncmp(why.text, f->name, n) && why.text[n] == ':' ? why.text + n + 2 : why.text;
    return err_set(err, why.code, "--%s: %.200s", o->name, text);
}

/* Twice the same parameter is a mistake: the later one would silently replace the other. */
static int check_sweeps(const struct args *args, struct err *err)
{
    const char *text, *earlier;
    for (size_t i = 0; (text = args_nth(args, "sweep", i)); i++) {
        size_t n = strcspn(text, "=");
        for (size_t k = 0; k < i && (earlier = args_nth(args, "sweep", k)); k++)
            if (!strncmp(earlier, text, n) && earlier[n] == '=')
                return err_set(err, ERR_INVALID,
                               "--sweep: %.*s is given twice; list its values in one, as in %.*s",
                               (int)n, text, 60, earlier);
    }
    return 0;
}

static int set_options(struct spec *s, const struct args *args, struct err *err)
{
    if (check_sweeps(args, err) < 0)
        return -1;
    for (size_t i = 0; i < args->given.n; i++) {
        const struct given *g = &args->given.at[i];
        const struct spec_field *f = spec_find_option(g->option.name);
        if (!f)
            continue; /* an option of the command itself */
        if (!spec_field_repeats(f))
            spec_place_forget(s, f);
        if (spec_set(s, f, f->value ? g->value : "true", err) < 0)
            return fail_option(&g->option, f, err);
    }
    return 0;
}

/* Makes a relative directory absolute, below `base` (NULL = the current directory is unknown).
 * No directory becomes `base` itself. */
static int make_absolute(struct spec *s, const char *base, const char **dir, struct err *err)
{
    struct str path = {0};
    if (*dir && **dir == '/')
        return 0;
    if (!base)
        return err_set(err, ERR_IO, "cannot read the current directory: %s", strerror(errno));
    str_addf(&path, "%s%s%s", base, *dir ? "/" : "", *dir ? *dir : "");
    *dir = arena_strdup(&s->arena, path.at);
    str_done(&path);
    return 0;
}

/* The working directory is the current one, or relative to it; in a container, unless it is
 * given, that of the image. The directory for checkpoints is
 * relative to the current one as an option, and to the working directory in a file. */
static int set_dirs(struct spec *s, const struct args *args, struct err *err)
{
    AUTO_FREE char *here = getcwd(NULL, 0);
    bool of_image = spec_has_image(s) && !s->workdir;
    if (!of_image && make_absolute(s, here, &s->workdir, err) < 0)
        return -1;
    if (!s->checkpoint_dir)
        return 0;
    return make_absolute(s, args_get(args, "checkpoint-dir") || of_image ? here : s->workdir,
                         &s->checkpoint_dir, err);
}

static void set_environment(struct spec *s)
{
    uint32_t left_out = spec_export(s, environ);
    if (left_out)
        fprintf(stderr, "%u environment variables are not valid UTF-8 and were left out\n",
                left_out);
}

/* Completes a request and adds it to the list. */
static int add_request(struct spec *s, void *ctx, struct err *err)
{
    struct reading *r = ctx;
    const char *field;
    if (set_options(s, r->args, err) < 0 || set_dirs(s, r->args, err) < 0)
        return -1;
    if (spec_check(s, &field, err) < 0)
        return -1;
    set_environment(s);
    json_array_append_new(r->jobs, spec_to_json(s));
    return 0;
}

static int add_words(struct spec *s, const struct args *args, size_t from, struct err *err)
{
    const struct spec_field *command = spec_find("command", err);
    for (size_t i = from; i < args->operands.n; i++)
        if (spec_set(s, command, args->operands.at[i], err) < 0)
            return -1;
    return 0;
}

/* ---- the three forms ------------------------------------------------------- */

static int read_command(struct reading *r, struct err *err)
{
    struct spec s;
    spec_init(&s);
    int rc = add_words(&s, r->args, 0, err);
    if (rc == 0)
        rc = add_request(&s, r, err);
    spec_done(&s);
    return rc;
}

static void warn_ignored(const struct spec_list *ignored)
{
    for (uint32_t i = 0; i < ignored->n; i++) {
        struct str line = {0};
        screen_add(&line, ignored->at[i]);
        fprintf(stderr, "%s has no effect and is ignored\n", line.at);
        str_done(&line);
    }
}

static bool is_installed(const char *command)
{
    const char *path = getenv("PATH");
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        struct str file = {0};
        str_addf(&file, "%.*s/%s", (int)n, p, command);
        bool found = access(file.at, X_OK) == 0;
        str_done(&file);
        if (found)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

/* A script for Slurm may call srun, which would make the job fail. */
static void warn_slurm_call(void *ctx, uint32_t line, const char *command)
{
    const char *file = ctx;
    struct str name = {0};
    if (is_installed(command))
        return;
    screen_add(&name, file);
    fprintf(stderr,
            "%s:%u: warning: '%s' is a command of Slurm and is not installed here; call the "
            "program without it\n",
            name.at, line, command);
    str_done(&name);
}

static int read_script(struct reading *r, const char *name, const struct str *text, struct err *err)
{
    struct spec s;
    struct spec_list ignored = {0};
    spec_init(&s);
    int rc = spec_read_script(name, text->at, text->n, &s, &ignored, err);
    if (rc == 0)
        rc = add_words(&s, r->args, 1, err);
    if (rc == 0)
        rc = add_request(&s, r, err);
    if (rc == 0) {
        warn_ignored(&ignored);
        slurm_find_calls(text->at, warn_slurm_call, (void *)name);
    }
    spec_done(&s);
    return rc;
}

static int read_yaml(struct reading *r, const char *name, const struct str *text, struct err *err)
{
    if (r->args->operands.n > 1)
        return err_set(err, ERR_INVALID,
                       "unexpected argument '%s' after a job file; options go before it",
                       r->args->operands.at[1]);
    return spec_read_yaml(name, text->at, text->n, add_request, r, err);
}

static int read_operand(struct reading *r, struct err *err)
{
    const char *name = r->args->operands.at[0];
    const char *shown = strcmp(name, "-") ? name : "standard input";
    struct str text = {0};
    int rc = read_file(name, &text, err);
    if (rc == 0 && is_script(name, text.at))
        rc = read_script(r, shown, &text, err);
    else if (rc == 0 && is_yaml(name))
        rc = read_yaml(r, shown, &text, err);
    else if (rc == 0)
        rc = err_set(err, ERR_INVALID,
                     "'%s' is neither a job file (.yaml) nor a script (first line #!...); to run "
                     "a command, write -- before it",
                     name);
    str_done(&text);
    return rc;
}

int job_request_read(const struct args *args, json_t **jobs, struct err *err)
{
    struct reading r = {args, json_array()};
    int rc;
    if (args->operands.n == 0 && args_get(args, "image"))
        rc = read_command(&r, err);
    else if (args->operands.n == 0)
        rc = err_set(err, ERR_INVALID,
                     "nothing to run; give a command after --, a job file or a script");
    else
        rc = args->dashes ? read_command(&r, err) : read_operand(&r, err);
    if (rc == 0 && json_array_size(r.jobs) == 0)
        rc = err_set(err, ERR_INVALID, "%s has no jobs", args->operands.at[0]);
    if (rc < 0)
        json_decref(r.jobs);
    else
        *jobs = r.jobs;
    return rc;
}

static void print_warnings(const json_t *warnings)
{
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        struct str text = {0};
        const char *said = json_string_value(json_array_get(warnings, i));
        screen_add(&text, said ? said : "");
        fprintf(stderr, "trainyard: warning: %s\n", text.at ? text.at : "");
        str_done(&text);
    }
}

/* Whether each deadline can be met; what a user must know at once goes where warnings go. */
static void print_outlooks(const json_t *outlooks)
{
    for (size_t i = 0; i < json_array_size(outlooks); i++) {
        const json_t *one = json_array_get(outlooks, i);
        struct str text = {0};
        screen_add(&text, member_text(one, "text"));
        fprintf(stderr, "trainyard: %sjob %lld: %s\n",
                !strcmp(member_text(one, "outlook"), "late") ? "warning: " : "",
                (long long)member_integer(one, "job"), text.at ? text.at : "");
        str_done(&text);
    }
}

int job_request_send(struct server_link *l, json_t *jobs, json_t **accepted, struct err *err)
{
    json_auto_t *answer = NULL, *body = NULL;
    if (upload_folders(l, jobs, err) < 0)
        return -1;
    body = json_array_size(jobs) == 1 ? json_incref(json_array_get(jobs, 0))
                                      : json_pack("{s:O}", "jobs", jobs);
    if (server_link_call(l, "POST", "/jobs", body, &answer, err) < 0)
        return -1;
    json_t *list = json_object_get(answer, "jobs");
    if (!json_array_size(list))
        return err_set(err, ERR_INTERNAL,
                       "the server accepted the jobs but did not return their ids");
    print_warnings(json_object_get(answer, "warnings"));
    print_outlooks(json_object_get(answer, "deadlines"));
    *accepted = json_incref(list);
    return 0;
}
