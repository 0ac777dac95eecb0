/* Kubernetes' own front door: TrainingJob objects of the namespace become jobs. Each is submitted
 * once, whatever happens meanwhile; its status follows the job; deleting it cancels the job, and
 * scaling it resizes the job. */
#ifndef SERVER_KUBERNETES_FRONT_H
#define SERVER_KUBERNETES_FRONT_H

#include "base/err.h"
#include "base/time.h"

struct kube_front;
struct kube_options;
struct yard;

int kube_front_open(struct yard *y, const struct kube_options *options, struct kube_front **out,
                    struct err *err);
/* NULL is allowed. */
void kube_front_close(struct kube_front *f);

/* Engine time at which to call kube_front_turn(); NULL is allowed: never. */
usec_t kube_front_due(const struct kube_front *f);
void kube_front_turn(struct kube_front *f, usec_t now);

#endif
