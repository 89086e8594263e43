/* partition/shared.c - B or X whole, as the device holds it for all chunks. */
#include "partition/pack.h"

#include <string.h>

#include "base/csr.h"
#include "partition/turn.h"

enum { AHEAD = 4, EXPECTED = 512 }; /* rows, and bytes of them, that are asked for */

/* ---- B: row_ptr | col | val -------------------------------------------------- */

static hy_shared_layout csr_layout(const hybrid_csr *B)
{
    hy_shared_layout at;

    at.col   = hy_align(((size_t)B->rows + 1) * 8);
    at.val   = at.col + hy_align((size_t)B->nnz * 4);
    at.bytes = at.val + (size_t)B->nnz * hy_value_size(B->type);
    return at;
}

static size_t dense_bytes(const hy_problem *problem)
{
    const hybrid_dense *X = problem->X;
    const int64_t last    = hy_shared_panels(problem) - 1;
    const int64_t all =
        problem->in_cols ? X->rows * X->cols : hy_shared_panel(problem, last).end;

    return (size_t)all * hy_value_size(X->type);
}

hy_shared_layout hy_shared_layout_of(const hy_problem *problem)
{
    if (problem->op == HY_SPMM)
        return (hy_shared_layout){.bytes = dense_bytes(problem)};
    return csr_layout(problem->B);
}

size_t hy_shared_bytes(const hy_problem *problem)
{
    return hy_shared_layout_of(problem).bytes;
}

hy_csr_view hy_shared_b(const hy_problem *problem)
{
    const hybrid_csr *B       = problem->B;
    const hy_shared_layout at = csr_layout(B);
    const char *base          = problem->shared.ptr;

    return (hy_csr_view){.rows    = B->rows,
                         .nnz     = B->nnz,
                         .row_ptr = (const void *)base,
                         .col     = (const void *)(base + at.col),
                         .val     = base + at.val};
}

/* ---- part of an image -------------------------------------------------------- */

/* An array of elements of 4 or 8 bytes that are made, not copied. */
typedef struct array {
    void (*make)(const void *source, int64_t begin, int64_t end, char *dst);
    const void *source;
    size_t size; /* of one element */
} array;

/* Bytes [at, at + bytes) of the array: whole elements, and a piece of one at each end. */
static void make_bytes(const array *a, size_t at, size_t bytes, char *dst)
{
    char word[8];
    const size_t skip = at % a->size;
    int64_t element   = (int64_t)(at / a->size);

    if (skip > 0 && bytes > 0) {
        const size_t piece = bytes < a->size - skip ? bytes : a->size - skip;
        a->make(a->source, element, element + 1, word);
        memcpy(dst, word + skip, piece);
        dst += piece;
        bytes -= piece;
        element++;
    }
    const size_t whole = bytes / a->size;
    const size_t rest  = bytes % a->size;
    a->make(a->source, element, element + (int64_t)whole, dst);
    if (rest > 0) {
        element += (int64_t)whole;
        a->make(a->source, element, element + 1, word);
        memcpy(dst + whole * a->size, word, rest);
    }
}

/* 32-bit offsets, widened. */
static void make_offsets(const void *source, int64_t begin, int64_t end, char *dst)
{
    const hybrid_csr *B = source;

    for (int64_t i = begin; i < end; i++) {
        const int64_t offset = hy_offset(B, i);
        memcpy(dst + (i - begin) * 8, &offset, 8);
    }
}

/* Element (row, col) of X. */
static const char *element(const hybrid_dense *X, int64_t row, int64_t col)
{
    return hy_dense_at(X, X->order == HYBRID_ROW_MAJOR ? row * X->ld + col
                                                       : row + col * X->ld);
}

/* Rows [row, row + rows) of an X of which only some are rows of the caller's, columns
   [begin, end), element by element. */
static void copy_listed(const hy_problem *problem, int64_t row, int64_t rows,
                        int64_t begin, int64_t end, const hy_grid *to)
{
    const hybrid_dense *X = problem->X;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const hy_grid from    = {(char *)X->data + (size_t)(begin * (in_rows ? 1 : X->ld)) *
                                                   hy_value_size(X->type),
                          in_rows ? X->ld : 1, in_rows ? 1 : X->ld};

    hy_copy_listed(to, &from, problem->x_rows + row, rows, end - begin,
                   hy_value_size(X->type));
}

/* Nobody else sees which row is next of those that are listed. */
static void expect(const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes && at < EXPECTED; at += HY_LINE)
        __builtin_prefetch(from + at);
}

/* Rows [row, row + rows) and columns [begin, end), to rows `ld` elements apart. */
static void copy_rows(const hy_problem *problem, int64_t row, int64_t rows, int64_t begin,
                      int64_t end, char *dst, int64_t ld)
{
    const hybrid_dense *X = problem->X;
    const int32_t *listed = problem->x_rows;
    const size_t size     = hy_value_size(X->type);
    const hy_grid to      = {dst, ld, 1};

    if (X->order == HYBRID_COL_MAJOR && listed)
        copy_listed(problem, row, rows, begin, end, &to);
    else if (X->order == HYBRID_COL_MAJOR)
        hy_turn(element(X, row, begin), X->ld, rows, end - begin, size, dst, ld);
    else
        for (int64_t i = row; i < row + rows; i++, dst += (size_t)ld * size) {
            if (listed && i + AHEAD < row + rows)
                expect(element(X, listed[i + AHEAD], begin),
                       (size_t)(end - begin) * size);
            memcpy(dst, element(X, listed ? listed[i] : i, begin),
                   (size_t)(end - begin) * size);
        }
}

/* The same of a panel, whose rows zeros fill up: its columns [begin, end), `end` perhaps
   among what is filled. */
static void fill_rows(const hy_problem *problem, const hy_x_panel *p, int64_t row,
                      int64_t rows, int64_t begin, int64_t end, char *dst)
{
    const size_t size   = hy_value_size(problem->X->type);
    const int64_t last  = end < p->cols ? end : p->cols;
    const int64_t there = last > begin ? last - begin : 0;

    if (there > 0)
        copy_rows(problem, row, rows, p->begin + begin, p->begin + last, dst, p->ld);
    for (int64_t i = 0; i < rows && there < end - begin; i++)
        memset(dst + (size_t)(i * p->ld + there) * size, 0,
               (size_t)(end - begin - there) * size);
}

/* The same, to columns `ld` elements apart. */
static void copy_cols(const hy_problem *problem, int64_t row, int64_t rows, int64_t begin,
                      int64_t end, char *dst, int64_t ld)
{
    const hybrid_dense *X = problem->X;
    const size_t size     = hy_value_size(X->type);
    const hy_grid to      = {dst, 1, ld};

    if (problem->x_rows) {
        copy_listed(problem, row, rows, begin, end, &to);
        return;
    }
    if (X->order == HYBRID_ROW_MAJOR) {
        hy_turn(element(X, row, begin), X->ld, end - begin, rows, size, dst, ld);
        return;
    }
    for (int64_t j = begin; j < end; j++)
        memcpy(dst + (size_t)((j - begin) * ld) * size, element(X, row, j),
               (size_t)rows * size);
}

/* Elements [begin, end) of one slab of X, of `height` rows from `row` on: the end of a
   column, whole columns, the beginning of a column. */
static void make_slab(const hy_problem *problem, int64_t row, int64_t height,
                      int64_t begin, int64_t end, char *dst)
{
    const size_t size  = hy_value_size(problem->X->type);
    int64_t col        = begin / height;
    const int64_t skip = begin % height;

    if (skip > 0 && begin < end) {
        const int64_t n = end - begin < height - skip ? end - begin : height - skip;
        copy_cols(problem, row + skip, n, col, col + 1, dst, height);
        col++;
        dst += (size_t)n * size;
        begin += n;
    }
    const int64_t whole = (end - begin) / height;
    const int64_t rest  = (end - begin) % height;
    copy_cols(problem, row, height, col, col + whole, dst, height);
    if (rest > 0)
        copy_cols(problem, row, rest, col + whole, col + whole + 1,
                  dst + (size_t)(whole * height) * size, height);
}

void hy_shared_fill_columns(const hy_problem *problem, const hy_x_panel *x, int64_t row,
                            int64_t rows, size_t at, size_t bytes, char *dst)
{
    const size_t size   = hy_value_size(problem->X->type);
    const int64_t begin = rows * x->begin + (int64_t)(at / size);

    make_slab(problem, row, rows, begin, begin + (int64_t)(bytes / size), dst);
}

/* Elements [begin, end) of X in slabs. */
static void make_slabs(const void *source, int64_t begin, int64_t end, char *dst)
{
    const hy_problem *problem = source;
    const hybrid_dense *X     = problem->X;
    const int64_t each        = HY_X_SLAB * X->cols;

    while (begin < end) {
        const int64_t slab = begin / each, row = slab * HY_X_SLAB;
        const int64_t height = X->rows - row < HY_X_SLAB ? X->rows - row : HY_X_SLAB;
        const int64_t stop   = end - slab * each < each ? end : (slab + 1) * each;
        make_slab(problem, row, height, begin - slab * each, stop - slab * each, dst);
        dst += (size_t)(stop - begin) * hy_value_size(X->type);
        begin = stop;
    }
}

/* Elements [begin, end) of rows of X: the end of a row, whole rows, the beginning of a
   row. */
static void make_rows(const hy_problem *problem, const hy_x_panel *p, int64_t begin,
                      int64_t end, char *dst)
{
    const size_t size  = hy_value_size(problem->X->type);
    int64_t row        = begin / p->ld;
    const int64_t skip = begin % p->ld;

    if (skip > 0 && begin < end) {
        const int64_t n = end - begin < p->ld - skip ? end - begin : p->ld - skip;
        fill_rows(problem, p, row++, 1, skip, skip + n, dst);
        dst += (size_t)n * size;
        begin += n;
    }
    const int64_t whole = (end - begin) / p->ld;
    const int64_t rest  = (end - begin) % p->ld;
    fill_rows(problem, p, row, whole, 0, p->ld, dst);
    if (rest > 0)
        fill_rows(problem, p, row + whole, 1, 0, rest,
                  dst + (size_t)(whole * p->ld) * size);
}

/* Of a panel what is in its lines, and what lies apart. */
static hy_x_panel lines_of(const hy_x_panel *p)
{
    return (hy_x_panel){.begin = p->begin, .cols = p->cols - p->rest, .ld = p->ld};
}

static hy_x_panel rest_of(const hy_x_panel *p)
{
    return (hy_x_panel){
        .begin = p->begin + p->cols - p->rest, .cols = p->rest, .ld = p->rest_ld};
}

void hy_shared_fill_rows(const hy_problem *problem, const hy_x_panel *x, int64_t row,
                         int64_t rows, char *lines, char *rest)
{
    const hy_x_panel near = lines_of(x), apart = rest_of(x);

    fill_rows(problem, &near, row, rows, 0, near.ld, lines);
    fill_rows(problem, &apart, row, rows, 0, apart.ld, rest);
}

/* Elements [begin, end) of a panel of X: rows, and the rest of each behind them. */
static void make_panel(const hy_problem *problem, const hy_x_panel *p, int64_t begin,
                       int64_t end, char *dst)
{
    const hy_x_panel lines = lines_of(p), rest = rest_of(p);
    const int64_t behind = problem->X->rows * p->ld;
    const int64_t middle = begin > behind ? begin : end < behind ? end : behind;

    if (begin < middle)
        make_rows(problem, &lines, begin, middle, dst);
    if (middle < end)
        make_rows(problem, &rest, middle - behind, end - behind,
                  dst + (size_t)(middle - begin) * hy_value_size(problem->X->type));
}

/* Elements [begin, end) of X in panels. */
static void make_dense(const void *source, int64_t begin, int64_t end, char *dst)
{
    const hy_problem *problem = source;

    while (begin < end) {
        const hy_x_panel p = hy_shared_panel_at(problem, begin);
        const int64_t stop = end < p.end ? end : p.end;
        make_panel(problem, &p, begin - p.first, stop - p.first, dst);
        dst += (size_t)(stop - begin) * hy_value_size(problem->X->type);
        begin = stop;
    }
}

/* X lies in memory as its image does. */
static int is_flat(const hy_problem *problem)
{
    const hybrid_dense *X = problem->X;
    const int in_cols = problem->in_cols, in_rows = X->order == HYBRID_ROW_MAJOR;

    if (problem->x_rows || problem->panels.cols > 0 ||
        (!in_cols && hy_shared_panel(problem, 0).ld != X->cols))
        return 0;
    if (in_rows ? X->ld != X->cols : X->ld != X->rows && X->cols != 1)
        return 0;
    return X->cols == 1 || (in_cols ? !in_rows && X->rows <= HY_X_SLAB : in_rows);
}

/* ---- fill -------------------------------------------------------------------- */

/* The part of [at, at + bytes) that lies in [begin, end), as offsets from begin. */
static size_t overlap(size_t at, size_t bytes, size_t begin, size_t end, size_t *from)
{
    const size_t first = at > begin ? at : begin;
    const size_t last  = at + bytes < end ? at + bytes : end;

    *from = first - begin;
    return first < last ? last - first : 0;
}

/* The array of B that holds these bytes, all of them, as they are. */
static const void *source_csr(const hybrid_csr *B, size_t at, size_t bytes)
{
    const hy_shared_layout to = csr_layout(B);
    const size_t begin[]      = {0, to.col, to.val};
    const size_t ends[]       = {((size_t)B->rows + 1) * 8, to.col + (size_t)B->nnz * 4,
                                 to.bytes};
    const void *source[]      = {B->offset_type == HYBRID_I64 ? B->row_ptr : NULL, B->col,
                            B->val};

    for (int k = 0; k < 3; k++)
        if (source[k] && at >= begin[k] && at + bytes <= ends[k])
            return (const char *)source[k] + (at - begin[k]);
    return NULL;
}

const void *hy_shared_source(const hy_problem *problem, size_t at, size_t bytes)
{
    if (problem->op == HY_SPGEMM)
        return source_csr(problem->B, at, bytes);
    if (bytes == 0 || !is_flat(problem))
        return NULL;
    return (const char *)problem->X->data + at;
}

static void fill_csr(const hybrid_csr *B, size_t at, size_t bytes, char *dst)
{
    const hy_shared_layout to = csr_layout(B);
    const size_t ends[]       = {((size_t)B->rows + 1) * 8, to.col + (size_t)B->nnz * 4,
                                 to.bytes};
    const size_t begin[]      = {0, to.col, to.val};
    const void *source[]      = {B->row_ptr, B->col, B->val};
    const array offsets       = {make_offsets, B, 8};
    size_t from;

    for (int k = 0; k < 3; k++) {
        const size_t n = overlap(at, bytes, begin[k], ends[k], &from);
        char *to_piece = dst + (begin[k] + from - at);
        if (n == 0)
            continue;
        if (k == 0 && B->offset_type == HYBRID_I32)
            make_bytes(&offsets, from, n, to_piece);
        else
            memcpy(to_piece, (const char *)source[k] + from, n);
    }
    for (int k = 0; k < 2; k++) { /* padding */
        const size_t n = overlap(at, bytes, ends[k], begin[k + 1], &from);
        if (n > 0)
            memset(dst + (ends[k] + from - at), 0, n);
    }
}

void hy_shared_fill(const hy_problem *problem, size_t at, size_t bytes, char *dst)
{
    if (problem->op == HY_SPGEMM) {
        fill_csr(problem->B, at, bytes, dst);
        return;
    }
    const hybrid_dense *X = problem->X;
    const array elements  = {problem->in_cols ? make_slabs : make_dense, problem,
                            hy_value_size(X->type)};
    if (bytes == 0)
        return;
    if (is_flat(problem))
        memcpy(dst, (const char *)X->data + at, bytes);
    else
        make_bytes(&elements, at, bytes, dst);
}
