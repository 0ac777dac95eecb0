/* Owns tokens, sessions and links: how a client becomes a user with a role.
 *
 * Secrets are random numbers of 256 bits, so one round of SHA-256 keeps them from whoever reads
 * the database, and looking a hash up tells nothing about others. Links are in memory only: they
 * last a minute. */
#include "server/access.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/token.h"
#include "server/log.h"
#include "server/yard.h"
#include "store/tokens.h"

/* How exactly the last use of a token is known, so that not every request writes. */
#define USED_STEP (10 * 60 * USEC_PER_SEC)

/* The user of requests with the server's own token, if they do not name another one. */
#define ENV_USER "api"

/* ---- roles ----------------------------------------------------------------- */

static const char *const role_names[] = {"", "viewer", "user", "admin"};

const char *role_name(enum role role)
{
    return role_names[role];
}

enum role role_parse(const char *name)
{
    for (enum role r = ROLE_VIEWER; r <= ROLE_ADMIN; r++)
        if (!strcmp(role_names[r], name))
            return r;
    return ROLE_NONE;
}

enum role access_role(const struct request *q)
{
    const struct peer *p = q->peer;
    if (!p->local)
        return q->caller.role;
    return p->uid == 0 || p->uid == geteuid() ? ROLE_ADMIN : ROLE_USER;
}

void access_user(const struct request *q, char *out, size_t size)
{
    char buf[4096];
    struct passwd entry, *found = NULL;
    if (!q->peer->local)
        snprintf(out, size, "%s", q->caller.user);
    else if (getpwuid_r(q->peer->uid, &entry, buf, sizeof buf, &found) == 0 && found)
        snprintf(out, size, "%s", found->pw_name);
    else
        snprintf(out, size, "%lu", (unsigned long)q->peer->uid);
}

/* ---- recognising clients --------------------------------------------------- */

struct search {
    struct yard *y;
    struct caller caller;
    bool session;
    bool found;
};

static int take_row(void *ctx, const struct token_row *row, struct err *err)
{
    struct search *s = ctx;
    usec_t now = clock_wall(&s->y->clock);
    (void)err;
    if (row->expires && row->expires <= now)
        return 1;
    s->found = true;
    s->session = row->session;
    s->caller = (struct caller){.token = row->id, .role = role_parse(row->role)};
    snprintf(s->caller.user, sizeof s->caller.user, "%s", row->user);
    if (now - row->used > USED_STEP && store_token_touch(s->y->store, row->id, now, err) < 0)
        log_warning("cannot record the use of a token: %s", err->text);
    return 1;
}

static bool find_secret(struct yard *y, const char *secret, struct search *s)
{
    char hash[SECRET_HEX];
    struct err err;
    *s = (struct search){.y = y};
    secret_hash(secret, hash);
    if (store_token_find(y->store, hash, take_row, s, &err) < 0)
        log_warning("cannot read tokens: %s", err.text);
    return s->found;
}

bool access_identify(struct yard *y, const struct request *q, struct caller *out)
{
    const char *token = token_bearer(q), *cookie = token ? NULL : token_cookie(q);
    struct search s;
    if ((!token && !cookie) || !find_secret(y, token ? token : cookie, &s))
        return false;
    /* A cookie is no token: what a browser keeps must not work without its protection. */
    if (s.session != !token)
        return false;
    *out = s.caller;
    return true;
}

/* ---- tokens ---------------------------------------------------------------- */

static int add_secret(struct yard *y, struct token_row *row, char secret[ACCESS_SECRET],
                      struct err *err)
{
    char hash[SECRET_HEX];
    if (secret_random(secret, ACCESS_SECRET, err) < 0)
        return -1;
    secret_hash(secret, hash);
    row->hash = hash;
    row->created = clock_wall(&y->clock);
    int rc = store_token_add(y->store, row, NULL, err);
    row->hash = NULL;
    return rc;
}

int access_create(struct yard *y, const struct access_token *token, char secret[ACCESS_SECRET],
                  struct err *err)
{
    struct token_row row = {.name = token->name,
                            .user = token->user,
                            .role = role_name(token->role),
                            .expires = token->expires};
    return add_secret(y, &row, secret, err);
}

int access_revoke(struct yard *y, int64_t id, struct err *err)
{
    return store_token_delete(y->store, id, err);
}

/* ---- the token of the environment ------------------------------------------ */

struct previous {
    int64_t id;
    char hash[SECRET_HEX];
};

static int take_previous(void *ctx, const struct token_row *row, struct err *err)
{
    struct previous *p = ctx;
    (void)err;
    if (strcmp(row->name, ACCESS_ENV_TOKEN) != 0)
        return 0;
    p->id = row->id;
    snprintf(p->hash, sizeof p->hash, "%s", row->hash);
    return 1;
}

int access_open(struct yard *y, const char *token, struct err *err)
{
    struct previous before = {0};
    char hash[SECRET_HEX] = "";
    usec_t now = clock_wall(&y->clock);
    if (token)
        secret_hash(token, hash);
    if (store_token_sweep(y->store, now, err) < 0 ||
        store_token_list(y->store, take_previous, &before, err) < 0)
        return -1;
    if (!strcmp(before.hash, hash))
        return 0;
    if (before.id && store_token_delete(y->store, before.id, err) < 0)
        return -1;
    struct token_row row = {.name = ACCESS_ENV_TOKEN,
                            .user = ENV_USER,
                            .role = role_name(ROLE_ADMIN),
                            .hash = hash,
                            .created = now};
    return token ? store_token_add(y->store, &row, NULL, err) : 0;
}

void access_close(struct yard *y)
{
    VEC_DONE(&y->access.links);
    free(y->access.url);
    y->access = (struct access){0};
}

/* ---- browsers -------------------------------------------------------------- */

int access_begin_session(struct yard *y, const struct caller *caller, usec_t expires,
                         char secret[ACCESS_SECRET], struct err *err)
{
    struct token_row row = {.session = true,
                            .name = "",
                            .user = caller->user,
                            .role = role_name(caller->role),
                            .expires = expires,
                            .parent = caller->token};
    if (store_token_sweep(y->store, clock_wall(&y->clock), err) < 0)
        return -1;
    return add_secret(y, &row, secret, err);
}

static void drop_old_links(struct yard *y)
{
    usec_t now = clock_wall(&y->clock);
    size_t kept = 0;
    for (size_t i = 0; i < y->access.links.n; i++)
        if (y->access.links.at[i].expires > now)
            y->access.links.at[kept++] = y->access.links.at[i];
    y->access.links.n = kept;
}

int access_make_link(struct yard *y, const struct caller *caller, usec_t expires,
                     char code[ACCESS_SECRET], struct err *err)
{
    struct access_link link = {.caller = *caller, .expires = expires};
    drop_old_links(y);
    if (secret_random(code, ACCESS_SECRET, err) < 0)
        return -1;
    secret_hash(code, link.hash);
    VEC_PUSH(&y->access.links, link);
    return 0;
}

bool access_follow_link(struct yard *y, const char *code, struct caller *out)
{
    char hash[SECRET_HEX];
    secret_hash(code, hash);
    drop_old_links(y);
    for (size_t i = 0; i < y->access.links.n; i++) {
        struct access_link *l = &y->access.links.at[i];
        if (strcmp(l->hash, hash) != 0)
            continue;
        *out = l->caller;
        *l = y->access.links.at[--y->access.links.n];
        return true;
    }
    return false;
}
