/* partition/move/deltas.c - decodes columns of C from their differences. */
#include "partition/move/deltas.h"

#include <string.h>

/* Returns the length, in bytes, of difference i of four. A byte, `lengths`, holds the
   four lengths. */
static int length_at(unsigned lengths, int i)
{
    return 1 + (int)(lengths >> (2 * i) & 3);
}

static void decode_plainly(const unsigned char *lengths, int32_t *out)
{
    const unsigned char *from = lengths + HY_DELTA_LENS;
    uint32_t number           = 0;

    for (int k = 0; k < HY_DELTA_FRAME; k++) {
        const int length = length_at(lengths[k / 4], k % 4);
        for (int i = 0; i < length; i++)
            number += (uint32_t)from[i] << (8 * i);
        from += length;
        memcpy(&out[k], &number, sizeof number);
    }
}

#if defined(__x86_64__)
#include <pthread.h>
#include <tmmintrin.h>

/* Table with an element for each byte that holds the lengths of four differences. from:
   for each byte of the four decoded 32-bit numbers, which of the following coded bytes it
   is (0x80: zero). bytes: total length of the four differences. */
static struct {
    unsigned char from[256][16];
    unsigned char bytes[256];
} spread;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_spread(void)
{
    for (unsigned lengths = 0; lengths < 256; lengths++) {
        int at = 0;
        for (int byte = 0; byte < 16; byte++) {
            const int present          = byte % 4 < length_at(lengths, byte / 4);
            spread.from[lengths][byte] = present ? (unsigned char)at : 0x80;
            at += present;
        }
        spread.bytes[lengths] = (unsigned char)at;
    }
}

/* Decodes four differences at a time. First spreads their bytes to 32-bit numbers. Then
   adds to each number its predecessor, to each the number two places before, and to all
   the last number that was decoded earlier. */
__attribute__((target("ssse3"))) static void decode_ssse3(const unsigned char *lengths,
                                                          int32_t *out)
{
    const unsigned char *from = lengths + HY_DELTA_LENS;
    __m128i sum               = _mm_setzero_si128();

    for (int k = 0; k < HY_DELTA_LENS; k++) {
        const __m128i places = _mm_loadu_si128((const void *)spread.from[lengths[k]]);
        __m128i d = _mm_shuffle_epi8(_mm_loadu_si128((const void *)from), places);
        d         = _mm_add_epi32(d, _mm_slli_si128(d, 4));
        d         = _mm_add_epi32(d, _mm_slli_si128(d, 8));
        sum       = _mm_add_epi32(d, _mm_shuffle_epi32(sum, 0xff));
        _mm_storeu_si128((void *)(out + 4 * k), sum);
        from += spread.bytes[lengths[k]];
    }
}

int hy_deltas_quick(void)
{
    return __builtin_cpu_supports("ssse3") != 0;
}

static void decode(const unsigned char *lengths, int32_t *out)
{
    if (!hy_deltas_quick()) {
        decode_plainly(lengths, out);
        return;
    }
    pthread_once(&once, fill_spread);
    decode_ssse3(lengths, out);
}
#else
int hy_deltas_quick(void)
{
    return 0;
}

static void decode(const unsigned char *lengths, int32_t *out)
{
    decode_plainly(lengths, out);
}
#endif

/* Returns the address of frame number `frame`. */
static const unsigned char *find(const void *coded, int64_t count, int64_t frame)
{
    const unsigned char *bytes = coded;
    uint32_t start;

    memcpy(&start, bytes + HY_DELTA_UNIT + (size_t)frame * sizeof start, sizeof start);
    return bytes + hy_deltas_bytes(count, start);
}

enum { LINE = 64, PREFETCHED_LINES = 16 };

/* Starts fetching frame number `frame` into the CPU's caches. Frames lie in no particular
   order, so the processor cannot predict where the next one begins. */
static void expect(const void *coded, int64_t count, int64_t frame)
{
    const unsigned char *from = find(coded, count, frame);

    for (int i = 0; i < PREFETCHED_LINES; i++)
        __builtin_prefetch(from + i * LINE);
}

void hy_deltas_decode(const void *coded, int64_t count, int64_t frame, int32_t *out)
{
    if (frame + 1 < hy_deltas_frames(count))
        expect(coded, count, frame + 1);
    decode(find(coded, count, frame), out);
}

void hy_deltas_decode_plainly(const void *coded, int64_t count, int64_t frame,
                              int32_t *out)
{
    decode_plainly(find(coded, count, frame), out);
}
