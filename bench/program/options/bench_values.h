/* bench/program/options/bench_values.h - parses the values of options. Each function
   returns 0 on success, or -1 after an error message that names the option `what` and its
   value. */
#ifndef BENCH_VALUES_H
#define BENCH_VALUES_H

#include <stddef.h>
#include <stdint.h>

/* Prints that the value `text` is not understood, and returns -1. */
int bench_refuse(const char *what, const char *text);

/* Parses a number from `least` to `most`. */
int bench_whole(const char *what, const char *text, int64_t least, int64_t most,
                int64_t *out);

/* Parses a number from `least` to 2^20. */
int bench_count(const char *what, const char *text, int least, int *out);

/* Parses at most `room` numbers from `least` to `most`, such as "1,2,33". */
int bench_numbers(const char *what, const char *text, int64_t least, int64_t most,
                  int room, int64_t *out, int *count);

/* Parses a size in bytes such as "512M", "4GiB" or "1000". */
int bench_bytes(const char *what, const char *text, size_t *out);

/* Parses at most `room` sizes, such as "0,1G,512M". */
int bench_sizes(const char *what, const char *text, int room, size_t *out, int *count);

/* Finds the index of `text` in `words`, which end with NULL. */
int bench_word(const char *what, const char *text, const char *const *words, int *out);

#endif
