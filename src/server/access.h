/* Who may do what. On the unix socket the kernel says who is connected: root and the owner of the
 * server are admins, others are users. Over TCP a token or the session of a browser says it. */
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/secret.h"
#include "base/time.h"
#include "http/request.h"

struct yard;

/* Each may do what those before it may. */
enum role {
    ROLE_NONE,
    ROLE_VIEWER, /* sees everything */
    ROLE_USER,   /* submits jobs, and changes its own */
    ROLE_ADMIN,
};

#define ROLE_WORDS "viewer|user|admin"
const char *role_name(enum role role);
/* ROLE_NONE if there is no such role. */
enum role role_parse(const char *name);

/* Name of the token that the server finds in its environment. */
#define ACCESS_ENV_TOKEN "TRAINYARD_TOKEN"

/* A secret that a client keeps: a token, a session, or the code in a link. */
enum { ACCESS_SECRET = 65, ACCESS_USER = 64 };

struct access {
    VEC(struct access_link {
        char hash[SECRET_HEX];
        struct caller caller;
        usec_t expires;
    })
    links;     /* that nobody has followed yet */
    char *url; /* where browsers reach the server; NULL = it does not listen on TCP */
};

/* Registers the token of the server's environment (NULL = none) as an admin's. If it is not the
 * one of the last start, sessions that began with that end. */
int access_open(struct yard *y, const char *token, struct err *err);
void access_close(struct yard *y);

/* Whether a client over TCP is known; fills *out. */
bool access_identify(struct yard *y, const struct request *q, struct caller *out);
/* The role of whoever sent the request. */
enum role access_role(const struct request *q);
/* The user on whose behalf the request acts. */
void access_user(const struct request *q, char *out, size_t size);

struct access_token {
    const char *name, *user;
    enum role role;
    usec_t expires; /* 0 = never */
};

/* Makes a token; `secret` is the only place where it is written. */
int access_create(struct yard *y, const struct access_token *token, char secret[ACCESS_SECRET],
                  struct err *err);
/* Ends a token and its sessions. */
int access_revoke(struct yard *y, int64_t id, struct err *err);

/* Begins the session of a browser. */
int access_begin_session(struct yard *y, const struct caller *caller, usec_t expires,
                         char secret[ACCESS_SECRET], struct err *err);
/* Makes a link that logs a browser in once; `code` goes into the link. */
int access_make_link(struct yard *y, const struct caller *caller, usec_t expires,
                     char code[ACCESS_SECRET], struct err *err);
/* Whether the code was valid, which it is no longer; fills *out. */
bool access_follow_link(struct yard *y, const char *code, struct caller *out);

#endif
