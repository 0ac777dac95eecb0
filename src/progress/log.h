/* Files that programs log their training to, recognised by their names:
 *
 *   events.out.tfevents.*            TensorBoard
 *   *.csv, *.tsv, training.log       CSV of Lightning, Keras, fastai, ultralytics ...
 *   .../metrics/NAME, .../params/NAME below mlruns     MLflow
 *   run-*.wandb                      Weights & Biases
 *   *.jsonl, metrics.json, *.log.json      JSON lines
 *
 * A reader takes the bytes of one file as they come, in pieces of any size, and gives
 * sightings. It does no I/O. */
#ifndef PROGRESS_LOG_H
#define PROGRESS_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct sighting;

enum progress_log_kind {
    PROGRESS_LOG_OTHER,
    PROGRESS_LOG_TENSORBOARD,
    PROGRESS_LOG_CSV,
    PROGRESS_LOG_MLFLOW_METRIC,
    PROGRESS_LOG_MLFLOW_PARAM,
    PROGRESS_LOG_WANDB,
    PROGRESS_LOG_JSON,
};

/* What a file is, going by its path; PROGRESS_LOG_OTHER = not such a log. */
enum progress_log_kind progress_log_kind(const char *path);

/* Whether a directory of this name may hold such logs, some levels down. */
bool progress_log_is_folder(const char *name);

struct progress_log;

/* NULL for a path that is no log. */
struct progress_log *progress_log_create(const char *path);
void progress_log_free(struct progress_log *log);

typedef void (*progress_sighting_fn)(void *ctx, const struct sighting *s);

/* The next bytes of the file. A file that became shorter needs a new reader. */
void progress_log_read(struct progress_log *log, const char *bytes, size_t n,
                       progress_sighting_fn fn, void *ctx);

#endif
