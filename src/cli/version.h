/* The version of this tree. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#include "base/version.h"

#endif
