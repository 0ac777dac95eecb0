/* A stand-in for trainyard-conductor in tests of the runtime: it claims the attempt, does
 * with its job what spec.json says of cgroups, CPUs and nice value, and records the end. A
 * test program calls conduct_if_asked() first in main() and names itself in
 * TRAINYARD_CONDUCTOR. */
#ifndef SUPPORT_CONDUCT_H
#define SUPPORT_CONDUCT_H

/* Files in the state directory: with the first a conductor claims nothing before the second is
 * there. */
#define CONDUCT_HOLD "hold"
#define CONDUCT_GO "go"

/* Does not return when the program was started as a conductor. */
void conduct_if_asked(int argc, char **argv);

/* What all processes of a state directory's jobs are called: "yard" and the last six
 * letters of the directory, which is all of `path`, or what stands in it before
 * "/jobs/". */
const char *conduct_name(const char *path);

#endif
