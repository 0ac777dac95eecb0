/* Limits of a run in its configuration files and its script. */
#ifndef PROGRESS_SCRIPT_H
#define PROGRESS_SCRIPT_H

#include "progress/plan.h"

enum progress_file_kind {
    PROGRESS_FILE_OTHER,
    PROGRESS_FILE_CONFIG, /* YAML, JSON, TOML, INI ... */
    PROGRESS_FILE_SCRIPT, /* the program's text: Python, R, Julia */
};

/* Looks for limits in such a file: "epochs: 14", "max_iters = 2000", in a script also
 * the defaults of options and "for epoch in range(14)". `path` names it in `from`. */
void progress_script_read(struct progress_plan *p, enum progress_file_kind kind, const char *path,
                          const char *text, size_t n);

#endif
