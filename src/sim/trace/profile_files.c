/* Owns finding the files of a profile directory. */
#include "sim/trace/profile_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "sim/trace/csv.h"

void name_list_done(struct name_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i]);
    VEC_DONE(l);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int profile_list(const char *path, struct name_list *out, struct err *err)
{
    DIR *d = opendir(path);
    struct dirent *e;
    if (!d)
        return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            VEC_PUSH(out, xstrdup(e->d_name));
    closedir(d);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_name);
    return 0;
}

static const char *list_name(const void *ctx, size_t i)
{
    return ((const struct name_list *)ctx)->at[i];
}

int profile_application(const char *directory, const char *application, char path[PROFILE_PATH],
                        struct err *err)
{
    char shown[48];
    struct name_list names = {0};
    bool found = false;
    if (profile_list(directory, &names, err) < 0)
        return -1;
    for (size_t i = 0; i < names.n; i++)
        found = found || !strcmp(names.at[i], application);
    if (!found) {
        const char *near = str_nearest(application, names.n, list_name, &names);
        err_set(err, ERR_INVALID, "%s: no application '%s'%s%s%s", directory,
                csv_show(application, shown, sizeof shown), near ? "; did you mean '" : "",
                near ? near : "", near ? "'?" : "");
    } else if (snprintf(path, PROFILE_PATH, "%s/%s", directory, application) >= PROFILE_PATH) {
        found = false;
        err_set(err, ERR_INVALID, "%.64s...: path too long", directory);
    }
    name_list_done(&names);
    return found ? 0 : -1;
}

int profile_typed(const char *path, const char *stem, const char *type, char file[PROFILE_PATH],
                  struct err *err)
{
    struct name_list names = {0};
    size_t stem_length = strlen(stem), typed = 0;
    char want[128];
    const char *found = NULL;
    if (profile_list(path, &names, err) < 0)
        return -1;
    snprintf(want, sizeof want, "%s-%s.csv", stem, type);
    for (size_t i = 0; i < names.n; i++) {
        typed += !strncmp(names.at[i], stem, stem_length) && names.at[i][stem_length] == '-';
        if (*type && str_equal_nocase(names.at[i], want))
            found = names.at[i];
    }
    if (!found && typed == 0)
        snprintf(want, sizeof want, "%s.csv", stem);
    if (found || typed == 0)
        snprintf(file, PROFILE_PATH, "%s/%s", path, found ? found : want);
    else if (*type)
        err_set(err, ERR_INVALID, "%s: no profile %s of the cluster's GPU type", path, want);
    else
        err_set(err, ERR_INVALID,
                "%s: profiles of several GPU types: say which the cluster has, as in 16x4:t4",
                path);
    name_list_done(&names);
    return found || typed == 0 ? 0 : -1;
}
