/* io/parts/join.c - several matrices in files, one below the other, as one matrix.

   Each of the three arrays of the joined matrix (offsets, columns, values) reads from the
   corresponding arrays of the parts. A reading that spans several parts becomes one
   reading of each. Joined offsets have 64 bits. */
#include "io/parts/join.h"

#include <stddef.h>
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"

/* One array of the joined matrix: the corresponding arrays of all parts. */
typedef struct joined {
    int64_t count;
    hy_stored *part;  /* the corresponding array of each part */
    int64_t *first;   /* count + 1 indices: first[p] is the index of the first number of
                         part p */
    int64_t *base;    /* for offsets only: base[p] is the number of entries before part p;
                         count + 1 numbers */
    const char *name; /* name of the joined matrix, for messages */
} joined;

/* Returns the last part that begins at or before number `index`, and that has numbers if
   any such part has. */
static int64_t part_of(const joined *j, int64_t index)
{
    int64_t low = 0, high = j->count;

    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (j->first[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static hybrid_status read_values(const hy_stored *self, int64_t first, int64_t count,
                                 void *to)
{
    const joined *j = self->reader;
    char *at        = to;

    for (int64_t p = part_of(j, first), n; count > 0; p++, first += n, count -= n) {
        n = hy_min(count, j->first[p + 1] - first);
        if (n == 0)
            continue;
        HY_TRY(hy_stored_read(&j->part[p], first - j->first[p], n, at));
        at += (size_t)n * self->size;
    }
    return HYBRID_OK;
}

/* Reads `count` offsets of a part, widens them, and adds the part's base. */
static hybrid_status read_piece(const joined *j, int64_t p, int64_t first, int64_t count,
                                int64_t *to)
{
    const hy_stored *part = &j->part[p];
    const int64_t base = j->base[p], most = j->base[p + 1] - base;
    const int is_narrow = part->size == 4;
    const int32_t *half = (const int32_t *)(const void *)to + count;

    HY_TRY(hy_stored_read(part, first, count,
                          (char *)to + (is_narrow ? (size_t)count * 4 : 0)));
    for (int64_t i = 0; i < count; i++) {
        const int64_t offset = is_narrow ? half[i] : to[i], row = first + i;
        if (offset < 0 || offset > most)
            return hy_fail(part->ctx, HYBRID_BAD_MATRIX,
                           "%s: part %lld: offset %lld of row %lld is not in 0..%lld",
                           j->name, (long long)p, (long long)offset, (long long)row,
                           (long long)most);
        to[i] = base + offset;
    }
    return HYBRID_OK;
}

/* The last offset of a part is the first of the next, so that it is read from the last
   part only. */
static hybrid_status read_offsets(const hy_stored *self, int64_t first, int64_t count,
                                  void *to)
{
    const joined *j = self->reader;
    int64_t *at     = to;

    for (int64_t p = part_of(j, first), n; count > 0; p++, first += n, count -= n) {
        n = hy_min(count, j->first[p + 1] - first);
        HY_TRY(read_piece(j, p, first - j->first[p], n, at));
        at += n;
    }
    return HYBRID_OK;
}

static void close_joined(hy_stored *self)
{
    joined *j = self->reader;

    for (int64_t p = 0; p < j->count; p++)
        hy_stored_close(&j->part[p]);
    hy_array_free(self->ctx, j);
}

static const hy_stored_ops value_ops  = {.read = read_values, .close = close_joined};
static const hy_stored_ops offset_ops = {.read = read_offsets, .close = close_joined};

/* Joins the arrays of all parts that lie at byte `field` of hy_matrix_file, and moves
   them to *out. */
static hybrid_status join_arrays(hy_matrix_file *parts, int64_t count, size_t field,
                                 const char *name, hy_stored *out)
{
    const size_t indices = (size_t)(count + 1) * sizeof(int64_t);
    hy_context *ctx      = parts->ctx;
    void *memory;

    HY_TRY(hy_array(ctx, 1,
                    sizeof(joined) + (size_t)count * sizeof(hy_stored) + 2 * indices,
                    "parts of a matrix", &memory));
    joined *j       = memory;
    hy_stored *part = (void *)(j + 1);
    int64_t *first  = (void *)(part + count);
    *j              = (joined){count, part, first, first + count + 1, name};
    first[0]        = 0;
    for (int64_t p = 0; p < count; p++) {
        hy_stored *array = (void *)((char *)&parts[p] + field);
        part[p]          = *array;
        first[p + 1]     = first[p] + array->count;
        *array           = (hy_stored){.ops = NULL};
    }
    *out = (hy_stored){&value_ops, ctx, part[0].size, first[count], j};
    return HYBRID_OK;
}

/* Makes *out, the joined arrays of offsets, the offsets of one matrix, whose columns are
   `col`. `first` then counts rows, and the last offset belongs to the last part. */
static void as_offsets(hy_stored *out, const hy_stored *col)
{
    const joined *columns = col->reader;
    joined *j             = out->reader;

    memcpy(j->base, columns->first, (size_t)(j->count + 1) * sizeof(int64_t));
    for (int64_t p = 0; p < j->count; p++)
        j->first[p] -= p;
    j->first[j->count] -= j->count - 1;
    out->ops   = &offset_ops;
    out->size  = 8;
    out->count = j->first[j->count];
}

static hybrid_status check_end(const hy_matrix_file *part, int64_t row, int64_t wanted)
{
    union {
        int32_t narrow;
        int64_t wide;
    } offset;

    HY_TRY(hy_stored_read(&part->row_ptr, row, 1, &offset));
    const int64_t is = part->row_ptr.size == 4 ? offset.narrow : offset.wide;
    if (is == wanted)
        return HYBRID_OK;
    return hy_fail(part->ctx, HYBRID_BAD_MATRIX,
                   "%s: offset %lld is %lld, and must be %lld", part->name,
                   (long long)row, (long long)is, (long long)wanted);
}

static hybrid_status refuse(const hy_matrix_file *part, const hy_matrix_file *first,
                            const char *what)
{
    return hy_fail(part->ctx, HYBRID_BAD_FILE,
                   "%s: cannot be joined to the rows of %s: %s", part->name, first->name,
                   what);
}

static hybrid_status check_part(const hy_matrix_file *part, const hy_matrix_file *first)
{
    const hybrid_dense *X = &part->dense;

    if (part->sparse != first->sparse)
        return refuse(part, first, "one is sparse and one is dense");
    if (part->csr.cols + X->cols != first->csr.cols + first->dense.cols)
        return refuse(part, first, "they differ in columns");
    if (part->values.size != first->values.size)
        return refuse(part, first, "they differ in type");
    if (!part->sparse && (X->order != HYBRID_ROW_MAJOR || X->ld != X->cols))
        return refuse(part, first,
                      "a part of a dense matrix must be in rows without gaps");
    if (!part->sparse)
        return HYBRID_OK;
    HY_TRY(check_end(part, 0, 0));
    return check_end(part, part->csr.rows, part->csr.nnz);
}

static hybrid_status sum(const hy_matrix_file *out, int64_t *total, int64_t more)
{
    return __builtin_add_overflow(*total, more, total) || *total > INT64_MAX / 16
               ? hy_fail(out->ctx, HYBRID_BAD_FILE,
                         "%s: the parts have 2^59 rows or entries together", out->name)
               : HYBRID_OK;
}

static hybrid_status join(hy_matrix_file *parts, int64_t count, hy_matrix_file *out)
{
    int64_t rows = 0, nnz = 0;

    for (int64_t p = 0; p < count; p++) {
        HY_TRY(check_part(&parts[p], parts));
        HY_TRY(sum(out, &rows, parts[p].csr.rows + parts[p].dense.rows));
        HY_TRY(sum(out, &nnz, parts[p].values.count));
    }
    out->sparse = parts->sparse;
    out->csr    = parts->csr;
    out->dense  = parts->dense;
    HY_TRY(join_arrays(parts, count, offsetof(hy_matrix_file, values), out->name,
                       &out->values));
    if (!out->sparse) {
        out->dense.rows = rows;
        return HYBRID_OK;
    }
    out->csr.rows        = rows;
    out->csr.nnz         = nnz;
    out->csr.offset_type = HYBRID_I64;
    HY_TRY(
        join_arrays(parts, count, offsetof(hy_matrix_file, col), out->name, &out->col));
    HY_TRY(join_arrays(parts, count, offsetof(hy_matrix_file, row_ptr), out->name,
                       &out->row_ptr));
    as_offsets(&out->row_ptr, &out->col);
    return HYBRID_OK;
}

static void close_part(hy_matrix_file *part)
{
    hy_stored_close(&part->row_ptr);
    hy_stored_close(&part->col);
    hy_stored_close(&part->values);
    if (part->ctx)
        hy_array_free(part->ctx, part->name);
    *part = (hy_matrix_file){.ctx = NULL};
}

/* Moves *part to *out, which keeps its own name. */
static hybrid_status move(hy_matrix_file *part, hy_matrix_file *out)
{
    char *name = out->name;

    *out          = *part;
    out->name     = name;
    part->row_ptr = part->col = part->values = (hy_stored){.ops = NULL};
    return HYBRID_OK;
}

hybrid_status hy_matrix_files_join(hy_matrix_file *parts, int64_t count,
                                   hy_matrix_file *out)
{
    const hybrid_status status = count == 1 ? move(parts, out) : join(parts, count, out);

    for (int64_t p = 0; p < count; p++)
        close_part(&parts[p]);
    return status;
}
