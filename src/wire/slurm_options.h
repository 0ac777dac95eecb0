/* The options of sbatch(1), Slurm 22.05 to 24.11, that have no counterpart here. */
#ifndef WIRE_SLURM_OPTIONS_H
#define WIRE_SLURM_OPTIONS_H

enum slurm_takes {
    SLURM_NOTHING,
    SLURM_VALUE,
    SLURM_MAYBE, /* only after a = */
};

struct slurm_name {
    const char *name;
    char letter; /* 0 = none */
    enum slurm_takes takes;
};

/* Ends with a NULL name. */
extern const struct slurm_name slurm_ignored[];

#endif
