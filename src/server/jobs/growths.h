/* The series of growth efficiency that policies have measured. */
#ifndef SERVER_JOBS_GROWTHS_H
#define SERVER_JOBS_GROWTHS_H

struct yard;

/* Keeps what was measured in the engine's last step. */
void growths_keep(struct yard *y);

#endif
