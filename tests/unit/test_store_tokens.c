/* Tests of the table of tokens and sessions. */
#include "store/tokens.h"

#include <string.h>

#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

struct seen {
    char names[128]; /* "a:user b:admin " */
    unsigned n;
};

static int see(void *ctx, const struct token_row *row, struct err *err)
{
    struct seen *s = ctx;
    char one[64];
    (void)err;
    snprintf(one, sizeof one, "%s:%s ", row->name, row->role);
    strncat(s->names, one, sizeof s->names - strlen(s->names) - 1);
    s->n++;
    return 0;
}

static int64_t add(struct store *s, struct token_row row)
{
    struct err err;
    int64_t id = 0;
    row.name = row.name ? row.name : "";
    row.user = "ann";
    row.role = row.role ? row.role : "user";
    assert_ok(store_token_add(s, &row, &id, &err), err);
    return id;
}

static unsigned find(struct store *s, const char *hash)
{
    struct seen seen = {0};
    struct err err;
    assert_ok(store_token_find(s, hash, see, &seen, &err), err);
    return seen.n;
}

static void assert_list(struct store *s, const char *want)
{
    struct seen seen = {0};
    struct err err;
    assert_ok(store_token_list(s, see, &seen, &err), err);
    assert_string_equal(seen.names, want);
}

static void test_tokens(void **state)
{
    const struct store_dir *d = *state;
    struct store *s = store_dir_open(d);
    struct err err;
    add(s, (struct token_row){.name = "b", .hash = "h1", .role = "admin"});
    int64_t id = add(s, (struct token_row){.name = "a", .hash = "h2"});
    assert_list(s, "a:user b:admin ");
    struct token_row again = {.name = "a", .user = "ann", .role = "user", .hash = "h3"};
    assert_error(store_token_add(s, &again, NULL, &err), err, ERR_CONFLICT,
                 "a token 'a' already exists");
    assert_int_equal(find(s, "h1"), 1);
    assert_int_equal(find(s, "none"), 0);
    assert_ok(store_token_delete(s, id, &err), err);
    assert_list(s, "b:admin ");
    store_close(s);
}

/* A token ends with the sessions that began with it, and those that began with these. */
static void test_sessions(void **state)
{
    const struct store_dir *d = *state;
    struct store *s = store_dir_open(d);
    struct err err;
    int64_t token = add(s, (struct token_row){.name = "t", .hash = "t"});
    int64_t child =
        add(s, (struct token_row){.session = true, .hash = "s1", .expires = 100, .parent = token});
    add(s, (struct token_row){.session = true, .hash = "s2", .expires = 300, .parent = child});
    add(s, (struct token_row){.session = true, .hash = "s3", .expires = 300});
    add(s, (struct token_row){.session = true, .hash = "s4", .expires = 50});
    assert_list(s, "t:user ");
    assert_ok(store_token_sweep(s, 50, &err), err);
    assert_int_equal(find(s, "s4"), 0);
    assert_int_equal(find(s, "s1"), 1);
    assert_ok(store_token_delete(s, token, &err), err);
    assert_int_equal(find(s, "s1") + find(s, "s2") + find(s, "t"), 0);
    assert_int_equal(find(s, "s3"), 1);
    store_close(s);
}

static const struct CMUnitTest tests[] = {STORE_TEST(test_tokens), STORE_TEST(test_sessions)};

int main(void)
{
    return RUN(tests);
}
