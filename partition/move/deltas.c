/* partition/move/deltas.c - columns of C from the bytes of their differences. */
#include "partition/move/deltas.h"

#include <string.h>

/* One of the four lengths in a byte. */
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

/* For each byte of lengths: where the bytes of four differences go, and how many there
   are. */
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
            const int there            = byte % 4 < length_at(lengths, byte / 4);
            spread.from[lengths][byte] = there ? (unsigned char)at : 0x80;
            at += there;
        }
        spread.bytes[lengths] = (unsigned char)at;
    }
}

/* Four at a time: bytes to their places, sums of neighbours, of pairs, and of all before.
 */
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

static void unpack(const unsigned char *lengths, int32_t *out)
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

static void unpack(const unsigned char *lengths, int32_t *out)
{
    decode_plainly(lengths, out);
}
#endif

/* Where a frame's lengths are. */
static const unsigned char *find(const void *packed, int64_t count, int64_t frame)
{
    const unsigned char *bytes = packed;
    uint32_t start;

    memcpy(&start, bytes + HY_DELTA_UNIT + (size_t)frame * sizeof start, sizeof start);
    return bytes + hy_deltas_bytes(count, start);
}

enum { LINE = 64, LINES_AHEAD = 16 };

/* Frames lie in no order, so the processor does not foresee where the next one begins. */
static void expect(const void *packed, int64_t count, int64_t frame)
{
    const unsigned char *from = find(packed, count, frame);

    for (int i = 0; i < LINES_AHEAD; i++)
        __builtin_prefetch(from + i * LINE);
}

void hy_deltas_decode(const void *packed, int64_t count, int64_t frame, int32_t *out)
{
    if (frame + 1 < hy_deltas_frames(count))
        expect(packed, count, frame + 1);
    unpack(find(packed, count, frame), out);
}

void hy_deltas_decode_plainly(const void *packed, int64_t count, int64_t frame,
                              int32_t *out)
{
    decode_plainly(find(packed, count, frame), out);
}
