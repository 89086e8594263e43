/* tests/support/check/deltas.c - delta coding (partition/move/deltas.h) by plain
   sequential code. */
#include "support/check/deltas.h"

#include <string.h>

#include "partition/move/deltas.h"
#include "support/fake/fake_backend.h"
#include "support/inputs/random.h"

void deltas_fill(uint64_t seed, int bits, int rows, int32_t *numbers, int64_t count)
{
    uint32_t number = 0;

    for (int64_t k = 0; k < count; k++) {
        const uint64_t random = random_next(&seed) >> 16;
        number += (uint32_t)(random & ((UINT64_C(1) << bits) - 1));
        if (rows > 0 && k % rows == 0)
            number = (uint32_t)(random >> 32 & 0xff);
        numbers[k] = (int32_t)(number & INT32_MAX);
    }
}

/* Delta-codes the first `count` numbers, or the first 1024 if there are more, to `frame`.
   Returns the bytes of the frame. */
static size_t pack_frame(const int32_t *numbers, int64_t count, unsigned char *frame)
{
    unsigned char *to = frame + HY_DELTA_LENS;
    uint32_t before   = 0;

    memset(frame, 0, HY_DELTA_LENS);
    for (int k = 0; k < HY_DELTA_FRAME; k++) {
        const uint32_t number = k < count ? (uint32_t)numbers[k] : before;
        uint32_t difference   = number - before;
        int length            = 0;
        do {
            to[length++] = (unsigned char)(difference & 0xff);
            difference >>= 8;
        } while (difference > 0);
        frame[k / 4] = (unsigned char)(frame[k / 4] | (length - 1) << (k % 4 * 2));
        to += length;
        before = number;
    }
    return (size_t)(to - frame);
}

int64_t deltas_pack(const int32_t *numbers, int64_t count, void *packed)
{
    unsigned char *frames = (unsigned char *)packed + hy_deltas_head(count);
    uint32_t units        = 0;

    for (int64_t f = hy_deltas_frames(count) - 1; f >= 0; f--) {
        const int64_t first = f * HY_DELTA_FRAME;
        const size_t bytes  = pack_frame(numbers + first, count - first,
                                         frames + (size_t)units * HY_DELTA_UNIT);
        memcpy((char *)packed + HY_DELTA_UNIT + (size_t)f * sizeof units, &units,
               sizeof units);
        units += (uint32_t)((bytes + HY_DELTA_UNIT - 1) / HY_DELTA_UNIT);
    }
    return units;
}

/* ---- the fake device ---- */

typedef struct packing {
    const int32_t *numbers;
    const int64_t *count;
    int64_t most;
    void *packed;
    int64_t *units;
} packing;

static int64_t done;

int64_t fake_packed(void)
{
    return __atomic_load_n(&done, __ATOMIC_RELAXED);
}

static hybrid_status do_pack(hy_lane *lane, void *arg)
{
    const packing *p    = arg;
    const int64_t count = *p->count <= p->most ? *p->count : 0;

    (void)lane;
    *p->units = deltas_pack(p->numbers, count, p->packed);
    __atomic_fetch_add(&done, count > 0, __ATOMIC_RELAXED);
    return HYBRID_OK;
}

hybrid_status fake_pack_deltas(hy_lane *lane, const int32_t *numbers,
                               const int64_t *count, int64_t most, void *packed,
                               int64_t *units)
{
    const packing p = {numbers, count, most, packed, units};

    return hy_fake_enqueue_copy(lane, do_pack, &p, sizeof p);
}
