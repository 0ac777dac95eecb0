/* The dashboard: a page and its files, which are part of the program. */
#ifndef SERVER_API_PAGES_H
#define SERVER_API_PAGES_H

#include "http/router.h"

/* Ends with {0}. */
extern const struct route page_routes[];

#endif
