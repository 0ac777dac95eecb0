/* Owns the tests of sim/csv: quoting, line ends, places of fields, and files
 * that are no text. */
#include "support/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "sim/trace/csv.h"

/* Reads a text and returns all its records as "a|b;c|d", or the error. */
static char *records(const char *text, size_t n)
{
    struct csv c;
    struct err err = {0};
    struct str out = {0};
    int got = -1;
    if (csv_from_text(&c, "t", text, n, &err) == 0) {
        while ((got = csv_next(&c, &err)) > 0) {
            for (size_t i = 0; i < c.fields.n; i++) {
                assert_int_equal(strlen(c.fields.at[i].at), c.fields.at[i].n);
                str_addf(&out, "%s%s", i ? "|" : out.n ? ";" : "", c.fields.at[i].at);
            }
        }
        csv_done(&c);
    }
    if (got < 0) {
        assert_int_equal(err.code, ERR_INVALID);
        str_addf(&out, "%s!%s", out.n ? ";" : "", err.text);
    }
    return out.at ? out.at : xstrdup("");
}

static void expect(const char *text, const char *wanted)
{
    AUTO_FREE char *got = records(text, strlen(text));
    assert_string_equal(got, wanted);
}

static void splits_records(void **state)
{
    (void)state;
    expect("a,b\nc,d\n", "a|b;c|d");
    expect("a,b\nc,d", "a|b;c|d");
    expect("a,b\r\nc,d\r\n", "a|b;c|d");
    expect("\xef\xbb\xbf"
           "a,b\n1,2\n",
           "a|b;1|2");
    expect("a,,c\n,,\n", "a||c;||");
    expect(" a , b\t,\tc d \n", "a|b|c d");
    expect("", "");
    expect("a,", "a|");
}

static void understands_quotes(void **state)
{
    (void)state;
    expect("\"a,b\",c\n", "a,b|c");
    expect("\"say \"\"hi\"\"\",x\n", "say \"hi\"|x");
    expect("\"two\nlines\",x\ny,z\n", "two\nlines|x;y|z");
    expect("\"\"\n", "");
    expect("\"\",\"\"\n", "|");
    expect(" \"a\" ,b\n", "a|b");
    expect("\"a\"\r\n\"b\"\r\n", "a;b");
    expect("\" a \"\n", " a ");
    expect("a,\"b", "!t:1:3: a quote that is never closed");
    expect("x\na,\"b\n\n", "x;!t:2:3: a quote that is never closed");
    expect("\"a\"b\n", "!t:1:4: text after a closing quote; expected a comma");
    expect("a\"b\n", "!t:1:2: a quote inside an unquoted field; quote the whole field");
}

static void refuses_what_is_no_csv(void **state)
{
    (void)state;
    expect("a\rb\n", "!t:1:2: a carriage return without a line feed");
    expect("a\n\nb\n", "a;!t:2:1: an empty line; expected a record");
    expect("a\n\r\n  \n\n", "a");
    expect("\x1f\x8b\x08", "!t: compressed; unpack it with gunzip first");
    AUTO_FREE char *nul = records("ab\nc\0d\n", 7);
    assert_string_equal(nul, "!t:2:2: NUL byte: this is not a text file");
}

static void places_fields(void **state)
{
    struct csv c;
    struct err err;
    (void)state;
    const char text[] = "\xef\xbb\xbf"
                        "ab,  c,\"d\ne\",f\nnext\n";
    assert_ok(csv_from_text(&c, "file.csv", text, sizeof text - 1, &err), err);
    assert_int_equal(csv_records_left(&c), 4);
    assert_int_equal(csv_next(&c, &err), 1);
    static const uint32_t line[] = {1, 1, 1, 2}, column[] = {1, 6, 8, 4};
    assert_int_equal(c.fields.n, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c.fields.at[i].line, line[i]);
        assert_int_equal(c.fields.at[i].column, column[i]);
    }
    assert_error(csv_fail(&c, 1, &err, "bad %d", 7), err, ERR_INVALID, "file.csv:1:6: bad 7");
    assert_error(csv_fail(&c, 9, &err, "more"), err, ERR_INVALID, "file.csv:2:5: more");
    assert_int_equal(csv_next(&c, &err), 1);
    assert_int_equal(c.fields.at[0].line, 3);
    csv_done(&c);
}

static void takes_long_lines(void **state)
{
    enum { LONG = 3 << 20, MANY = 100000 };
    struct csv c;
    struct err err;
    struct str text = {0};
    (void)state;
    for (int i = 0; i < LONG; i++)
        str_add_n(&text, "x", 1);
    for (int i = 0; i < MANY; i++)
        str_add_n(&text, ",y", 2);
    assert_ok(csv_from_text(&c, "t", text.at, text.n, &err), err);
    assert_int_equal(csv_next(&c, &err), 1);
    assert_int_equal(c.fields.n, MANY + 1);
    assert_int_equal(c.fields.at[0].n, LONG);
    assert_int_equal(c.fields.at[MANY].column, LONG + 2 * MANY);
    assert_int_equal(csv_next(&c, &err), 0);
    csv_done(&c);
    str_done(&text);
}

static void reads_files(void **state)
{
    char path[] = "/tmp/test_csv.XXXXXX";
    struct csv c;
    struct err err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(write(fd, "1,2\n", 4), 4);
    close(fd);
    assert_ok(csv_open(&c, path, &err), err);
    int n = 0;
    while (csv_next(&c, &err) > 0)
        n++;
    assert_int_equal(n, 10000);
    csv_done(&c);
    unlink(path);
    assert_error(csv_open(&c, path, &err), err, ERR_INVALID, "No such file");
    assert_error(csv_open(&c, "/tmp", &err), err, ERR_INVALID, "a directory");
    assert_error(csv_open(&c, "/dev/zero", &err), err, ERR_INVALID, "NUL byte");
}

static void reads_pipes(void **state)
{
    int ends[2];
    char path[64];
    struct csv c;
    struct err err;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a,b\n", 4), 4);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_ok(csv_open(&c, path, &err), err);
    assert_int_equal(csv_next(&c, &err), 1);
    assert_int_equal(c.fields.n, 2);
    csv_done(&c);
    close(ends[0]);
}

static void shortens_what_it_shows(void **state)
{
    char path[300], shown[12];
    struct csv c;
    struct err err;
    (void)state;
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_ok(csv_from_text(&c, path, "a\n", 2, &err), err);
    assert_true(strlen(c.name) < 104 && !strncmp(c.name, "...pp", 5));
    csv_done(&c);
    assert_string_equal(csv_show("a\tb\x7f", shown, sizeof shown), "a?b?");
    assert_string_equal(csv_show("abcdefghijklmnop", shown, sizeof shown), "abcdefgh...");
}

static const struct CMUnitTest tests[] = {
    TEST(splits_records), TEST(understands_quotes),     TEST(refuses_what_is_no_csv),
    TEST(places_fields),  TEST(takes_long_lines),       TEST(reads_files),
    TEST(reads_pipes),    TEST(shortens_what_it_shows),
};

int main(void)
{
    return RUN(tests);
}
