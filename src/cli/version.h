/* The version of this tree. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#define TRAINYARD_VERSION "0.1.0"

#endif
