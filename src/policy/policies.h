/* Every policy by name, for the registry. */
#ifndef POLICY_POLICIES_H
#define POLICY_POLICIES_H

#include "policy/policy.h"

/* allocators */
extern const struct policy policy_hesrpt, policy_gavel, policy_makespan, policy_muri,
    policy_shockwave, policy_pollux, policy_sia;
extern const struct policy policy_fifo, policy_srjf, policy_srtf, policy_srsf, policy_edf,
    policy_las, policy_gittins, policy_elastic_fifo, policy_elastic_srjf, policy_elastic_las,
    policy_ffdl, policy_afs_l, policy_optimus, policy_equal, policy_deadline, policy_auto;
/* placers */
extern const struct policy policy_first_fit, policy_round_robin, policy_spread, policy_best_fit,
    policy_specon;
/* sharers */
extern const struct policy policy_free, policy_hard, policy_flowcon, policy_target, policy_pack;

#endif
