/* #SBATCH options as fields of a job request. Some of Slurm's sizes follow from several options
 * (CPUs per task and tasks, memory per CPU), so the numbers are collected first. */
#ifndef WIRE_SLURM_H
#define WIRE_SLURM_H

#include "wire/script_options.h"
#include "wire/spec.h"

/* A number and where it was given; the place has no file when it was not. */
struct slurm_number {
    int64_t value;
    struct spec_place place;
};

struct slurm {
    struct spec *s;
    struct spec_list *ignored; /* in the request's arena */
    struct slurm_number tasks, node_tasks, task_cpus, gpu_cpus, gpus, task_gpus;
    struct slurm_number memory, cpu_memory, gpu_memory; /* MB */
    bool mails;                                         /* --mail-type names an event */
    const char *mail_user;                              /* as a target; NULL = not given */
    struct spec_place now;                              /* of the option being read */
};

/* Reads the options of one line. An option without a counterpart is added to `ignored`; a
 * misspelled one is an error. */
int slurm_take(struct slurm *x, struct script_words *words, struct err *err);

/* Sets what follows from several options. */
int slurm_finish(struct slurm *x, struct err *err);

#endif
