/* host/spgemm/spgemm_host_sort.c - sorts (column, slot) pairs by column: a radix sort,
   least digit first, and insertion for a few pairs. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

enum { DIGIT = 8, VALUES = 1 << DIGIT, INSERTION = 24 };

static void insert_all(uint64_t *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        int64_t j          = i;
        for (; j > 0 && keys[j - 1] >> 32 > key >> 32; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static void sort_digit(const uint64_t *from, uint64_t *to, int64_t n, int shift)
{
    int64_t start[VALUES] = {0};
    int64_t sum           = 0;

    for (int64_t i = 0; i < n; i++)
        start[from[i] >> shift & (VALUES - 1)]++;
    for (int d = 0; d < VALUES; d++) {
        const int64_t count = start[d];
        start[d]            = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[start[from[i] >> shift & (VALUES - 1)]++] = from[i];
}

void hy_sort_by_column(uint64_t *keys, uint64_t *spare, int64_t n, int bits)
{
    uint64_t *from = keys, *to = spare;

    if (n <= INSERTION) {
        insert_all(keys, n);
        return;
    }
    for (int shift = 32; shift < 32 + bits; shift += DIGIT) {
        sort_digit(from, to, n, shift);
        uint64_t *swap = from;
        from           = to;
        to             = swap;
    }
    if (from != keys)
        memcpy(keys, from, (size_t)n * sizeof *keys);
}
