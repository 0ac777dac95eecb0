/* Owns the list of policies and presets. */
#include "policy/registry.h"

#include <string.h>

#include "policy/policies.h"

const struct policy *const policies[] = {
    &policy_fifo,         &policy_srjf,
    &policy_srtf,         &policy_srsf,
    &policy_edf,          &policy_las,
    &policy_gittins,      &policy_elastic_fifo,
    &policy_elastic_srjf, &policy_elastic_las,
    &policy_ffdl,         &policy_afs_l,
    &policy_optimus,      &policy_equal,
    &policy_hesrpt,       &policy_gavel,
    &policy_makespan,     &policy_muri,
    &policy_shockwave,    &policy_pollux,
    &policy_sia,          &policy_deadline,
    &policy_auto,         &policy_first_fit,
    &policy_round_robin,  &policy_spread,
    &policy_best_fit,     &policy_specon,
    &policy_free,         &policy_hard,
    &policy_flowcon,      &policy_target,
    &policy_pack,         NULL,
};

const struct preset presets[] = {
    {"schedulearn-fifo", "Schedulearn's FIFO: fill the servers in order",
     "allocate=fifo,place=first-fit,share=hard"},
    {"schedulearn-rr", "Schedulearn's Round Robin: the servers take turns",
     "allocate=fifo,place=round-robin,share=hard"},
    {"docker", "containers without limits, the baseline (NA) of FlowCon",
     "allocate=fifo,place=spread,share=free"},
    {"flowcon", "FlowCon: CPU limits follow each job's growth efficiency",
     "allocate=fifo,place=spread,share=flowcon"},
    {"kubernetes", "the default scheduler (DS) that SpeCon is compared with",
     "allocate=fifo,place=spread:by=usage,share=free"},
    {"specon", "SpeCon: converged jobs make room on their node",
     "allocate=fifo,place=specon,share=free"},
    {"voda-elastic-fifo", "Voda's ElasticFIFO", "allocate=elastic-fifo,place=best-fit,share=hard"},
    {"voda-elastic-srjf", "Voda's ElasticSRJF", "allocate=elastic-srjf,place=best-fit,share=hard"},
    {"voda-elastic-las", "Voda's ElasticTiresias",
     "allocate=elastic-las,place=best-fit,share=hard"},
    {"voda-ffdl", "Voda's FfDL optimizer", "allocate=ffdl,place=best-fit,share=hard"},
    {"voda-afs-l", "Voda's AFS-L", "allocate=afs-l,place=best-fit,share=hard"},
    {"qos", "deadlines first: resources are configured to meet them",
     "allocate=deadline,place=best-fit,share=hard"},
    {"malleable", "malleable co-scheduling: a node's cores divided evenly",
     "allocate=equal,place=spread,share=hard"},
    {"static", "each job keeps the cores that it requested: the baseline of malleable",
     "allocate=equal:variant=static,place=spread,share=hard"},
    {"tiresias", "Tiresias: least attained service", "allocate=las,place=best-fit,share=hard"},
    {"tradl", "TRADL: jobs past their target fall to the floor",
     "allocate=fifo,place=spread,share=target"},
    {0},
};

const struct policy *registry_find_policy(const char *name, size_t length)
{
    for (size_t i = 0; policies[i]; i++)
        if (strlen(policies[i]->name) == length && !strncmp(policies[i]->name, name, length))
            return policies[i];
    return NULL;
}

const struct preset *registry_find_preset(const char *name, size_t length)
{
    for (size_t i = 0; presets[i].name; i++)
        if (strlen(presets[i].name) == length && !strncmp(presets[i].name, name, length))
            return &presets[i];
    return NULL;
}
