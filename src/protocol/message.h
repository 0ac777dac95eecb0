/* Messages between server and conductor: one JSON object per line, whose "type" names its kind. The
 * content of each kind is a record; to_server.h and to_conductor.h list them.
 *
 * Versions: members are only added, never renamed or redefined, and new members are optional.
 * Unknown members and kinds are ignored. So programs of all versions understand each other; the
 * greetings carry the version for behaviour that must differ. */
#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include "base/record.h"

/* Version 1 had no version in its greetings. */
enum { PROTOCOL_VERSION = 2 };

struct message_kind {
    const char *name;
    const struct record *body;
};

/* Appends the line: the kind, the members of the head (which may be NULL) and of the body. */
void message_encode(const struct message_kind *kind, const struct record *head,
                    const void *head_from, const void *body, struct str *out);

/* Parses the line. Fails if it is not a JSON object with a type; neither side sends that. The
 * caller owns the reference. */
int message_parse(const char *line, size_t n, struct json_t **object, struct err *err);

/* Finds the kind and decodes the body. Returns the index of the kind; -1 if it is unknown or a
 * member is invalid. The body has room for any kind. */
int message_decode(const struct message_kind *kinds, size_t n_kinds, const struct json_t *object,
                   struct arena *a, void *body, struct err *err);

#endif
