/* Numbers as programs print them. */
#ifndef PROGRESS_NUMBER_H
#define PROGRESS_NUMBER_H

#include <stddef.h>

/* Reads one number (digits, fraction, exponent, or nan and inf in any spelling)
 * that the text begins with: its length, 0 when it does not. */
size_t progress_number_read(const char *text, size_t n, double *out);

/* Reads digits in groups of three, "12,345,678", "12'345", "12_345": their length, 0 when there are
 * none. */
size_t progress_number_read_groups(const char *text, size_t n, double *out);

/* Reads a number with a decimal comma, "3,9462": its length, 0 when there is none. With three
 * digits after the comma, "3,946", it is one only if it begins with 0. */
size_t progress_number_read_comma(const char *text, size_t n, double *out);

#endif
