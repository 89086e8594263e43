/* tests/support/inputs/csr_parts.h - parts of a CSR result that are handed to a sink.

   The functions call the sink as the driver, workers and a device would in a run. */
#ifndef CSR_PARTS_H
#define CSR_PARTS_H

#include "base/contract/sink.h"

enum { ROWS = 3000, COLS = 1 << 20, CHUNK = 250, PARTS = ROWS / CHUNK };

/* How the entries of a part arrive: all at once, 700 at a time, with unused elements
   between rows, copied directly to the result's memory, or copied directly with columns
   delta-coded. */
typedef enum { AT_ONCE, IN_TURNS, WITH_GAPS, DIRECT, DELTAS } how;

/* The expected result of all parts. Rows have 0 to 60 entries. */
typedef struct plain_csr {
    hybrid_type type;
    int64_t *row_ptr;
    int32_t *col;
    double *val;
} plain_csr;

plain_csr plain_make(hybrid_type type);
void plain_free(plain_csr *p);

/* One part: rows [k * CHUNK, (k + 1) * CHUNK) of the result. */
typedef struct piece {
    const plain_csr *plain;
    how way;
    hy_chunk chunk;
    hy_part part;
    void *memory[4]; /* the part's arrays, allocated with malloc(); unless it arrives
                        WITH_GAPS, each is exactly as long as needed */
} piece;

piece piece_of(const plain_csr *plain, how way, int64_t k);
void piece_free(piece *p);

/* Hands the part to the sink, which must have reserved its position. memcpy() stands for
   copies of the device. Returns 1 if they went directly to the result's memory, 0 if
   not. */
int piece_store(hy_sink *sink, piece *p);

#endif /* CSR_PARTS_H */
