/* Owns the fuzzing of profile directories. The input has three files, separated by lines of
 * dashes: placements, scalability, and validation at two batch sizes. Whatever is in them, a
 * reader says yes or no, and what it says yes to can be computed with. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/learning.h"
#include "sim/trace/goodput_read.h"
#include "sim/trace/pollux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static const char *const files[] = {"placements.csv", "scalability.csv", "validation-32.csv",
                                    "validation-256.csv"};
enum { PARTS = 3 }; /* the last part is in both validation files */

static void put_file(const char *directory, const char *name, const char *text, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/app/%s", directory, name);
    FILE *f = fopen(path, "w");
    demand(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static void put_files(const char *directory, const char *text)
{
    static const char separator[] = "\n---\n";
    char path[128];
    snprintf(path, sizeof path, "%s/app", directory);
    demand(mkdir(path, 0700) == 0);
    for (int part = 0; part < PARTS; part++) {
        const char *end = part + 1 < PARTS ? strstr(text, separator) : NULL;
        size_t length = end ? (size_t)(end - text) + 1 : strlen(text);
        put_file(directory, files[part], text, length);
        if (part + 1 == PARTS)
            put_file(directory, files[PARTS], text, length);
        text += end ? length + strlen(separator) - 1 : length;
    }
}

static void remove_files(const char *directory)
{
    char path[128];
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "%s/app/%s", directory, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/app", directory);
    demand(rmdir(path) == 0 && rmdir(directory) == 0);
}

/* Small ones only: sizes and epochs are multiplied. */
static void check_learning(const struct goodput *g, double batch, struct arena *a)
{
    struct learning l;
    uint32_t most = g->largest < 64 ? g->largest : 64;
    if (g->epochs > 100 || !learning_init(&l, g, 1, batch, most, a))
        return;
    for (uint32_t e = 0; e < g->epochs; e++) {
        demand(l.rate[e] > 0 && l.left[e] >= l.left[e + 1]);
        demand(speed_at(&l.speeds[e], UNIT) > 0);
    }
    demand(learning_left(&l, 0, 0) == l.left[0] || !isfinite(l.left[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char directory[] = "/tmp/fuzz_profiles.XXXXXX";
    struct arena a = {0};
    struct goodput g;
    struct rates r;
    struct err err = {0};
    double steps;
    demand(mkdtemp(directory) != NULL);
    char *text = xstrndup((const char *)data, size);
    put_files(directory, text);
    free(text);
    if (goodput_read(directory, "app", "", &a, &g, &err) == 0) {
        check_learning(&g, 0, &a);
        check_learning(&g, goodput_largest(&g), &a);
    } else {
        demand(err.code != ERR_OK && err.text[0]);
    }
    if (pollux_rates(directory, "app", "", "64", &a, &r, &err) == 0)
        for (uint32_t i = 0; i < r.n; i++)
            demand(r.at[i] >= 0);
    if (pollux_steps(directory, "app", "64", &steps, &err) == 0)
        demand(steps > 0);
    remove_files(directory);
    arena_done(&a);
    return 0;
}
