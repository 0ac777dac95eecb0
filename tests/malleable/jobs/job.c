/* A program with OpenMP that does as it is told, one word a line, and says after each how
 * many threads it had:
 *
 *   region          a parallel region
 *   static, dynamic, guided, runtime   a loop with this schedule, which must add up
 *   sections        a region of sections
 *   count N         a region with num_threads(N)
 *   serial N        the same that is not parallel after all, by its `if`
 *   max             what omp_get_max_threads says
 *   set N           omp_set_num_threads
 *   nested          regions of regions: "outer inner"
 *   many            a region whose body refers to 40 variables
 *   table           a row for each possible thread, made at the start, is written by each
 *   callers N       N threads begin 1000 regions each: the most threads of one
 *   fork, exec      a region in a child, or after the program has replaced itself
 *   fill N          changes nothing N times, by N regions: for a busy page
 */
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS = 1000 };

static int region(void)
{
    int n = 0;
#pragma omp parallel
#pragma omp single
    n = omp_get_num_threads();
    return n;
}

static int region_of(int count, bool parallel)
{
    int n = 0;
    (void)count, (void)parallel; /* for those who read it without OpenMP */
#pragma omp parallel num_threads(count) if (parallel)
#pragma omp single
    n = omp_get_num_threads();
    return n;
}

static int checked(long sum, int n)
{
    if (sum == (long)ITEMS * (ITEMS - 1) / 2)
        return n;
    printf("the loop gave %ld\n", sum);
    exit(1);
}

/* Each iteration is run once, whatever the number of threads. */
#define LOOP(name, kind)                                                                           \
    static int name(void)                                                                          \
    {                                                                                              \
        long sum = 0;                                                                              \
        int n = 0;                                                                                 \
        _Pragma(kind) for (int i = 0; i < ITEMS; i++)                                              \
        {                                                                                          \
            sum += i;                                                                              \
            if (i == 0)                                                                            \
                n = omp_get_num_threads();                                                         \
        }                                                                                          \
        return checked(sum, n);                                                                    \
    }
LOOP(loop_static, "omp parallel for schedule(static) reduction(+ : sum) shared(n)")
LOOP(loop_dynamic, "omp parallel for schedule(dynamic, 7) reduction(+ : sum) shared(n)")
LOOP(loop_guided, "omp parallel for schedule(guided) reduction(+ : sum) shared(n)")
LOOP(loop_runtime, "omp parallel for schedule(runtime) reduction(+ : sum) shared(n)")

static int sections(void)
{
    int n = 0, done[3] = {0};
#pragma omp parallel sections
    {
#pragma omp section
        done[0] = n = omp_get_num_threads();
#pragma omp section
        done[1] = 1;
#pragma omp section
        done[2] = 1;
    }
    return done[0] && done[1] && done[2] ? n : -1;
}

static int nested(int *inner)
{
    int outer = 0, most = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel reduction(max : most)
    {
        int n = 0;
#pragma omp single
        outer = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
        n = omp_get_num_threads();
        most = n;
    }
    omp_set_max_active_levels(1);
    *inner = most;
    return outer;
}

/* Clang passes each variable as an argument of its own. */
static int many(void)
{
#define FOUR(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define HALF(X, n) FOUR(X, n##a) FOUR(X, n##b) FOUR(X, n##c) FOUR(X, n##d) FOUR(X, n##e)
#define ALL(X) HALF(X, a) HALF(X, b)
#define DEFINE(v) int v = 1;
#define CHANGE(v) v += 2;
#define ADD(v) +v
    ALL(DEFINE)
    int n = 0;
#pragma omp parallel
#pragma omp single
    {
        n = omp_get_num_threads();
        ALL(CHANGE)
    }
    return (0 ALL(ADD)) == 3 * 40 ? n : -1;
}

/* Sized once, by what may come at most. */
static int *table, rows;

static int fill_table(void)
{
    int n = 0, outside = 0;
    memset(table, 0, (size_t)rows * sizeof *table);
#pragma omp parallel reduction(+ : outside)
    {
        int row = omp_get_thread_num();
        if (row < rows)
            table[row] = 1;
        else
            outside++;
    }
    for (int i = 0; i < rows; i++)
        n += table[i];
    return outside ? -outside : n;
}

static void *call_regions(void *most)
{
    for (int i = 0; i < 1000; i++) {
        int n = region();
        if (n > *(int *)most)
            *(int *)most = n;
    }
    return NULL;
}

static int callers(int count)
{
    pthread_t threads[64];
    int most[64] = {0}, all = 0;
    for (int i = 0; i < count && i < 64; i++)
        if (pthread_create(&threads[i], NULL, call_regions, &most[i]) != 0)
            exit(1);
    for (int i = 0; i < count && i < 64; i++) {
        pthread_join(threads[i], NULL);
        all = most[i] > all ? most[i] : all;
    }
    return all;
}

/* GNU's runtime cannot begin a region in a child of a process that has begun one. */
static int fork_region(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(region());
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static int obey(const char *word, int number, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(void);
    } plain[] = {{"region", region},
                 {"static", loop_static},
                 {"dynamic", loop_dynamic},
                 {"guided", loop_guided},
                 {"runtime", loop_runtime},
                 {"sections", sections},
                 {"many", many},
                 {"table", fill_table},
                 {"fork", fork_region},
                 {"max", omp_get_max_threads}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(word, plain[i].word))
            return plain[i].run();
    if (!strcmp(word, "count"))
        return region_of(number, true);
    if (!strcmp(word, "serial"))
        return region_of(number, false);
    if (!strcmp(word, "callers"))
        return callers(number);
    if (!strcmp(word, "set"))
        omp_set_num_threads(number);
    for (int i = 0; !strcmp(word, "fill") && i < number; i++)
        region();
    if (!strcmp(word, "exec"))
        execv(argv[0], argv);
    return number;
}

int main(int argc, char **argv)
{
    char line[64], word[16];
    (void)argc;
    setvbuf(stdin, NULL, _IONBF, 0); /* after exec the rest is read */
    rows = omp_get_max_threads();
    table = calloc((size_t)rows, sizeof *table);
    while (table && fgets(line, sizeof line, stdin)) {
        int number = 0;
        if (sscanf(line, "%15s %d", word, &number) < 1)
            continue;
        if (!strcmp(word, "nested")) {
            int inner = 0, outer = nested(&inner);
            printf("%d %d\n", outer, inner);
        } else
            printf("%d\n", obey(word, number, argv));
        fflush(stdout);
    }
    free(table);
    return 0;
}
