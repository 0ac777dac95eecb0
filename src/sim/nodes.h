/* Cluster specifications: "16x4" (nodes x GPUs), "4x8c" (cores), mixed types
 * "6x4:t4,2x8:a100", "2x4+32c" (both), "4x8c@64g" (memory), "4x8c/tpu=2" (other devices), or a
 * file. */
#ifndef SIM_NODES_H
#define SIM_NODES_H

#include "model/cluster.h"

/* What begins with a digit is a specification, all else the path of a file:
 * one node a line (name,cpus,gpus,type,memory,devices) or Tiresias' specification.
 * Everything lives in the arena. Nodes are named n1, n2, ... unless a file
 * names them. Node task vectors are empty. A GPU type that is not named is
 * "gpu"; a GPU node has the CPUs that it states, else none. */
int nodes_parse(const char *spec, struct arena *a, struct cluster *out, struct err *err);

/* A file that is in memory; `name` is for messages. */
int nodes_parse_file(const char *name, const char *text, size_t n, struct arena *a,
                     struct cluster *out, struct err *err);

#endif
