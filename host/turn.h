/* host/turn.h - columns of a dense matrix as rows. */
#ifndef HY_TURN_H
#define HY_TURN_H

#include "base/pool.h"
#include "hybrid_spmm.h"

/* `rows` rows of `cols` columns that lie `ld` elements apart at `from`, to rows that
   follow each other at `to`. */
hybrid_status hy_turn_to_rows(hy_pool *pool, hybrid_type type, const void *from,
                              int64_t ld, int64_t rows, int64_t cols, void *to);

#endif /* HY_TURN_H */
