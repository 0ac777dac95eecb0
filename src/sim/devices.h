/* The spelling of devices in cluster specifications and traces: "tpu=2/fpga=1". */
#ifndef SIM_DEVICES_H
#define SIM_DEVICES_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/devices.h"

/* Reads n bytes of text. `names` has DEVICES_MAX entries, NULL after the last name. A kind that is
 * not among them is added, its name copied to the arena; without an arena it is an error. */
int devices_parse(const char *text, size_t n, const char **names, struct arena *a,
                  struct devices *out, struct err *err);
/* The same text back; nothing for no devices. */
void devices_print(struct str *s, const char *const *names, const struct devices *d);

#endif
