/* Samples of how busy the cluster is: taken when it has changed, at most every 15 seconds. */
#ifndef SERVER_LOAD_H
#define SERVER_LOAD_H

#include "store/loads.h"

struct yard;

/* Something has happened: a sample is due soon. */
void load_changed(struct yard *y);
/* Takes the sample that is due. */
void load_turn(struct yard *y);
/* How busy the cluster is now, and then each of its nodes, as store_load_list() gives them. */
int load_now(const struct yard *y, store_load_fn fn, void *ctx, struct err *err);

#endif
