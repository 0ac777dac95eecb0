/* Owns the files of a container: what is put into it before it starts, and what is read from it
 * after its end, both through the engine's archives. */
#include "runtime/docker/files.h"

#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "runtime/docker/container.h"
#include "runtime/docker/start.h"
#include "runtime/docker/tar.h"
#include "runtime/tools.h"

/* No file that is read here is larger. */
enum { FILE_MAX = 1 << 20 };

/* ---- our programs ----------------------------------------------------------------------- */

static int read_whole(const char *path, struct str *out, struct err *err)
{
    char bytes[65536];
    size_t n;
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(err, ERR_IO, "cannot read %s", path);
    while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
        str_add_n(out, bytes, n);
    bool failed = ferror(f);
    fclose(f);
    return failed ? err_set(err, ERR_IO, "cannot read %s", path) : 0;
}

/* The name in an archive: relative to the root. */
#define IN_ARCHIVE(path) ((path) + 1)

int files_load_tools(struct runtime *r, struct err *err)
{
    AUTO_FREE char *conductor = NULL;
    char *tools[TOOL_COUNT];
    struct str bytes = {0};
    if (tools_find_conductor(&conductor, err) < 0 || read_whole(conductor, &bytes, err) < 0) {
        str_done(&bytes);
        return -1;
    }
    tar_add_dir(&r->tools, IN_ARCHIVE(CONTAINER_ROOT "/"), 0755);
    tar_add_dir(&r->tools, IN_ARCHIVE(CONTAINER_BIN "/"), 0755);
    tar_add_file(&r->tools, IN_ARCHIVE(CONTAINER_CONDUCTOR), 0755, bytes.at, bytes.n);
    bytes.n = 0;
    tools_find(tools);
    r->has_library = tools[TOOL_MALLEABLE] && read_whole(tools[TOOL_MALLEABLE], &bytes, err) == 0;
    for (size_t i = 0; i < COUNT_OF(tools); i++)
        free(tools[i]);
    if (r->has_library)
        tar_add_file(&r->tools, IN_ARCHIVE(CONTAINER_LIBRARY), 0755, bytes.at, bytes.n);
    str_done(&bytes);
    return 0;
}

/* The container may run as any user, so anybody may write there; nobody else is in it. */
void files_pack(const struct runtime *r, const struct docker_start *s, struct str *out)
{
    struct str spec = {0};
    const char *script = start_script(s);
    record_encode(&launch_spec_record, start_spec(s), &spec);
    str_add_n(out, r->tools.at, r->tools.n);
    tar_add_dir(out, IN_ARCHIVE(CONTAINER_ATTEMPT "/"), 0777);
    tar_add_dir(out, IN_ARCHIVE(CONTAINER_ATTEMPT "/" LAUNCH_JOB_FILES "/"), 0777);
    tar_add_dir(out, IN_ARCHIVE(CONTAINER_CHECKPOINTS "/"), 0777);
    tar_add_dir(out, IN_ARCHIVE(CONTAINER_WORK "/"), 0777);
    tar_add_file(out, IN_ARCHIVE(CONTAINER_ATTEMPT "/spec.json"), 0644, spec.at, spec.n);
    if (script)
        tar_add_file(out, IN_ARCHIVE(CONTAINER_ATTEMPT "/script"), 0755, script, strlen(script));
    tar_end(out);
    str_done(&spec);
}

/* ---- reading ------------------------------------------------------------------------------ */

struct file_reading {
    struct docker_attempt *attempt;
    file_fn then;
    struct tar_reader tar;
    struct str text;
    struct err err;
};

static void take_content(void *ctx, const char *name, const char *bytes, size_t n)
{
    struct file_reading *f = ctx;
    (void)name;
    if (f->text.n + n > FILE_MAX)
        err_set(&f->err, ERR_LIMIT, "a file of the attempt is too large");
    else if (n)
        str_add_n(&f->text, bytes, n);
}

static void take_bytes(void *ctx, const char *bytes, size_t n)
{
    struct file_reading *f = ctx;
    if (f->err.code == ERR_OK)
        (void)tar_feed(&f->tar, bytes, n, take_content, f, &f->err);
}

static void read_done(void *ctx, const struct call_reply *r)
{
    struct file_reading *f = ctx;
    struct err err = f->err;
    f->attempt->call = NULL;
    if (engine_check(r, &err) == 0)
        err = f->err;
    struct str text = f->text;
    struct docker_attempt *a = f->attempt;
    file_fn then = f->then;
    f->text = (struct str){0};
    file_done(a);
    then(a, &text, &err);
    str_done(&text);
}

void file_done(struct docker_attempt *a)
{
    if (a->file)
        str_done(&a->file->text);
    free(a->file);
    a->file = NULL;
}

void file_read(struct docker_attempt *a, const char *name, file_fn then)
{
    struct file_reading *f = xcalloc(1, sizeof *f);
    struct str path = {0};
    a->file = f;
    f->attempt = a;
    f->then = then;
    str_addf(&path, "/containers/%s/archive?path=%s/%s", a->container, CONTAINER_ATTEMPT, name);
    struct engine_request q = {
        .method = "GET", .path = path.at, .bytes = take_bytes, .done = read_done};
    usec_t left = a->op->deadline - docker_now(a->node->runtime);
    q.limit = left > 1000 ? left : 1000;
    q.ctx = f;
    a->call = engine_ask(a->node->engine, &q);
    str_done(&path);
}
