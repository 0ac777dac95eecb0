/* How numbers and curves are spelt in our own CSV, in both directions. What is
 * written is read back to the last bit. */
#ifndef SIM_TRACE_SPELLING_H
#define SIM_TRACE_SPELLING_H

#include "base/str.h"
#include "model/cluster.h"
#include "model/job.h"

/* Speed curves as a job has them. */
struct spelt_speeds {
    const struct speed *at;
    uint8_t n;
};

/* "1/1.785/2.5" is the speed on 1, 2 and 3 units, "-" marks a size that does
 * not run. "t4=1/1.8 a100=2/3.7" gives a curve for each GPU type of the
 * cluster, all of which must be there. */
int speeds_parse(const char *text, const struct cluster *c, struct arena *a,
                 struct spelt_speeds *out, struct err *err);
/* Nothing for a linear curve. `types` names the GPU pools. */
void speeds_print(struct str *s, const struct job *j, const char *const *types);

/* "exp:5.2", "inverse:a:b:c", "power:a:b:c", "none". */
int loss_parse(const char *text, struct loss *out, struct err *err);
void loss_print(struct str *s, const struct loss *l);

/* The shortest decimal that is read back as the same number. */
void number_print(struct str *s, double x);
/* Thousandths: 1500 is "1.5". */
void units_print(struct str *s, units_t n);
/* Microseconds as seconds with what decimals they need. */
void seconds_print(struct str *s, usec_t t);
/* The same for work, which may have fractions of a microsecond: "2.5us". */
void work_print(struct str *s, double work);

#endif
