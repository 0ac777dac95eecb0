/* How fast progress is recognised in a job's output: output without progress, output
 * full of it, and a flood of bars. CPU time, in pieces of 64 KiB as from a pipe. Run it
 * from the root of the tree, where the corpus is. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "progress/progress.h"

#define CORPUS "tests/corpus/progress/"
enum { PIECE = 65536, VOLUME = 64 << 20, ROUNDS = 5 };

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void add_file(struct str *out, const char *name)
{
    char path[512], piece[PIECE];
    snprintf(path, sizeof path, CORPUS "%s", name);
    FILE *in = fopen(path, "r");
    if (!in)
        return;
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        str_add_n(out, piece, n);
    str_add(out, "\n");
    fclose(in);
}

/* Reads the texts of the corpus with progress, or those without. */
static void gather(struct str *out, bool progress)
{
    struct dirent **names;
    int n = scandir(CORPUS, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(names[i]->d_name, '.');
        if (dot && !strcmp(dot, ".log") && !strncmp(names[i]->d_name, "not-", 4) == !progress)
            add_file(out, names[i]->d_name);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

/* Typical output of a build or a server: numbers, paths and times. */
static void write_log(struct str *out)
{
    for (int i = 0; i < 2000; i++) {
        str_addf(out,
                 "2024-05-06 12:%02d:%02d,%03d INFO  [worker-%d] handled request id=%d "
                 "status=200 bytes=%d in 0.%03ds path=/api/v1/items/%d/%d\n",
                 i / 60 % 60, i % 60, i % 1000, i % 8, i * 7919, i * 31, i % 1000, i, i % 17);
        str_addf(out, "gcc -O2 -g -Wall -Isrc -c -o build/src/base/part%d.o src/base/part%d.c\n", i,
                 i);
    }
}

static void write_bars(struct str *out)
{
    for (int i = 0; i < 5000; i++)
        str_addf(out,
                 "\rEpoch %d/10:  %2d%%|█████     | %d/938 [00:%02d<00:07, 95.10it/s, "
                 "loss=%.3f, acc=0.%03d]",
                 i / 938 + 1, i % 938 / 10, i % 938, i % 60, 1.0 / (i + 1), i % 1000);
}

static void measure(const char *what, const struct str *text)
{
    double best = 0;
    uint64_t seen = 0;
    if (!text->n) {
        printf("%-36s no corpus: run this from the root of the tree\n", what);
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct progress_reader *r;
        struct err err;
        if (progress_create(&(struct progress_config){0}, &r, &err) < 0)
            return;
        size_t fed = 0;
        double start = cpu_seconds();
        while (fed < VOLUME) {
            for (size_t at = 0; at < text->n; at += PIECE)
                progress_feed(r, text->at + at, text->n - at < PIECE ? text->n - at : PIECE);
            fed += text->n;
        }
        double speed = (double)fed / 1e6 / (cpu_seconds() - start);
        best = speed > best ? speed : best;
        seen = progress_now(r)->seq;
        progress_free(r);
    }
    printf("%-36s %8.0f MB/s   %llu changes in %d MiB\n", what, best, (unsigned long long)seen,
           VOLUME >> 20);
}

int main(void)
{
    struct str text[4] = {{0}};
    write_log(&text[0]);
    gather(&text[1], false);
    gather(&text[2], true);
    write_bars(&text[3]);
    measure("logs and compiler lines", &text[0]);
    measure("corpus without progress", &text[1]);
    measure("corpus with progress", &text[2]);
    measure("bars with a loss", &text[3]);
    for (size_t i = 0; i < COUNT_OF(text); i++)
        str_done(&text[i]);
    return 0;
}
