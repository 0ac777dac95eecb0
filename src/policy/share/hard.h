/* What sharers that divide nothing have in common. */
#ifndef POLICY_SHARE_HARD_H
#define POLICY_SHARE_HARD_H

#include "model/plan.h"

/* Limits each job on CPUs to those that it is granted. */
void share_limit_to_grants(struct plan *plan);

#endif
