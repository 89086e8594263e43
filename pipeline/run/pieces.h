/* pipeline/run/pieces.h - computes a chunk in pieces if its result does not fit its slot.

   The entries of C are counted while a chunk is computed. A slot has room for the number
   of entries that the plan expects (hy_features.out_room), and for all entries of any
   single row. If `finish` counts more entries, it stores none (hy_variant.overflows). The
   slot then computes the chunk again, in pieces that are expected to fit:

     multiply, compress   all rows: the result does not fit
     multiply ... place   the first rows
     multiply ... place   the rows that follow, until no row is left

   Each piece reads the pack and the rows of B that the first attempt has brought to the
   device. */
#ifndef HY_PIECES_H
#define HY_PIECES_H

#include "pipeline/site/slot.h"

/* Returns 1 if the slot's result has more entries than it has room for. The host must
   have seen the end of the stage before `reserve`. */
int hy_piece_overflows(const hy_slot *slot);

/* Lets the job compute fewer rows, after hy_piece_overflows() has returned 1. Fails with
   BAD_STATE if the job computes only one row, whose entries would fit if A and B were
   those of the plan. */
hybrid_status hy_piece_shrink(hy_slot *slot);

/* Lets the job compute the rows that follow, after the rows that it has computed were
   stored. Returns 0 if there are none. */
int hy_piece_next(hy_slot *slot);

#endif /* HY_PIECES_H */
