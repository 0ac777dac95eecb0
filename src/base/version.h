/* The version of this tree. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define TRAINYARD_VERSION "0.1.0"

#endif
