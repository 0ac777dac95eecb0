/* `trainyard-conductor link DIRECTORY`: connects the conductor of the attempt in the directory
 * with its own standard streams. An engine runs it inside the job's container for the server,
 * which is at the other end of these streams. */
#ifndef CONDUCTOR_RELAY_H
#define CONDUCTOR_RELAY_H

/* Runs until either side hangs up; returns the exit status. */
int relay_run(int dir);

#endif
