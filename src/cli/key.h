/* Keys, from the bytes that a terminal sends for them. Pure. */
#ifndef CLI_KEY_H
#define CLI_KEY_H

#include <stddef.h>

/* A printable key is its own character. */
enum key {
    KEY_NONE = 0, /* has no meaning here */
    KEY_ENTER = '\n',
    KEY_ESCAPE = 0x1b,
    KEY_UP = 0x100,
    KEY_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
};

/* Reads the first key of n > 0 bytes that came together; returns how many bytes it has. */
size_t key_decode(const char *bytes, size_t n, int *key);

#endif
