/* io/text/powers.c - computes powers of ten for reading and writing numbers.

   10^e and 5^e differ by a power of two, so they have the same leading bits. Powers 5^e
   come from multiplying 1 by 5, and 5^-e from dividing a large power of two by 5.
   Dividing a cut-off quotient again gives the cut-off quotient of both divisors. */
#include <stdlib.h>

#include "io/text/number.h"

__extension__ typedef unsigned __int128 wide;

/* Number of 64-bit words of a number: 5^324 has 753 bits, and 2^959 / 5^342 still has
   165. */
enum { WORDS = 15 };

typedef struct big {
    uint64_t word[WORDS]; /* lowest word first */
} big;

static void multiply_by_5(big *x)
{
    uint64_t carry = 0;

    for (int i = 0; i < WORDS; i++) {
        const wide product = (wide)x->word[i] * 5 + carry;
        x->word[i]         = (uint64_t)product;
        carry              = (uint64_t)(product >> 64);
    }
}

/* Divides by 5. A remainder r of the word above counts r * 2^64 here, which is
   5 * (r * 0x3333333333333333) + r. */
static void divide_by_5(big *x)
{
    uint64_t left = 0;

    for (int i = WORDS - 1; i >= 0; i--) {
        const uint64_t both = left + x->word[i] % 5;
        x->word[i]          = left * 0x3333333333333333u + x->word[i] / 5 + both / 5;
        left                = both % 5;
    }
}

static void put_leading(const big *x, hy_numbers *numbers, int e)
{
    int top = WORDS - 1;

    while (x->word[top] == 0)
        top--;
    const int shift  = __builtin_clzll(x->word[top]);
    const uint64_t a = x->word[top], b = top > 0 ? x->word[top - 1] : 0;
    const uint64_t c = top > 1 ? x->word[top - 2] : 0;
    /* shift + back = 63; a shift by 64 would be undefined */
    const int back = 63 - shift;

    numbers->high[e - HY_MIN_POWER] = a << shift | b >> 1 >> back;
    numbers->low[e - HY_MIN_POWER]  = b << shift | c >> 1 >> back;
}

hybrid_status hy_numbers_open(hy_context *ctx, hy_numbers **out)
{
    void *array;

    *out = NULL;
    HY_TRY(hy_array(ctx, 1, sizeof(hy_numbers), "powers of ten", &array));
    hy_numbers *numbers = array;
    numbers->c          = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!numbers->c) {
        hy_array_free(ctx, array);
        return hy_fail(
            ctx, HYBRID_NO_MEMORY,
            "cannot allocate memory for the C locale; free some memory on this machine");
    }

    big x = {{1}};
    for (int e = 0; e <= HY_MAX_POWER; e++, multiply_by_5(&x))
        put_leading(&x, numbers, e);
    x = (big){{[WORDS - 1] = (uint64_t)1 << 63}};
    for (int e = -1; e >= HY_MIN_POWER; e--) {
        divide_by_5(&x);
        put_leading(&x, numbers, e);
    }
    *out = numbers;
    return HYBRID_OK;
}

void hy_numbers_close(hy_context *ctx, hy_numbers *numbers)
{
    if (!numbers)
        return;
    freelocale(numbers->c);
    hy_array_free(ctx, numbers);
}
