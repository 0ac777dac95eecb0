/* Puts our programs and the files of an attempt where its conductor will look for them: the work of
 * the init container on Kubernetes. */
#ifndef CONDUCTOR_INSTALL_H
#define CONDUCTOR_INSTALL_H

/* From the directory of this program and from `input` into `root`; the exit status. */
int install_run(const char *root, const char *input);

#endif
