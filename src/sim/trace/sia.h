/* What Sia's simulator (SOSP'23) assumes of applications beyond their profiles. */
#ifndef SIM_TRACE_SIA_H
#define SIM_TRACE_SIA_H

#include "base/time.h"

struct sia_application {
    const char *name;
    usec_t restart;  /* how long a job stands still after a change */
    double slowdown; /* real runs took so much longer than the profiles say */
};

/* The application of this name; one of a general kind if Sia has no figures for it. */
const struct sia_application *sia_application(const char *name);

#endif
