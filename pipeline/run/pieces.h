/* pipeline/run/pieces.h - computes a chunk in pieces if its result does not fit its slot.

   How many entries C has is known once they are counted. A slot has room for as many as
   the plan expects (hy_features.out_room), and for all entries of any one row. If
   `finish` counts more than that, it stores none (hy_variant.overflows). The slot then
   computes the first rows of the chunk again, as many as are expected to fit, and the
   others after these are stored:

     multiply, compress   of all rows: the result does not fit
     multiply ... place   of the first rows
     multiply ... place   of the rows that follow, until no row is left

   All pieces read the pack and the rows of B that are on the device since the first
   attempt. */
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
