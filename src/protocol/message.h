/* Messages between server and conductor: one JSON object a line, whose "type" names its
 * kind. What each kind has is a record; to_server.h and to_conductor.h list them.
 *
 * Versions: a member is added, never renamed or given another meaning, and is optional;
 * members and kinds that are not known are passed over. So a program of any version
 * understands any other, and the greetings carry the version for what has to differ. */
#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include "base/record.h"

/* 1 had no version in its greetings. */
enum { PROTOCOL_VERSION = 2 };

struct message_kind {
    const char *name;
    const struct record *body;
};

/* Adds the line: the kind, the members of the head (which may be NULL) and of the body. */
void message_encode(const struct message_kind *kind, const struct record *head,
                    const void *head_from, const void *body, struct str *out);

/* Reads the line. Fails when it is not a JSON object with a type: neither side writes that.
 * The caller drops the reference. */
int message_parse(const char *line, size_t n, struct json_t **object, struct err *err);

/* Finds its kind and reads its body. Returns the index of the kind; -1 when there is no
 * such, or a member is wrong. The body has room for any of them. */
int message_decode(const struct message_kind *kinds, size_t n_kinds, const struct json_t *object,
                   struct arena *a, void *body, struct err *err);

#endif
