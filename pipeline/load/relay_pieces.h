/* pipeline/load/relay_pieces.h - the pieces in which the loaders of a relay send their
   image. */
#ifndef HY_RELAY_PIECES_H
#define HY_RELAY_PIECES_H

#include "pipeline/load/load.h"

/* A piece of the image: elements [begin, end) of a region, which are elements of X, row
   offsets of B, or entries of B. All loaders of a relay divide their image in the same
   way. */
typedef struct hy_relay_piece {
    hy_region region;
    int64_t begin, end;
    int64_t reached; /* leading elements of X, or entries of B, that are complete with
                        this piece; -1: not even all row offsets of B are */
} hy_relay_piece;

/* Returns the number of pieces of the loader's image. */
int64_t hy_relay_pieces(const hy_loader *loader);

/* Returns piece k, 0 or more. The pieces follow each other in the order in which chunks
   need them. */
hy_relay_piece hy_relay_piece_at(const hy_loader *loader, int64_t k);

#endif /* HY_RELAY_PIECES_H */
