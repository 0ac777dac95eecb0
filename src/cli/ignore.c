/* Owns the rules by which files are left out of an upload, as git and docker have them
 * (gitignore(5); docs.docker.com, "dockerignore files"). */
#include "cli/ignore.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

/* ---- patterns -------------------------------------------------------------------------- */

/* The name up to the next '/'. False if it is too long for any file. */
static bool cut_name(const char *path, char out[NAME_MAX_BYTES])
{
    size_t n = strcspn(path, "/");
    if (n >= NAME_MAX_BYTES)
        return false;
    memcpy(out, path, n);
    out[n] = '\0';
    return true;
}

static const char *next_name(const char *path)
{
    path += strcspn(path, "/");
    return *path ? path + 1 : path;
}

bool ignore_glob(const char *pattern, const char *path)
{
    char want[NAME_MAX_BYTES], have[NAME_MAX_BYTES];
    while (*pattern && *path) {
        if (!cut_name(pattern, want) || !cut_name(path, have))
            return false;
        if (!strcmp(want, "**")) {
            const char *rest = next_name(pattern);
            if (!*rest)
                return true;
            for (; *path; path = next_name(path))
                if (ignore_glob(rest, path))
                    return true;
            return false;
        }
        if (fnmatch(want, have, 0) != 0)
            return false;
        pattern = next_name(pattern);
        path = next_name(path);
    }
    return !*pattern && !*path;
}

/* ---- rules ------------------------------------------------------------------------------- */

static void add_rule(struct ignore *g, const char *base, char *line)
{
    struct ignore_rule r = {.base = base};
    size_t n = strcspn(line, "\r\n");
    while (n && line[n - 1] == ' ')
        n--;
    line[n] = '\0';
    if (!n || *line == '#')
        return;
    if (*line == '!') {
        r.keep = true;
        line++;
    }
    n = strlen(line);
    while (n > 1 && line[n - 1] == '/') {
        line[--n] = '\0';
        r.dir = g->kind == IGNORE_GIT;
    }
    bool anchored = g->kind == IGNORE_DOCKER || strchr(line, '/');
    line += strspn(line, "/");
    if (g->kind == IGNORE_DOCKER && !strncmp(line, "./", 2))
        line += 2;
    AUTO_FREE char *deep = xmalloc(strlen(line) + sizeof "**/");
    sprintf(deep, "%s%s", anchored ? "" : "**/", line);
    r.pattern = arena_strdup(&g->arena, deep);
    VEC_PUSH(&g->rules, r);
}

void ignore_add(struct ignore *g, const char *base, const char *text)
{
    const char *kept = arena_strdup(&g->arena, base);
    while (*text) {
        size_t n = strcspn(text, "\n");
        AUTO_FREE char *line = xstrndup(text, n);
        add_rule(g, kept, line);
        text += n + (text[n] == '\n');
    }
}

/* The path as the rule's file sees it; NULL if it is elsewhere. */
static const char *below(const char *base, const char *path)
{
    size_t n = strlen(base);
    if (!n)
        return path;
    return !strncmp(path, base, n) && path[n] == '/' ? path + n + 1 : NULL;
}

/* Docker's rules also match what is below a directory that they match. */
static bool rule_matches(const struct ignore *g, const struct ignore_rule *r, const char *path,
                         bool dir)
{
    const char *seen = below(r->base, path);
    if (!seen || (r->dir && !dir))
        return false;
    if (ignore_glob(r->pattern, seen))
        return true;
    AUTO_FREE char *parent = xstrdup(seen);
    for (char *slash; g->kind == IGNORE_DOCKER && (slash = strrchr(parent, '/'));) {
        *slash = '\0';
        if (ignore_glob(r->pattern, parent))
            return true;
    }
    return false;
}

bool ignore_matches(const struct ignore *g, const char *path, bool dir)
{
    for (size_t i = g->rules.n; i-- > 0;)
        if (rule_matches(g, &g->rules.at[i], path, dir))
            return !g->rules.at[i].keep;
    return false;
}

void ignore_done(struct ignore *g)
{
    VEC_DONE(&g->rules);
    arena_done(&g->arena);
}
