/* partition/move/deltas.h - delta-coded columns of C: differences in as few bytes as they
   need.

   Half of C's bytes are columns (a third with f64). Columns ascend within a row, so most
   differ little from the one before. The device encodes them to save bus time, and
   workers decode them into the result.

   `count` numbers are divided into frames of 1024. A frame begins with 256 bytes; each
   says how many bytes the next four differences take (1 to 4), in two bits for each. The
   bytes of the differences follow, lowest byte first. A difference is to the number
   before, modulo 2^32; the first number of a frame is stored as it is. Ends of rows are
   not marked: the first column of a row merely gives a difference that may take more
   bytes.

   Layout in units of 16 bytes:

       unit 0     number of units of all frames               1 x uint64
       then       start of each frame, in units from the      1 x uint32 a frame
                  end of this list; padded to whole units
       then       frames in any order, each padded to
                  whole units

   After Lemire, Kurz, Rupp 2018 (Stream VByte), with frames for many writers and
   readers. */
#ifndef HY_DELTAS_H
#define HY_DELTAS_H

#include <stddef.h>
#include <stdint.h>

#include "base/data/inline.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HY_DELTA_FRAME = 1024,               /* numbers of a frame */
    HY_DELTA_LENS  = HY_DELTA_FRAME / 4, /* bytes at the beginning of a frame that hold
                                            the lengths of its differences */
    HY_DELTA_UNIT  = 16
};

HY_KERNEL_INLINE int64_t hy_deltas_frames(int64_t count)
{
    return (count + HY_DELTA_FRAME - 1) / HY_DELTA_FRAME;
}

/* Returns the bytes that precede the first frame in the coded form of `count` numbers. */
HY_KERNEL_INLINE size_t hy_deltas_head(int64_t count)
{
    const size_t starts = (size_t)hy_deltas_frames(count) * sizeof(uint32_t);
    return (1 + (starts + HY_DELTA_UNIT - 1) / HY_DELTA_UNIT) * HY_DELTA_UNIT;
}

/* Returns the bytes of the coded form of `count` numbers if their frames take `units`
   units of 16 bytes together. */
HY_KERNEL_INLINE size_t hy_deltas_bytes(int64_t count, int64_t units)
{
    return hy_deltas_head(count) + (size_t)units * HY_DELTA_UNIT;
}

/* Returns an upper bound on the bytes into which `count` numbers are encoded. */
HY_KERNEL_INLINE size_t hy_deltas_bound(int64_t count)
{
    const int64_t frame = (HY_DELTA_LENS + 4 * HY_DELTA_FRAME) / HY_DELTA_UNIT;
    return hy_deltas_bytes(count, hy_deltas_frames(count) * frame);
}

enum { HY_DELTA_BEHIND = HY_DELTA_UNIT }; /* number of bytes behind the last frame that
                                             the decoder may read and that must be
                                             readable */

/* Decodes frame `frame` of a buffer with `count` numbers to out[0 .. 1023]. If it is the
   last frame, elements of `out` beyond its numbers are undefined afterwards. The caller
   ensures that `coded` has HY_DELTA_BEHIND readable bytes behind the last frame. */
void hy_deltas_decode(const void *coded, int64_t count, int64_t frame, int32_t *out);

/* Returns 1 if this processor decodes with vector instructions. Without them, decoding
   takes six times as long. */
int hy_deltas_quick(void);

/* Does the work of hy_deltas_decode() without vector instructions. */
void hy_deltas_decode_plainly(const void *coded, int64_t count, int64_t frame,
                              int32_t *out);

#ifdef __cplusplus
}
#endif
#endif /* HY_DELTAS_H */
