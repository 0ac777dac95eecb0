/* Delivers the messages of the outbox: each by a process of its own (trainyard deliver), so that a
 * name server, a mail program or a command that hangs does not hold up the server. A message that
 * cannot be delivered is tried again, less and less often, for a day. */
#ifndef SERVER_NOTICES_DELIVER_H
#define SERVER_NOTICES_DELIVER_H

struct yard;

void deliver_open(struct yard *y);
/* Ends deliveries that are under way; the next server repeats them. */
void deliver_close(struct yard *y);
/* Messages of this turn are on disk. */
void deliver_committed(struct yard *y);

#endif
