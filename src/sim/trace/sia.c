/* Owns the constants of Sia's simulator (sia-simulator/applications.py and simulator_config.py of
 * its artifact). */
#include "sim/trace/sia.h"

#include <string.h>

#include "base/mem.h"

#define SECONDS(s) ((s)*USEC_PER_SEC)

static const struct sia_application known[] = {
    {"cifar10", SECONDS(50), 1.8}, {"deepspeech2", SECONDS(25), 1.2}, {"bert", SECONDS(120), 1.2},
    {"yolov3", SECONDS(80), 1.2},  {"imagenet", SECONDS(250), 1.2},   {"ncf", SECONDS(15), 1.5},
};
static const struct sia_application other = {"", SECONDS(30), 1};

const struct sia_application *sia_application(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (!strcmp(known[i].name, name))
            return &known[i];
    return &other;
}
