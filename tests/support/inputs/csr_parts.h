/* tests/support/inputs/csr_parts.h - parts of a result in CSR, as a device or workers
   bring them to its sink. */
#ifndef CSR_PARTS_H
#define CSR_PARTS_H

#include "base/contract/sink.h"

enum { ROWS = 3000, COLS = 1 << 20, CHUNK = 250, PARTS = ROWS / CHUNK };

/* How the entries of a part come. */
typedef enum { AT_ONCE, IN_TURNS, WITH_GAPS, DIRECT, DELTAS } how;

/* What the result must be. Rows have 0 to 60 entries. */
typedef struct plain_csr {
    hybrid_type type;
    int64_t *row_ptr;
    int32_t *col;
    double *val;
} plain_csr;

plain_csr plain_make(hybrid_type type);
void plain_free(plain_csr *p);

/* Rows [k CHUNK, (k + 1) CHUNK). */
typedef struct piece {
    const plain_csr *plain;
    how way;
    hy_chunk chunk;
    hy_part part;
    void *memory[4]; /* of the part's arrays, each with no byte more than it has */
} piece;

piece piece_of(const plain_csr *plain, how way, int64_t k);
void piece_free(piece *p);

/* To the sink, which has reserved its place. Copies of the device are memcpy(). Returns 1
   if they went to the sink's memory. */
int piece_store(hy_sink *sink, piece *p);

#endif /* CSR_PARTS_H */
