/* Owns the environment that has our libraries loaded into a job. A program that was built with
 * AddressSanitizer refuses to run after a library that it did not expect. Ours replace nothing
 * that it intercepts, so it is asked not to check. */
#include "conductor/preload.h"

#include <string.h>

#define LINK_ORDER "verify_asan_link_order"

static void calm_sanitizer(struct launch_spec *spec, struct arena *a)
{
    const char *own = launch_spec_get(spec, "ASAN_OPTIONS");
    if (own && strstr(own, LINK_ORDER))
        return;
    launch_spec_set(spec, a, "ASAN_OPTIONS", "%s%s" LINK_ORDER "=0", own ? own : "",
                    own && *own ? ":" : "");
}

void preload_add(struct launch_spec *spec, struct arena *a, const char *library)
{
    const char *own = launch_spec_get(spec, "LD_PRELOAD");
    bool preloads = own && *own;
    launch_spec_set(spec, a, "LD_PRELOAD", "%s%s%s", library, preloads ? " " : "",
                    preloads ? own : "");
    calm_sanitizer(spec, a);
}
