/* tests/support/inputs/csr_parts.h - parts of a CSR result that are handed to a sink.

   Parts arrive as a device or as workers would hand them over. */
#ifndef CSR_PARTS_H
#define CSR_PARTS_H

#include "base/contract/sink.h"

enum { ROWS = 3000, COLS = 1 << 20, CHUNK = 250, PARTS = ROWS / CHUNK };

/* How the entries of a part arrive: all at once, some at a time, in rows with gaps,
   copied directly to the result, or as delta-coded columns. */
typedef enum { AT_ONCE, IN_TURNS, WITH_GAPS, DIRECT, DELTAS } how;

/* The expected result. Rows have 0 to 60 entries. */
typedef struct plain_csr {
    hybrid_type type;
    int64_t *row_ptr;
    int32_t *col;
    double *val;
} plain_csr;

plain_csr plain_make(hybrid_type type);
void plain_free(plain_csr *p);

/* Rows [k * CHUNK, (k + 1) * CHUNK) of the result. */
typedef struct piece {
    const plain_csr *plain;
    how way;
    hy_chunk chunk;
    hy_part part;
    void *memory[4]; /* the part's arrays, each exactly as long as needed */
} piece;

piece piece_of(const plain_csr *plain, how way, int64_t k);
void piece_free(piece *p);

/* Hands a part to the sink, which has reserved its position. Copies of the device are
   memcpy(). Returns 1 if they went to the sink's memory. */
int piece_store(hy_sink *sink, piece *p);

#endif /* CSR_PARTS_H */
