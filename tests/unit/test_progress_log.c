/* Tests of the files that programs log to: TensorBoard, CSV, MLflow, W&B, JSON lines, in
 * pieces of any size. The binary ones are encoded here as their writers do it. */
#include "progress/log.h"
#include "progress/progress.h"

#include "support/progress_json.h"
#include "support/test.h"

/* ---- encoding -------------------------------------------------------------------- */

static void add_varint(struct str *s, uint64_t value)
{
    do {
        char c = (char)(value & 127);
        value >>= 7;
        c = (char)(value ? c | 128 : c);
        str_add_n(s, &c, 1);
    } while (value);
}

static void add_little(struct str *s, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char c = (char)(value >> (8 * i));
        str_add_n(s, &c, 1);
    }
}

static void add_bytes(struct str *s, unsigned field, const char *bytes, size_t n)
{
    add_varint(s, field << 3 | 2);
    add_varint(s, n);
    str_add_n(s, bytes, n);
}

static void add_float(struct str *s, unsigned field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_varint(s, field << 3 | 5);
    add_little(s, bits, 4);
}

/* A frame of an event file with one event that has one value. */
static void add_event(struct str *file, int64_t step, const char *tag, float number, bool tensor)
{
    struct str value = {0}, summary = {0}, event = {0}, box = {0};
    add_bytes(&value, 1, tag, strlen(tag));
    if (tensor) {
        add_float(&box, 5, number);
        add_bytes(&value, 8, box.at, box.n);
    } else {
        add_float(&value, 2, number);
    }
    add_bytes(&summary, 1, value.at, value.n);
    add_varint(&event, 1 << 3 | 1);
    add_little(&event, 0x41d9000000000000u, 8);
    add_varint(&event, 2 << 3);
    add_varint(&event, (uint64_t)step);
    add_bytes(&event, 5, summary.at, summary.n);
    add_little(file, event.n, 8);
    add_little(file, 0, 4);
    str_add_n(file, event.at, event.n);
    add_little(file, 0, 4);
    str_done(&value);
    str_done(&summary);
    str_done(&event);
    str_done(&box);
}

/* A record of a store, cut at the ends of blocks as LevelDB does. */
static void add_record(struct str *file, const struct str *record)
{
    size_t done = 0;
    bool first = true;
    do {
        size_t room = 32768 - file->n % 32768;
        if (room < 7) {
            add_little(file, 0, (unsigned)room);
            continue;
        }
        size_t part = record->n - done < room - 7 ? record->n - done : room - 7;
        bool last = done + part == record->n;
        add_little(file, 0, 4);
        add_little(file, part, 2);
        add_little(file, first ? (last ? 1 : 2) : last ? 4 : 3, 1);
        str_add_n(file, record->at + done, part);
        done += part;
        first = false;
    } while (done < record->n);
}

static void add_item(struct str *history, const char *key, const char *json)
{
    struct str item = {0};
    add_bytes(&item, 1, key, strlen(key));
    add_bytes(&item, 16, json, strlen(json));
    add_bytes(history, 1, item.at, item.n);
    str_done(&item);
}

static void add_history(struct str *file, int step, const char *loss, const char *media)
{
    struct str history = {0}, record = {0};
    char number[16];
    snprintf(number, sizeof number, "%d", step);
    add_item(&history, "train/loss", loss);
    add_item(&history, "val/loss", "0.75");
    add_item(&history, "media", media);
    add_item(&history, "_runtime", "12.5");
    add_item(&history, "_step", number);
    add_varint(&record, 1 << 3);
    add_varint(&record, (uint64_t)step);
    add_bytes(&record, 2, history.at, history.n);
    add_record(file, &record);
    str_done(&history);
    str_done(&record);
}

/* ---- reading --------------------------------------------------------------------- */

static void assert_reads(const char *path, const char *bytes, size_t n,
                         const struct progress_plan *plan, const char *expected)
{
    static const size_t pieces[] = {1, 2, 7, 100, 1 << 20};
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        struct progress_reader *r = NULL;
        struct err err;
        struct str got = {0};
        struct progress_log *log = progress_log_create(path);
        assert_non_null(log);
        assert_ok(progress_create(&(struct progress_config){.plan = plan}, &r, &err), err);
        for (size_t at = 0; at < n; at += pieces[i])
            progress_feed_log(r, log, bytes + at, n - at < pieces[i] ? n - at : pieces[i]);
        str_add(&got, "");
        progress_add_json(progress_now(r), &got);
        assert_string_equal(got.at, expected);
        str_done(&got);
        progress_free(r);
        progress_log_free(log);
    }
}

static void assert_reads_text(const char *path, const char *text, const char *expected)
{
    assert_reads(path, text, strlen(text), NULL, expected);
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum progress_log_kind kind;
    } table[] = {
        {"runs/May01/events.out.tfevents.1714.host.12.0", PROGRESS_LOG_TENSORBOARD},
        {"lightning_logs/version_0/metrics.csv", PROGRESS_LOG_CSV},
        {"training.log", PROGRESS_LOG_CSV},
        {"mlruns/0/1a2b/metrics/train/loss", PROGRESS_LOG_MLFLOW_METRIC},
        {"mlruns/0/1a2b/params/epochs", PROGRESS_LOG_MLFLOW_PARAM},
        {"wandb/run-20240501_120000-abc/run-abc.wandb", PROGRESS_LOG_WANDB},
        {"output/metrics.json", PROGRESS_LOG_JSON},
        {"trainer_log.jsonl", PROGRESS_LOG_JSON},
        {"train.py", PROGRESS_LOG_OTHER},
        {"metrics/loss", PROGRESS_LOG_OTHER},
        {"", PROGRESS_LOG_OTHER},
    };
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(progress_log_kind(table[i].path), table[i].kind);
    assert_null(progress_log_create("train.py"));
    assert_true(progress_log_is_folder("lightning_logs"));
    assert_false(progress_log_is_folder("node_modules"));
}

static void test_tensorboard(void **state)
{
    (void)state;
    struct progress_plan plan = {0};
    struct str file = {0};
    progress_plan_add(&plan, PROGRESS_UNIT_STEP, 400, PROGRESS_FROM_COMMAND, "--max-steps 400");
    for (int i = 1; i <= 4; i++) {
        add_event(&file, 50 * i, "train/loss", 2.0F / (float)i, i % 2);
        add_event(&file, 50 * i, "lr-Adam", 0.001F, false);
        add_event(&file, 50 * i, "val/loss", 0.25F, false);
    }
    /* An image is skipped, a part of a record waits. */
    struct str image = {0};
    add_little(&image, 100000, 8);
    add_little(&image, 0, 4);
    for (int i = 0; i < 100004; i++)
        str_add_n(&image, "\xff", 1);
    str_add_n(&file, image.at, image.n);
    add_event(&file, 250, "train/loss", 0.125F, false);
    assert_reads("runs/a/events.out.tfevents.1.h", file.at, file.n - 3, &plan,
                 "\"step\":200,\"total\":400,\"loss\":0.5,\"metrics\":{\"val_loss\":0.25},"
                 "\"source\":\"tensorboard\"");
    assert_reads("runs/a/events.out.tfevents.1.h", file.at, file.n, NULL,
                 "\"step\":250,\"loss\":0.125,\"metrics\":{\"val_loss\":0.25},"
                 "\"source\":\"tensorboard\"");
    str_done(&image);
    str_done(&file);
}

static void test_tensorboard_of_keras(void **state)
{
    (void)state;
    struct progress_plan plan = {0};
    struct str file = {0};
    progress_plan_add(&plan, PROGRESS_UNIT_EPOCH, 8, PROGRESS_FROM_COMMAND, "--epochs 8");
    add_event(&file, 0, "epoch_loss", 1.0F, true);
    add_event(&file, 1, "epoch_loss", 0.5F, true);
    assert_reads("logs/train/events.out.tfevents.1.h", file.at, file.n, &plan,
                 "\"step\":2,\"total\":8,\"epoch\":1,\"loss\":0.5,\"source\":\"tensorboard\"");
    assert_reads("logs/validation/events.out.tfevents.1.h", file.at, file.n, &plan,
                 "\"metrics\":{\"val_loss\":0.5}");
    str_done(&file);
}

static void test_csv(void **state)
{
    (void)state;
    assert_reads_text("lightning_logs/version_0/metrics.csv",
                      "epoch,step,train_loss,val_loss\n0,49,0.9,\n0,99,,0.8\n1,149,0.5,\n",
                      "\"step\":149,\"epoch\":1,\"loss\":0.5,\"metrics\":{\"val_loss\":0.8},"
                      "\"source\":\"csv\"");
    assert_reads_text("training.log",
                      "epoch,accuracy,loss,val_loss\n0,0.8,0.7,0.9\n1,0.9,nan,0.7\n",
                      "\"step\":2,\"epoch\":1,\"loss\":\"nan\",\"metrics\":{\"accuracy\":0.9,"
                      "\"val_loss\":0.7},\"diverged\":true,\"source\":\"csv\"");
    assert_reads_text("results.csv",
                      "                  epoch,         train/box_loss\r\n     3,   1.25\r\n",
                      "\"step\":3,\"epoch\":3,\"loss\":1.25,\"metrics\":{\"train_box_loss\":1.25},"
                      "\"source\":\"csv\"");
    /* Data is no log. */
    assert_reads_text("data.csv", "x,y,label\n1,2,3\n", "");
    assert_reads_text("data.csv", "1,2,3\n4,5,6\n", "");
}

static void test_mlflow(void **state)
{
    (void)state;
    assert_reads_text("mlruns/0/1a/metrics/train_loss",
                      "1714560000000 0.9 10\n1714560001000 0.5 20\n1714560002000 0.4",
                      "\"step\":20,\"loss\":0.5,\"source\":\"mlflow\"");
    assert_reads_text("mlruns/0/1a/metrics/val/accuracy", "1714560000000 0.75 3\n",
                      "\"metrics\":{\"val_accuracy\":0.75}");
    /* A parameter tells how long the run is. */
    struct progress_reader *r = NULL;
    struct err err;
    struct progress_log *log = progress_log_create("mlruns/0/1a/params/epochs");
    assert_ok(progress_create(&(struct progress_config){0}, &r, &err), err);
    progress_feed_log(r, log, "1", 1);
    progress_feed_log(r, log, "0", 1);
    progress_feed(r, "epoch 4 loss 0.5\n", 17);
    assert_int_equal(progress_now(r)->total, 10);
    progress_free(r);
    progress_log_free(log);
}

static void test_wandb(void **state)
{
    (void)state;
    struct str file = {0}, media = {0};
    str_add_n(&file, ":W&B\xe1\xbe\0", 7);
    /* The second record goes over the end of a block, the third is too long. */
    add_history(&file, 1, "0.9", "1");
    for (int i = 0; i < 15000; i++)
        str_add(&media, "7");
    add_history(&file, 2, "0.8", media.at);
    add_history(&file, 3, "0.7", media.at);
    add_history(&file, 4, "0.6", media.at);
    assert_reads("wandb/run-1/run-1.wandb", file.at, file.n, NULL,
                 "\"step\":4,\"loss\":0.6,\"metrics\":{\"val_loss\":0.75},\"source\":\"wandb\"");
    add_history(&file, 5, "\"NaN\"", "1");
    assert_reads("wandb/run-1/run-1.wandb", file.at, file.n, NULL,
                 "\"step\":5,\"loss\":\"nan\",\"metrics\":{\"val_loss\":0.75},\"diverged\":true,"
                 "\"source\":\"wandb\"");
    assert_reads_text("run-1.wandb", "no such file at all", "");
    str_done(&file);
    str_done(&media);
}

static void test_json_lines(void **state)
{
    (void)state;
    assert_reads_text("output/metrics.json",
                      "{\"iteration\": 19, \"total_loss\": 1.5}\n{\"iteration\": 39, "
                      "\"total_loss\": 1.25, \"lr\": 0.001}\n",
                      "\"step\":39,\"loss\":1.25,\"source\":\"json\"");
}

/* What the program prints of its place goes before what it logs. */
static void test_output_goes_before(void **state)
{
    (void)state;
    struct progress_reader *r = NULL;
    struct err err;
    struct progress_log *log = progress_log_create("metrics.csv");
    static const char csv[] = "step,train_loss,val_loss\n500,0.5,0.75\n";
    static const char output[] = "step 10/100 loss 0.9\n";
    assert_ok(progress_create(&(struct progress_config){0}, &r, &err), err);
    assert_true(progress_feed_log(r, log, csv, sizeof csv - 1));
    assert_int_equal(progress_now(r)->step, 500);
    assert_true(progress_feed(r, output, sizeof output - 1));
    assert_int_equal(progress_now(r)->step, 10);
    assert_false(progress_feed_log(r, log, "600,0.4,0.75\n", 13));
    assert_true(progress_feed_log(r, log, "700,0.4,0.5\n", 12));
    assert_int_equal(progress_now(r)->step, 10);
    assert_true(progress_now(r)->loss == 0.9);
    progress_free(r);
    progress_log_free(log);
}

static const struct CMUnitTest tests[] = {
    TEST(test_kinds),
    TEST(test_tensorboard),
    TEST(test_tensorboard_of_keras),
    TEST(test_csv),
    TEST(test_mlflow),
    TEST(test_wandb),
    TEST(test_json_lines),
    TEST(test_output_goes_before),
};

int main(void)
{
    return RUN(tests);
}
