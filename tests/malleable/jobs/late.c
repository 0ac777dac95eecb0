/* A program without OpenMP that loads a library with it when it is told to, for itself
 * alone, and unloads it: "load PATH", "region" (prints the threads), "unload". */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4096], path[4000];
    void *library = NULL;
    int (*region)(void) = NULL;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "load %3999s", path) == 1) {
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* NOLINT: it is the subject */
            region = library ? (int (*)(void))dlsym(library, "late_region") : NULL;
            puts(region ? "loaded" : dlerror());
        } else if (!strcmp(line, "region\n") && region) {
            printf("%d\n", region());
        } else if (!strcmp(line, "unload\n") && library) {
            printf("%d\n", dlclose(library));
            library = NULL;
            region = NULL;
        }
        fflush(stdout);
    }
    return 0;
}
