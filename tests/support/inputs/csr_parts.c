/* tests/support/inputs/csr_parts.c - parts of a CSR result that are handed to a sink. */
#include "support/inputs/csr_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/data/min_max.h"
#include "partition/move/deltas.h"
#include "support/inputs/cases.h"
#include "support/check/deltas.h"

enum { TURN = 700 /* how many entries arrive at a time if a part arrives IN_TURNS */ };

plain_csr plain_make(hybrid_type type)
{
    plain_csr p = {.type = type, .row_ptr = calloc(ROWS + 1, 8)};

    for (int64_t i = 0; i < ROWS; i++)
        p.row_ptr[i + 1] = p.row_ptr[i] + (int64_t)(test_hash(1, (uint64_t)i) % 61);
    p.col = malloc((size_t)p.row_ptr[ROWS] * sizeof *p.col);
    p.val = malloc((size_t)p.row_ptr[ROWS] * sizeof *p.val);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; k++) {
            p.col[k] = (int32_t)((k - p.row_ptr[i]) * 1000 + k % 1000);
            p.val[k] = test_number(2, k, 1);
        }
    return p;
}

void plain_free(plain_csr *p)
{
    free(p->row_ptr);
    free(p->col);
    free(p->val);
}

/* ---- parts ---- */

static void *take(piece *p, int k, size_t bytes)
{
    p->memory[k] = malloc(bytes + (bytes == 0));
    return p->memory[k];
}

/* Sets where the rows of the piece begin in its arrays: one behind another or, if it
   arrives WITH_GAPS, with unused elements between them. */
static void place_rows(piece *p)
{
    const int64_t *row_ptr = p->plain->row_ptr + p->chunk.row_begin;
    const int64_t gap      = p->way == WITH_GAPS ? 3 : 0;
    hy_rows *rows          = &p->part.rows;

    rows->row_ptr = take(p, 0, (CHUNK + 1) * sizeof(int64_t));
    if (gap > 0)
        rows->row_at = take(p, 1, CHUNK * sizeof(int64_t));
    for (int64_t i = 0; i <= CHUNK; i++)
        rows->row_ptr[i] = row_ptr[i] - row_ptr[0];
    for (int64_t i = 0; i < CHUNK && gap > 0; i++)
        /* leaves 3 elements unused after every fifth row */
        rows->row_at[i] = rows->row_ptr[i] + i / 5 * gap;
}

piece piece_of(const plain_csr *plain, how way, int64_t k)
{
    piece p = {.plain = plain,
               .way   = way,
               .chunk = {.id        = k,
                         .row_begin = k * CHUNK,
                         .row_end   = (k + 1) * CHUNK,
                         .col_end   = COLS}};
    place_rows(&p);
    hy_rows *rows      = &p.part.rows;
    const int64_t nnz  = rows->row_ptr[CHUNK];
    const int64_t base = plain->row_ptr[k * CHUNK];
    const int64_t room = nnz + (rows->row_at ? CHUNK : 0);

    rows->col = take(&p, 2, (size_t)room * sizeof(int32_t));
    rows->val = take(&p, 3, (size_t)room * (plain->type == HYBRID_F64 ? 8 : 4));
    for (int64_t i = 0; i < CHUNK; i++)
        for (int64_t e = rows->row_ptr[i]; e < rows->row_ptr[i + 1]; e++) {
            const int64_t at = rows->row_at ? rows->row_at[i] + e - rows->row_ptr[i] : e;
            rows->col[at]    = plain->col[base + e];
            value_set(rows->val, plain->type, at, plain->val[base + e]);
        }
    p.part.counted = nnz;
    return p;
}

void piece_free(piece *p)
{
    for (size_t k = 0; k < sizeof p->memory / sizeof *p->memory; k++)
        free(p->memory[k]);
}

/* ---- a device with memcpy() for copies ---- */

static void copy(const hy_landing *to)
{
    const hy_row_copy *r = &to->rows;

    assert_true(to->piece > 0 && r->rows == 1);
    memcpy(r->dst, r->src, r->bytes);
}

/* Copies the part's entries to the memory that sink->ops->direct() names, as a device
   would. Returns 0, without copying, if the sink names none; else 1. */
static int store_direct(hy_sink *sink, hy_part *part, int deltas)
{
    const hy_direct to = sink->ops->direct(sink, part);

    if (to.count == 0)
        return 0;
    assert_int_equal(to.count, 2);
    assert_int_equal(to.all, 0);
    if (!deltas)
        copy(&to.to[0]);
    copy(&to.to[1]);
    part->count = 0;
    assert_int_equal(sink->ops->store(sink, part), HYBRID_OK);
    if (deltas) {
        char *packed = malloc(hy_deltas_bound(part->nnz) + HY_DELTA_BEHIND);
        deltas_pack(part->rows.col, part->nnz, packed);
        assert_int_equal(sink->ops->store_deltas(sink, part, packed), HYBRID_OK);
        free(packed);
    }
    return 1;
}

/* Stores the piece's entries in the sink, TURN at a time. Each time part.rows.col and
   part.rows.val point to the first of them. */
static void store_turns(hy_sink *sink, const piece *p)
{
    const size_t size = p->plain->type == HYBRID_F64 ? 8 : 4;
    hy_part part      = p->part;

    for (part.first = 0; part.first == 0 || part.first < part.nnz; part.first += TURN) {
        part.count    = hy_min(TURN, part.nnz - part.first);
        part.rows.col = p->part.rows.col + part.first;
        part.rows.val = (char *)p->part.rows.val + (size_t)part.first * size;
        assert_int_equal(sink->ops->store(sink, &part), HYBRID_OK);
    }
}

int piece_store(hy_sink *sink, piece *p)
{
    const int copies = p->way == DIRECT || p->way == DELTAS;

    p->part.count = p->part.nnz;
    if (copies && store_direct(sink, &p->part, p->way == DELTAS))
        return 1;
    if (p->way == IN_TURNS)
        store_turns(sink, p);
    else
        assert_int_equal(sink->ops->store(sink, &p->part), HYBRID_OK);
    return 0;
}
