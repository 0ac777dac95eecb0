/* Files that clients have uploaded for their jobs: archives in the state directory, named by the
 * digest of their content. */
#ifndef SERVER_UPLOADS_H
#define SERVER_UPLOADS_H

#include "server/yard.h"
#include "wire/digest.h"

/* The most that one upload may have. */
#define UPLOADS_MAX (INT64_C(2) << 30)

/* An upload that is not complete. */
struct upload {
    char digest[DIGEST_SIZE];
    int fd;
    int64_t bytes;
    struct digest sum; /* of these */
};

void uploads_done(struct yard *y);

/* How many bytes of it there are; *complete if that is all. */
int64_t uploads_known(const struct yard *y, const char *digest, bool *complete);
/* Takes the next bytes, which must begin where the last ones ended. With `last` the content must
 * have the digest; otherwise it is dropped. */
int uploads_take(struct yard *y, const char *digest, int64_t offset, const char *bytes, size_t n,
                 bool last, struct err *err);
/* Its path; the caller frees it. NULL if it is not there. It is kept for another while. */
char *uploads_use(const struct yard *y, const char *digest);
/* Deletes those that no job has needed for as long as events are kept. */
void uploads_trim(const struct yard *y);

#endif
