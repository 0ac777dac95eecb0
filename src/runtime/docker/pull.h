/* The download of an image: what its lines of progress add up to, and the credentials that the
 * docker client has for its registry. Pure, except for reading the client's file. */
#ifndef RUNTIME_DOCKER_PULL_H
#define RUNTIME_DOCKER_PULL_H

#include "base/str.h"
#include "runtime/docker/answers.h"

struct pull_layer {
    char id[32];
    int64_t current, total;
};

struct pull {
    struct str line; /* incomplete */
    VEC(struct pull_layer) layers;
    struct err err; /* what the engine says went wrong; ERR_OK = nothing */
    bool changed;   /* since the last pull_describe() */
};

/* Takes the next bytes of the engine's reply. */
void pull_feed(struct pull *p, const char *bytes, size_t n);
/* "pulling IMAGE: 12 of 340 MB". */
void pull_describe(struct pull *p, const char *image, struct str *out);
void pull_done(struct pull *p);

/* The registry of an image's name, as the client's configuration names it. */
void pull_registry(const char *image, struct str *out);
/* The name with its tag or digest apart: "latest" if it has neither. */
void pull_split(const char *image, struct str *name, struct str *tag);
/* The program that keeps the credentials for this registry, as the configuration says; nothing if
 * they are in the configuration itself. */
void pull_add_helper(const char *config, const char *registry, struct str *out);
/* The header with the credentials that are in this configuration, or nothing. */
void pull_add_credentials(const char *config, const char *registry, struct str *out);
/* The header with the credentials that a helper has printed, or nothing. */
void pull_add_secret(const char *output, const char *registry, struct str *out);

#endif
