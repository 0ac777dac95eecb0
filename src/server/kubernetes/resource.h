/* The custom resource TrainingJob (trainyard.dev/v1): what is read from such objects, and the
 * status that they get. Pure. */
#ifndef SERVER_KUBERNETES_RESOURCE_H
#define SERVER_KUBERNETES_RESOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define RESOURCE_GROUP "trainyard.dev"
#define RESOURCE_VERSION "v1"
#define RESOURCE_KIND "TrainingJob"
#define RESOURCE_PLURAL "trainingjobs"
/* Keeps an object until its job has ended. */
#define RESOURCE_FINALIZER "trainyard.dev/job"

/* Texts are borrowed from the object. */
struct resource {
    const char *uid, *name, *version;
    int64_t generation;
    bool deleting;
    bool kept; /* it has our finaliser */
    const json_t *spec, *status;
    int64_t replicas; /* that `kubectl scale` has asked for; 0 = it has not */
};

/* False if it is not such an object. */
bool resource_read(const json_t *object, struct resource *out);
/* The job request in it, a new reference: its name is the object's unless it has another. */
json_t *resource_request(const struct resource *r);

/* A patch (merge) that adds or removes our finaliser, if nobody has changed the object meanwhile.
 */
json_t *resource_finalizer_patch(const json_t *object, bool add);

/* What the status of an object is made of. */
struct resource_news {
    const json_t *job;   /* as the API shows it; NULL = there is none */
    const char *problem; /* why it was refused, or cannot be resized; "" = nothing */
    bool refused;
    int64_t generation; /* that was looked at */
    usec_t now;         /* wall time */
};
/* The new status, with null for what does not apply. `old` is the one before; NULL = none. */
json_t *resource_status(const struct resource_news *n, const json_t *old);
/* Whether users should see the change at once, and not with the next progress. */
bool resource_status_urgent(const json_t *before, const json_t *after);
/* An event of the core API that tells of the state in the status. Its name follows from object,
 * state and attempt, so the same event is created once. */
json_t *resource_event(const struct resource *r, const char *namespace, const json_t *status,
                       usec_t now);

#endif
