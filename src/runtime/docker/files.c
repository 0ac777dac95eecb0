/* Owns the files of a container: what is put into it before it starts, and what is read from it
 * after its end, both through the engine's archives. */
#include "runtime/docker/files.h"

#include <dirent.h>
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

static bool pack_file(struct runtime *r, const char *path, const char *name)
{
    struct str bytes = {0};
    struct err err;
    bool there = path && read_whole(path, &bytes, &err) == 0;
    if (there)
        tar_add_file(&r->tools, name, 0755, bytes.n ? bytes.at : "", bytes.n);
    str_done(&bytes);
    return there;
}

/* The launchers import each other: all programs of their directory go together. */
static void pack_python(struct runtime *r, const char *one)
{
    AUTO_FREE char *dir = xstrndup(one, (size_t)(strrchr(one, '/') - one));
    DIR *d = opendir(dir);
    const struct dirent *e;
    while (d && (e = readdir(d))) {
        size_t n = strlen(e->d_name);
        if (strncmp(e->d_name, "trainyard_", 10) != 0 || strcmp(e->d_name + n - 3, ".py") != 0)
            continue;
        struct str path = {0}, name = {0};
        str_addf(&path, "%s/%s", dir, e->d_name);
        str_addf(&name, "%s/%s", IN_ARCHIVE(CONTAINER_PYTHON), e->d_name);
        if (name.n < TAR_NAME - 1)
            pack_file(r, path.at, name.at);
        str_done(&path);
        str_done(&name);
    }
    if (d)
        closedir(d);
}

static void pack_tools(struct runtime *r)
{
    static const struct {
        enum runtime_tool tool;
        const char *path;
    } files[] = {{TOOL_MALLEABLE, CONTAINER_LIBRARY},
                 {TOOL_LINES, CONTAINER_LINES},
                 {TOOL_TORCHRUN, CONTAINER_TORCHRUN},
                 {TOOL_HOSTS, CONTAINER_HOSTS}};
    char *tools[TOOL_COUNT];
    tools_find(tools);
    tar_add_dir(&r->tools, IN_ARCHIVE(CONTAINER_PYTHON "/"), 0755);
    if (tools[TOOL_TORCHRUN])
        pack_python(r, tools[TOOL_TORCHRUN]);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        r->has[files[i].tool] = pack_file(r, tools[files[i].tool], IN_ARCHIVE(files[i].path));
    for (size_t i = 0; i < COUNT_OF(tools); i++)
        free(tools[i]);
}

int files_load_tools(struct runtime *r, struct err *err)
{
    AUTO_FREE char *conductor = NULL;
    struct str bytes = {0};
    if (tools_find_conductor(&conductor, err) < 0 || read_whole(conductor, &bytes, err) < 0) {
        str_done(&bytes);
        return -1;
    }
    tar_add_dir(&r->tools, IN_ARCHIVE(CONTAINER_ROOT "/"), 0755);
    tar_add_dir(&r->tools, IN_ARCHIVE(CONTAINER_BIN "/"), 0755);
    tar_add_file(&r->tools, IN_ARCHIVE(CONTAINER_CONDUCTOR), 0755, bytes.at, bytes.n);
    str_done(&bytes);
    pack_tools(r);
    return 0;
}

/* A new volume belongs to root. A name that is too long for an archive stays as it is. */
static void add_home(struct str *out, const char *path)
{
    struct str name = {0};
    str_addf(&name, "%s/", path + strspn(path, "/"));
    if (name.n > 1 && name.n < TAR_NAME - 1)
        tar_add_dir(out, name.at, 0777);
    str_done(&name);
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
    if (start_home(s))
        add_home(out, start_home(s));
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
