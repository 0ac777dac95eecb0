/* Notifications: what they are about, and where they go. Pure. */
#ifndef WIRE_NOTICE_H
#define WIRE_NOTICE_H

#include "base/err.h"
#include "base/str.h"

/* Bits. */
enum notice_event {
    NOTICE_START = 1 << 0,    /* an attempt has started */
    NOTICE_END = 1 << 1,      /* the job is over, however it ended */
    NOTICE_FAIL = 1 << 2,     /* it failed, exceeded its time limit or was lost */
    NOTICE_STALL = 1 << 3,    /* it makes no progress any more */
    NOTICE_NAN = 1 << 4,      /* its loss is not a number */
    NOTICE_DEADLINE = 1 << 5, /* it will most likely miss its deadline */
    NOTICE_NODE = 1 << 6,     /* its node does not respond */
};

/* All but starts. */
#define NOTICE_DEFAULT                                                                             \
    (NOTICE_END | NOTICE_FAIL | NOTICE_STALL | NOTICE_NAN | NOTICE_DEADLINE | NOTICE_NODE)
#define NOTICE_WORDS "start,end,fail,stall,nan,deadline,node"

/* The name of one event. */
const char *notice_event_name(unsigned event);
/* Reads "end,fail" or "all". */
int notice_events_parse(const char *text, unsigned *out, struct err *err);

enum notice_kind { NOTICE_WEBHOOK, NOTICE_SLACK, NOTICE_NTFY, NOTICE_COMMAND, NOTICE_MAIL };

struct notice_target {
    enum notice_kind kind;
    const char *address; /* within the text that was parsed */
};

/* The address of mail to the job's user. */
#define NOTICE_USER "$USER"

/* Reads "webhook:URL", "slack:URL", "ntfy:URL", "command:LINE" or "mail:ADDRESS". */
int notice_target_parse(const char *text, struct notice_target *out, struct err *err);
/* Appends the target without what is secret in it: of a URL only the host. */
void notice_target_show(const char *text, struct str *out);

#endif
