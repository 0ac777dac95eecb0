/* Owns the list of environment variables, for the manual page. docs/jobs.md has the same list;
 * a test compares both with the sources. */
#include "cli/variables.h"

#include <stddef.h>

const struct variable variables_of_commands[] = {
    {"TRAINYARD_SERVER", "socket or URL of the server, unless --server is given"},
    {"TRAINYARD_TOKEN", "token for a server that is reached over TCP"},
    {"TRAINYARD_FINGERPRINT", "sha256//... of the key of a server with a certificate of its own"},
    {"TRAINYARD_STATE", "state directory of the server, unless --state is given"},
    {"NO_COLOR", "print no colours"},
    {NULL, NULL},
};

const struct variable variables_of_server[] = {
    {"TRAINYARD_STATE", "state directory, unless --state is given"},
    {"TRAINYARD_TOKEN", "token of an admin, for clients over TCP; at least 16 characters"},
    {"TRAINYARD_CONDUCTOR", "path of trainyard-conductor, the parent process of each job"},
    {"TRAINYARD_MALLEABLE", "path of the library that is preloaded into jobs; empty = none"},
    {"TRAINYARD_LINES",
     "path of the library that makes C programs print line by line; empty = none"},
    {"TRAINYARD_TORCHRUN", "path of the launcher for jobs with resize: torchrun"},
    {"TRAINYARD_HOSTS", "path of the host discovery script for jobs with resize: horovod"},
    {"TRAINYARD_PYTHON", "directory of the Python package that jobs can import; empty = none"},
    {"TRAINYARD_SENDMAIL", "program that sends mail, instead of /usr/sbin/sendmail"},
    {"TRAINYARD_SSH", "program that is run instead of ssh to reach container engines"},
    {NULL, NULL},
};

const struct variable variables_of_jobs[] = {
    {"TRAINYARD_JOB_ID", "number of the job"},
    {"TRAINYARD_JOB_NAME", "name of the job"},
    {"TRAINYARD_ATTEMPT", "number of the attempt, counted from 1"},
    {"TRAINYARD_CPUS", "CPUs at the start"},
    {"TRAINYARD_GPUS", "GPUs at the start"},
    {"TRAINYARD_NODES", "number of nodes"},
    {"TRAINYARD_NODE_RANK", "number of this node, counted from 0"},
    {"TRAINYARD_NODE_ADDR", "address of this node"},
    {"TRAINYARD_MASTER_ADDR", "address of the first node"},
    {"TRAINYARD_MASTER_PORT", "a port there for the job's own use"},
    {"TRAINYARD_HOSTFILE", "file with a line \"ADDRESS slots=N\" for each node"},
    {"TRAINYARD_CHECKPOINT_DIR", "directory for checkpoints; it exists, and all attempts share it"},
    {"TRAINYARD_CHECKPOINT_SIGNAL", "number of the checkpoint signal, unless it is SIGTERM"},
    {"TRAINYARD_PROGRESS", "file to which the job can append its progress as JSON lines"},
    {"TRAINYARD_STDOUT", "pipe of its output, for the library that makes it print line by line"},
    {"TRAINYARD_CONTROL", "file that holds the current number of threads or workers"},
    {"TRAINYARD_ARRAY_JOB", "in an array: number of its first job"},
    {"TRAINYARD_ARRAY_INDEX", "in an array: index of this job, also as SLURM_ARRAY_TASK_ID"},
    {"TRAINYARD_WORKERS", "with a launcher: number of workers at the start"},
    {"TRAINYARD_WORKERS_MIN", "with a launcher: fewest workers"},
    {"TRAINYARD_WORKERS_MAX", "with a launcher: most workers"},
    {"TRAINYARD_CPUS_PER_WORKER", "with a launcher: CPUs of each worker"},
    {"TRAINYARD_GRACE", "with resize: torchrun, seconds for a worker to end at a resize (60)"},
    {"TRAINYARD_HOST_DISCOVERY", "with resize: horovod, path of the host discovery script"},
    {"PYTHONPATH", "has the package trainyard, unless the job sets TRAINYARD_PYTHON=no"},
    {"CUDA_VISIBLE_DEVICES", "GPUs of the job, by UUID"},
    {"OMP_NUM_THREADS", "the most CPUs that it may hold, unless you have set it"},
    {"GOMAXPROCS", "the same, for programs in Go; for jobs that are resized in place"},
    {"GOMP_SPINCOUNT",
     "1000: waiting OpenMP threads soon sleep; for jobs that are resized in place"},
    {"LD_PRELOAD", "has the libraries for live resizing and for output line by line"},
    {"ASAN_OPTIONS", "has verify_asan_link_order=0, for programs built with AddressSanitizer"},
    {NULL, NULL},
};
