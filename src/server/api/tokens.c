/* Owns the endpoints that make, list and revoke tokens. Users see and revoke those that act on
 * their behalf; admins see and revoke all. */
#include <stdio.h>
#include <string.h>

#include "server/api/call.h"
#include "server/api/parts.h"
#include "store/tokens.h"

struct token_view {
    const char *name, *user, *role;
    double created, expires, used;
};

static const struct api_member token_members[] = {
    API_STRING(token_view, name, "Name"),
    API_STRING(token_view, user, "User on whose behalf it acts"),
    API_WORD(token_view, role, "Role", "What it may do"),
    API_NUMBER_OR_NULL(token_view, created, "When it was made"),
    API_NUMBER_OR_NULL(token_view, expires, "When it ends; null = never"),
    API_NUMBER_OR_NULL(token_view, used, "When it was last used, to ten minutes"),
    {0},
};

static const struct api_member role_words[] = {API_MEMBER("", ROLE_WORDS, ""), {0}};
static const struct api_schema role_schema = {"Role", API_WORDS, .members = role_words};
static const struct api_schema token_schema = {"Token", .members = token_members};

static json_t *print_token(const struct token_row *row)
{
    struct token_view v = {row->name,
                           row->user,
                           row->role,
                           api_seconds(row->created),
                           api_seconds(row->expires),
                           api_seconds(row->used)};
    return api_print(&token_schema, &v);
}

/* ---- listing --------------------------------------------------------------- */

static const struct api_member list_members[] = {
    API_MEMBER("tokens", "Token[]", "By name"),
    {0},
};
static const struct api_schema list_schema = {"TokenList", .members = list_members};

struct listing {
    const char *user; /* NULL = all */
    json_t *list;
};

static int add_token(void *ctx, const struct token_row *row, struct err *err)
{
    struct listing *l = ctx;
    (void)err;
    if (!l->user || !strcmp(l->user, row->user))
        json_array_append_new(l->list, print_token(row));
    return 0;
}

static void list_tokens(const struct api_call *c)
{
    char user[ACCESS_USER];
    struct err err;
    access_user(c->request, user, sizeof user);
    struct listing l = {c->role == ROLE_ADMIN ? NULL : user, json_array()};
    if (store_token_list(c->yard->store, add_token, &l, &err) < 0) {
        json_decref(l.list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    reply_json(c->reply, 200, json_pack("{s:o}", "tokens", l.list));
}

/* ---- making ---------------------------------------------------------------- */

static const struct api_member request_members[] = {
    API_MEMBER("name", "string", "Name, by which it is revoked"),
    API_MEMBER("role", "string", "What it may do: viewer, user or admin; not more than you may"),
    API_MEMBER("user", "?string", "On whose behalf it acts; only an admin may name another user"),
    API_MEMBER("expires", "?string", "How long it lasts, such as 90d; by default for ever"),
    {0},
};
static const struct api_schema request_schema = {"TokenRequest", .members = request_members};

static const struct api_member new_members[] = {
    API_MEMBER("token", "string", "The token; it is not shown again"),
    {0},
};
static const struct api_schema new_schema = {"NewToken", .base = &token_schema,
                                             .members = new_members};

static const char *text_of(const struct api_call *c, const char *name)
{
    return json_string_value(json_object_get(c->body, name));
}

static bool is_name(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && n < ACCESS_USER &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@+") == n;
}

/* `user` has the caller's name, which is the default. */
static bool read_token(const struct api_call *c, const char *caller, struct access_token *t)
{
    const char *lasts = text_of(c, "expires");
    struct err err;
    usec_t time = 0;
    t->name = text_of(c, "name");
    t->user = text_of(c, "user") ? text_of(c, "user") : caller;
    t->role = role_parse(text_of(c, "role"));
    if (!is_name(t->name) || !is_name(t->user)) {
        const char *field = is_name(t->name) ? "user" : "name";
        api_refuse(c, field, "must have 1 to 63 letters, digits or any of ._-@+");
        return false;
    }
    if (!t->role) {
        api_refuse(c, "role", "expected viewer, user or admin");
        return false;
    }
    if (lasts && (time_parse(lasts, &time, &err) < 0 || time <= 0)) {
        api_refuse(c, "expires", "expected a duration such as 90d");
        return false;
    }
    if (t->role > c->role) {
        err_set(&err, ERR_DENIED, "your role is %s; you cannot give the role %s",
                role_name(c->role), role_name(t->role));
        reply_problem(c->reply, &err, "role");
        return false;
    }
    t->expires = lasts ? clock_wall(&c->yard->clock) + time : 0;
    return api_may_change(c, t->user, "the token");
}

static void create_token(const struct api_call *c)
{
    char secret[ACCESS_SECRET], caller[ACCESS_USER];
    struct access_token t;
    struct err err;
    access_user(c->request, caller, sizeof caller);
    if (!read_token(c, caller, &t))
        return;
    if (access_create(c->yard, &t, secret, &err) < 0) {
        reply_problem(c->reply, &err, NULL);
        return;
    }
    struct token_row row = {.name = t.name,
                            .user = t.user,
                            .role = role_name(t.role),
                            .created = clock_wall(&c->yard->clock),
                            .expires = t.expires};
    json_t *token = print_token(&row);
    json_object_set_new(token, "token", json_string(secret));
    turn_reply(c->yard, c->reply, 201, token);
}

/* ---- revoking -------------------------------------------------------------- */

struct found_token {
    const char *name;
    int64_t id;
    json_t *token;
};

static int find_token(void *ctx, const struct token_row *row, struct err *err)
{
    struct found_token *f = ctx;
    (void)err;
    if (strcmp(row->name, f->name) != 0)
        return 0;
    f->id = row->id;
    f->token = print_token(row);
    return 1;
}

static void revoke_token(const struct api_call *c)
{
    struct found_token f = {.name = request_param(c->request, "token")};
    struct err err;
    int rc = store_token_list(c->yard->store, find_token, &f, &err);
    json_auto_t *token = f.token;
    if (rc == 0 && !f.id)
        rc = err_set(&err, ERR_NOT_FOUND, "no token '%.80s'; `trainyard token` lists them", f.name);
    else if (rc == 0 && !strcmp(f.name, ACCESS_ENV_TOKEN))
        rc = err_set(&err, ERR_CONFLICT,
                     "this token comes from the server's environment; start the server without "
                     "TRAINYARD_TOKEN");
    else if (rc == 0 &&
             !api_may_change(c, json_string_value(json_object_get(token, "user")), "the token"))
        return;
    if (rc == 0)
        rc = access_revoke(c->yard, f.id, &err);
    if (rc < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200, json_incref(token));
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&role_schema,    &token_schema, &list_schema,
                                                   &request_schema, &new_schema,   NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "tokens",
        .method = "GET",
        .path = API_V1 "/tokens",
        .handle = list_tokens,
        .summary = "List tokens",
        .description = "Admins see all tokens, others those that act on their behalf. What a token "
                       "itself is cannot be seen: only its hash is kept.",
        .replies = {{200, "TokenList", "The tokens"}},
    },
    {
        .name = "token_create",
        .method = "POST",
        .path = API_V1 "/tokens",
        .handle = create_token,
        .summary = "Make a token",
        .description = "For clients over TCP. It acts on behalf of whoever makes it, unless an "
                       "admin names another user.",
        .body = "TokenRequest",
        .body_example = "{\"name\":\"ci\",\"role\":\"user\",\"expires\":\"90d\"}",
        .replies = {{201, "NewToken", "The token; this is the only time that it is shown"}},
        .role = ROLE_VIEWER,
        .errors = {409},
    },
    {
        .name = "token_revoke",
        .method = "DELETE",
        .path = API_V1 "/tokens/{token}",
        .handle = revoke_token,
        .summary = "Revoke a token",
        .description = "Requests with it are refused from now on, and so are those of browsers "
                       "that logged in with it.",
        .replies = {{200, "Token", "The token that was revoked"}},
        .role = ROLE_VIEWER,
        .errors = {404, 409},
    },
    {0},
};

const struct api_part api_part_tokens = {"Access", endpoints, schemas};
