/* partition/move/deltas.h - columns of C in as few bytes as their differences need.

   On the bus half of C, or a third with f64, is columns. They ascend within rows, so most
   are near the one before: the device packs them, and workers unpack them to their place.

   `count` numbers are cut into frames of 1024. A frame has 256 bytes, of which each says
   how many bytes the next four differences take, two bits for each: one to four. Then
   come these bytes, lowest first. A difference is modulo 2^32 and to the number before; of
   the frame's first number it is to 0. Rows are not looked at: the first column of a row is
   a difference that takes more bytes than others.

   In memory, in units of 16 bytes:

       unit 0     how many units all frames take              1 x uint64
       then       where each frame starts: so many units      1 x uint32 a frame
                  behind the end of this list, which is
                  that of a unit
       then       frames, in any order, each of whole units

   After Lemire, Kurz, Rupp 2018 (Stream VByte), with frames for many writers and readers. */
#ifndef HY_DELTAS_H
#define HY_DELTAS_H

#include <stddef.h>
#include <stdint.h>

#include "base/data/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HY_DELTA_FRAME = 1024,               /* numbers */
    HY_DELTA_LENS  = HY_DELTA_FRAME / 4, /* bytes that say how long differences are */
    HY_DELTA_UNIT  = 16
};

HY_KERNEL_INLINE int64_t hy_deltas_frames(int64_t count)
{
    return (count + HY_DELTA_FRAME - 1) / HY_DELTA_FRAME;
}

/* Bytes before the first frame. */
HY_KERNEL_INLINE size_t hy_deltas_head(int64_t count)
{
    const size_t starts = (size_t)hy_deltas_frames(count) * sizeof(uint32_t);
    return (1 + (starts + HY_DELTA_UNIT - 1) / HY_DELTA_UNIT) * HY_DELTA_UNIT;
}

/* Bytes of `count` numbers whose frames take `units`. */
HY_KERNEL_INLINE size_t hy_deltas_bytes(int64_t count, int64_t units)
{
    return hy_deltas_head(count) + (size_t)units * HY_DELTA_UNIT;
}

/* The most that they can be. */
HY_KERNEL_INLINE size_t hy_deltas_bound(int64_t count)
{
    const int64_t frame = (HY_DELTA_LENS + 4 * HY_DELTA_FRAME) / HY_DELTA_UNIT;
    return hy_deltas_bytes(count, hy_deltas_frames(count) * frame);
}

enum { HY_DELTA_BEHIND = HY_DELTA_UNIT }; /* bytes more, for who unpacks */

/* Numbers of frame `frame` of `count` packed numbers, all 1024, to `out`; those beyond
   `count` are of no use. HY_DELTA_BEHIND bytes behind the last frame may be read. */
void hy_deltas_decode(const void *packed, int64_t count, int64_t frame, int32_t *out);

/* Whether this processor does so by vectors, and not in six times the time. */
int hy_deltas_quick(void);

/* The same on any processor. */
void hy_deltas_decode_plainly(const void *packed, int64_t count, int64_t frame,
                              int32_t *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_DELTAS_H */
