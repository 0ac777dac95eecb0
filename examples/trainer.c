/* A small training program to try a scheduler with: a network with two hidden layers
 * learns the function z = sin(3x) cos(2y) + xy/2 by stochastic gradient descent, on as
 * many cores as OpenMP has.
 *
 *     trainer [--steps N] [--hidden N] [--batch N] [--seed N]
 *             [--checkpoint FILE] [--save-every N]
 *
 * Each step has a parallel region of two or three milliseconds on one core, and a
 * short one. A batch is always divided into the same chunks, whose gradients are added
 * in the same order. So the result is the same on any number of threads, even if that
 * changes from step to step. Samples depend only on the seed and the step: training
 * continues from a checkpoint as if it had never stopped.
 *
 * It resumes from its checkpoint if there is one (FILE, or a file in
 * $TRAINYARD_CHECKPOINT_DIR). On SIGUSR1 it saves and continues. On SIGTERM and SIGINT
 * it finishes the step, saves, and exits with 128 plus the number of the signal. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHUNKS = 64, HIDDEN_MAX = 256 };

static const float rate = 0.05f, momentum = 0.9f;

struct options {
    long steps, hidden, batch, seed, save_every;
    const char *checkpoint; /* NULL = none */
};

/* The state of the training, as in a checkpoint, where n weights and n velocities
 * follow it. */
struct state {
    char magic[8];
    int64_t hidden, seed, step;
    double loss; /* smoothed */
};

struct trainer {
    struct options o;
    struct state s;
    size_t n;         /* weights */
    float *weights;   /* as in struct layers */
    float *velocity;  /* after the weights, in the same array */
    float *gradients; /* CHUNKS times n */
    double losses[CHUNKS];
};

/* Where each layer's weights are in an array of n floats. */
struct layers {
    float *in, *in_bias;   /* hidden x 2, hidden */
    float *mid, *mid_bias; /* hidden x hidden, hidden */
    float *out, *out_bias; /* hidden, 1 */
};

static volatile sig_atomic_t stop_signal, save_asked;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        save_asked = 1;
    else
        stop_signal = number;
}

static void die(const char *what)
{
    fprintf(stderr, "trainer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static struct layers layers_of(float *at, size_t hidden)
{
    struct layers l = {.in = at};
    l.in_bias = l.in + hidden * 2;
    l.mid = l.in_bias + hidden;
    l.mid_bias = l.mid + hidden * hidden;
    l.out = l.mid_bias + hidden;
    l.out_bias = l.out + hidden;
    return l;
}

/* A number in [-1, 1) for each input of each sample (the SplitMix64 generator). */
static float noise(uint64_t seed, uint64_t step, uint64_t place)
{
    uint64_t z =
        (seed * 0x2545f4914f6cdd1d + step) * 0x9e3779b97f4a7c15 + place * 0xd1342543de82ef95;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (float)((z ^ (z >> 31)) >> 40) / (1 << 23) - 1;
}

/* Adds a sample's gradient to g and returns its squared error. */
static float learn(const struct layers *w, const struct layers *g, int hidden, float x, float y)
{
    float first[HIDDEN_MAX], second[HIDDEN_MAX], back[HIDDEN_MAX] = {0};
    float z = *w->out_bias;
    for (int i = 0; i < hidden; i++)
        first[i] = tanhf(w->in_bias[i] + w->in[2 * i] * x + w->in[2 * i + 1] * y);
    for (int i = 0; i < hidden; i++) {
        const float *row = w->mid + i * hidden;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < hidden; k++)
            sum += row[k] * first[k];
        second[i] = tanhf(w->mid_bias[i] + sum);
        z += w->out[i] * second[i];
    }
    float error = z - (sinf(3 * x) * cosf(2 * y) + x * y / 2);
    *g->out_bias += error;
    for (int i = 0; i < hidden; i++) {
        const float *row = w->mid + i * hidden;
        float *row_g = g->mid + i * hidden;
        float d = error * w->out[i] * (1 - second[i] * second[i]);
        g->out[i] += error * second[i];
        g->mid_bias[i] += d;
#pragma omp simd
        for (int k = 0; k < hidden; k++) {
            row_g[k] += d * first[k];
            back[k] += d * row[k];
        }
    }
    for (int i = 0; i < hidden; i++) {
        float d = back[i] * (1 - first[i] * first[i]);
        g->in_bias[i] += d;
        g->in[2 * i] += d * x;
        g->in[2 * i + 1] += d * y;
    }
    return error * error;
}

static void learn_chunk(struct trainer *t, int chunk)
{
    size_t hidden = (size_t)t->o.hidden;
    float *gradient = t->gradients + (size_t)chunk * t->n;
    struct layers w = layers_of(t->weights, hidden), g = layers_of(gradient, hidden);
    uint64_t seed = (uint64_t)t->o.seed, step = (uint64_t)t->s.step;
    double loss = 0;
    memset(gradient, 0, t->n * sizeof *gradient);
    for (long i = t->o.batch * chunk / CHUNKS; i < t->o.batch * (chunk + 1) / CHUNKS; i++) {
        float x = noise(seed, step, (uint64_t)(2 * i)),
              y = noise(seed, step, (uint64_t)(2 * i + 1));
        loss += learn(&w, &g, (int)hidden, x, y);
    }
    t->losses[chunk] = loss;
}

static void train_step(struct trainer *t)
{
    double loss = 0;
    float scale = rate / (float)t->o.batch;
#pragma omp parallel for schedule(static)
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        learn_chunk(t, chunk);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < t->n; i++) {
        float sum = 0;
        for (size_t chunk = 0; chunk < CHUNKS; chunk++)
            sum += t->gradients[chunk * t->n + i];
        t->velocity[i] = momentum * t->velocity[i] - scale * sum;
        t->weights[i] += t->velocity[i];
    }
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        loss += t->losses[chunk];
    loss /= (double)t->o.batch;
    t->s.loss = t->s.step ? 0.95 * t->s.loss + 0.05 * loss : loss;
    t->s.step++;
}

/* Replaces the file atomically. */
static void save(const struct trainer *t)
{
    char fresh[PATH_MAX];
    if (!t->o.checkpoint)
        return;
    if (snprintf(fresh, sizeof fresh, "%s.new", t->o.checkpoint) >= (int)sizeof fresh) {
        errno = ENAMETOOLONG;
        die(t->o.checkpoint);
    }
    FILE *f = fopen(fresh, "w");
    if (!f || fwrite(&t->s, sizeof t->s, 1, f) != 1 ||
        fwrite(t->weights, sizeof *t->weights, 2 * t->n, f) != 2 * t->n || fflush(f) != 0 ||
        fsync(fileno(f)) < 0 || fclose(f) != 0 || rename(fresh, t->o.checkpoint) < 0)
        die(fresh);
    printf("saved at step %lld\n", (long long)t->s.step);
}

/* Reads the checkpoint; false if there is none. */
static bool resume(struct trainer *t)
{
    struct state s;
    FILE *f = t->o.checkpoint ? fopen(t->o.checkpoint, "r") : NULL;
    if (!f) {
        if (t->o.checkpoint && errno != ENOENT)
            die(t->o.checkpoint);
        return false;
    }
    bool ours = fread(&s, sizeof s, 1, f) == 1 && !memcmp(s.magic, t->s.magic, sizeof s.magic);
    bool same = ours && s.hidden == t->s.hidden && s.seed == t->s.seed;
    bool whole =
        same && fread(t->weights, sizeof *t->weights, 2 * t->n, f) == 2 * t->n && fgetc(f) == EOF;
    fclose(f);
    if (ours && !same)
        fprintf(stderr, "trainer: %s: was written with --hidden %lld --seed %lld\n",
                t->o.checkpoint, (long long)s.hidden, (long long)s.seed);
    else if (!whole)
        fprintf(stderr, "trainer: %s: not a checkpoint of this program\n", t->o.checkpoint);
    if (!whole)
        exit(1);
    t->s = s;
    return true;
}

static void prepare(struct trainer *t)
{
    size_t hidden = (size_t)t->o.hidden;
    t->n = hidden * (hidden + 5) + 1;
    t->weights = calloc(2 * t->n, sizeof *t->weights);
    t->gradients = calloc(CHUNKS * t->n, sizeof *t->gradients);
    if (!t->weights || !t->gradients)
        die("memory");
    t->velocity = t->weights + t->n;
    t->s = (struct state){"trainer", t->o.hidden, t->o.seed, 0, 0};
    struct layers w = layers_of(t->weights, hidden);
    for (size_t i = 0; i < t->n; i++) {
        float spread = t->weights + i < w.in_bias ? 1 : 1 / sqrtf((float)hidden);
        t->weights[i] = spread * noise((uint64_t)t->o.seed, UINT64_MAX, i);
    }
    if (resume(t))
        printf("resumed at step %lld\n", (long long)t->s.step);
}

static void show(const struct trainer *t)
{
    printf("step %lld/%ld loss %.4f\n", (long long)t->s.step, t->o.steps, t->s.loss);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void train(struct trainer *t)
{
    double shown = 0;
    bool said = false; /* the current step was printed */
    while (t->s.step < t->o.steps && !stop_signal) {
        train_step(t);
        bool due = t->o.save_every && t->s.step % t->o.save_every == 0;
        if (save_asked || (due && t->s.step < t->o.steps)) {
            save_asked = 0;
            save(t);
        }
        said = now() - shown > 0.25;
        if (said) {
            shown = now();
            show(t);
        }
    }
    if (!said)
        show(t);
    save(t);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}

static long number(const char *name, const char *text, long lo, long hi)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end || errno || v < lo || v > hi) {
        fprintf(stderr, "trainer: --%s: expected a number from %ld to %ld, not '%s'\n", name, lo,
                hi, text);
        exit(2);
    }
    return v;
}

static void usage(FILE *out, int status)
{
    fprintf(out, "usage: trainer [--steps N] [--hidden N] [--batch N] [--seed N]\n"
                 "               [--checkpoint FILE] [--save-every N]\n");
    exit(status);
}

static struct options parse(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"steps", 1, NULL, 's'},      {"hidden", 1, NULL, 'h'},
        {"batch", 1, NULL, 'b'},      {"seed", 1, NULL, 'r'},
        {"checkpoint", 1, NULL, 'c'}, {"save-every", 1, NULL, 'e'},
        {"help", 0, NULL, '?' + 256}, {0},
    };
    struct options o = {.steps = 2000, .hidden = 64, .batch = 512, .seed = 1, .save_every = 500};
    for (int c, at; (c = getopt_long(argc, argv, "", long_options, &at)) != -1;) {
        if (c == 's')
            o.steps = number("steps", optarg, 1, 1000000000);
        else if (c == 'h')
            o.hidden = number("hidden", optarg, 1, HIDDEN_MAX);
        else if (c == 'b')
            o.batch = number("batch", optarg, 1, 1000000);
        else if (c == 'r')
            o.seed = number("seed", optarg, 0, INT_MAX);
        else if (c == 'e')
            o.save_every = number("save-every", optarg, 0, 1000000000);
        else if (c == 'c')
            o.checkpoint = optarg;
        else
            usage(c == '?' ? stderr : stdout, c == '?' ? 2 : 0);
    }
    if (optind < argc) {
        fprintf(stderr, "trainer: unexpected argument '%s'\n", argv[optind]);
        usage(stderr, 2);
    }
    return o;
}

int main(int argc, char **argv)
{
    static struct trainer t;
    char path[PATH_MAX];
    const char *dir = getenv("TRAINYARD_CHECKPOINT_DIR");
    t.o = parse(argc, argv);
    if (!t.o.checkpoint && dir) {
        snprintf(path, sizeof path, "%s/trainer.checkpoint", dir);
        t.o.checkpoint = path;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    catch_signals();
    prepare(&t);
    train(&t);
    free(t.weights);
    free(t.gradients);
    return t.s.step < t.o.steps ? 128 + stop_signal : 0;
}
