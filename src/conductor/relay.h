/* `trainyard-conductor link DIRECTORY`: connects the conductor of the attempt in this directory
 * with standard input and output. An engine runs it inside the job's container; the server is at
 * the other end of the streams. */
#ifndef CONDUCTOR_RELAY_H
#define CONDUCTOR_RELAY_H

/* Runs until either side hangs up; returns the exit status. */
int relay_run(int dir);

#endif
