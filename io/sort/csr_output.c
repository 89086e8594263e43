/* io/sort/csr_output.c - stores ascending entries as compressed rows.

   Records are cut into pieces. A group is all records of one row and column, and belongs
   to the piece in which it begins. The number of groups before a piece is the position of
   its entries in the result, so that workers store pieces in any order. */
#include "io/sort/csr_output.h"

#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/text/size_text.h"
#include "base/threads/pool.h"
#include "io/formats/plain_numbers.h"
#include "io/sort/alike.h"
#include "io/text/io_sizes.h"

enum { OFFSETS = 4096 }; /* offsets that a worker collects before it stores them */

/* ---- arrays ------------------------------------------------------------------------ */

static hybrid_status open_array(hy_context *ctx, int in_memory, int64_t count,
                                size_t size, hy_out_array *out)
{
    void *memory;

    *out = (hy_out_array){.size = size};
    if (!in_memory)
        return hy_spill_open(ctx, &out->spill);
    HY_TRY(hy_array(ctx, count + 1, size, "a matrix that was read", &memory));
    out->memory = memory;
    return HYBRID_OK;
}

/* Stores numbers [first, first + count). Any thread may call it. */
static hybrid_status put(const hy_out_array *array, int64_t first, int64_t count,
                         const void *numbers)
{
    const size_t bytes = (size_t)count * array->size;
    const int64_t at   = first * (int64_t)array->size;

    if (!array->memory)
        return hy_spill_write(&array->spill, numbers, bytes, at);
    memcpy(array->memory + at, numbers, bytes);
    return HYBRID_OK;
}

static void close_array(hy_context *ctx, hy_out_array *array)
{
    hy_spill_close(&array->spill);
    hy_array_free(ctx, array->memory);
    array->memory = NULL;
}

/* Refuses a matrix whose offsets would fill the disk. A file of some bytes may announce
   2^32 rows. */
static hybrid_status check_offsets(hy_context *ctx, const char *name, int64_t rows)
{
    const int64_t bytes = (rows + 1) * (int64_t)sizeof(int64_t);
    const int64_t left  = hy_spill_left(ctx);

    if (bytes <= left)
        return HYBRID_OK;
    return hy_fail(
        ctx, HYBRID_IO_FAILED,
        "%s: the offsets of %lld rows take %s, and the folder '%s' has %s left "
        "for temporary files; give another folder (spill_path, --spill or "
        "TMPDIR), or number the rows without gaps",
        name, (long long)rows, hy_size(bytes).s, hy_spill_folder(ctx), hy_size(left).s);
}

hybrid_status hy_csr_output_open(const hy_entry_reader *entries, const char *name,
                                 int in_memory, int64_t nnz, hy_csr_output *out)
{
    hy_context *ctx        = entries->ctx;
    const int64_t rows     = entries->rows;
    const hybrid_type type = entries->type;

    *out = (hy_csr_output){.ctx        = ctx,
                           .name       = name,
                           .base       = entries->base,
                           .type       = type,
                           .row        = -1,
                           .has_values = in_memory};
    if (!in_memory)
        HY_TRY(check_offsets(ctx, name, rows));
    HY_TRY(open_array(ctx, in_memory, rows + 1, sizeof(int64_t), &out->row_ptr));
    HY_TRY(open_array(ctx, in_memory, nnz, sizeof(int32_t), &out->col));
    return open_array(ctx, in_memory, nnz, hy_value_size(type), &out->values);
}

void hy_csr_output_close(hy_csr_output *out)
{
    if (!out->ctx)
        return;
    close_array(out->ctx, &out->row_ptr);
    close_array(out->ctx, &out->col);
    close_array(out->ctx, &out->values);
    out->ctx = NULL;
}

/* ---- offsets of rows --------------------------------------------------------------- */

/* Offsets of rows that follow each other, on their way to the array. */
typedef struct offsets {
    const hy_out_array *to;
    int64_t first; /* row of the first offset */
    int64_t count;
    int64_t at[OFFSETS];
} offsets;

static hybrid_status flush(offsets *o)
{
    const int64_t first = o->first, count = o->count;

    o->first += count;
    o->count = 0;
    return put(o->to, first, count, o->at);
}

/* Sets the offsets of all rows from the next one up to `row` to `offset`. */
static hybrid_status set_offsets(offsets *o, int64_t row, int64_t offset)
{
    while (o->first + o->count <= row) {
        if (o->count == OFFSETS)
            HY_TRY(flush(o));
        o->at[o->count++] = offset;
    }
    return HYBRID_OK;
}

static int64_t row_of(const hy_csr_output *out, uint64_t key)
{
    return hy_key_row(key) - out->base;
}

/* ---- pieces ------------------------------------------------------------------------ */

/* Memory in which a worker makes the columns, values and offsets of a piece. */
typedef struct room {
    int32_t *col;
    char *values;
    offsets offsets;
} room;

typedef struct storing {
    const hy_csr_output *out;
    const hy_record *records;
    int64_t count, each, pieces; /* each: number of records in a piece */
    int64_t *first;              /* pieces + 1 numbers: groups before each piece */
    room **rooms; /* array with an element for each part of a loop (worker inside it);
                     NULL: not used yet */
} storing;

static int begins_group(const storing *s, int64_t k)
{
    return k == 0 || !hy_key_same(s->records[k].key, s->records[k - 1].key);
}

static int64_t piece_end(const storing *s, int64_t piece)
{
    return hy_min((piece + 1) * s->each, s->count);
}

static hybrid_status count_groups(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s = arg;
    (void)part;

    for (int64_t piece = begin; piece < end; piece++) {
        int64_t groups = 0;
        for (int64_t k = piece * s->each; k < piece_end(s, piece); k++)
            groups += begins_group(s, k);
        s->first[piece] = groups;
    }
    return HYBRID_OK;
}

/* Sums the values of the group that begins at record k, among `count` records. Records of
   a group whose keys differ are entries and mirror images: an error. */
static hybrid_status sum_group(const hy_csr_output *out, const hy_record *records,
                               int64_t k, int64_t count, double *sum)
{
    const uint64_t key  = records[k].key;
    const long long row = (long long)hy_key_row(key), col = hy_key_col(key);
    const long long low = row < col ? row : col, high = row < col ? col : row;

    *sum = records[k].value;
    for (int64_t i = k + 1; i < count && hy_key_same(records[i].key, key); i++) {
        if (records[i].key != key)
            return hy_fail(out->ctx, HYBRID_BAD_FILE,
                           "%s: entry (%lld,%lld) and its mirror (%lld,%lld) are both "
                           "stored in a symmetric file",
                           out->name, low, high, high, low);
        *sum += records[i].value;
    }
    return HYBRID_OK;
}

/* Makes the columns and values of a piece, and stores its offsets. */
static hybrid_status convert_piece(const storing *s, int64_t piece, room *r)
{
    const int64_t begin = piece * s->each, end = piece_end(s, piece);
    const int64_t base     = s->out->nnz + s->first[piece];
    const hy_record *group = s->records;
    int64_t n              = 0;

    r->offsets.to = &s->out->row_ptr;
    r->offsets.first =
        1 + (begin > 0 ? row_of(s->out, group[begin - 1].key) : s->out->row);
    r->offsets.count = 0;
    for (int64_t k = begin; k < end; k++) {
        if (!begins_group(s, k))
            continue;
        double sum;
        HY_TRY(sum_group(s->out, group, k, s->count, &sum));
        HY_TRY(set_offsets(&r->offsets, row_of(s->out, group[k].key), base + n));
        r->col[n] = (int32_t)(hy_key_col(group[k].key) - s->out->base);
        hy_value_put(s->out->type, r->values, n++, sum);
    }
    return flush(&r->offsets);
}

static hybrid_status open_room(const storing *s, room **out)
{
    hy_context *ctx     = s->out->ctx;
    const int64_t count = hy_min(s->each, s->count);
    const size_t size   = sizeof(int32_t) + hy_value_size(s->out->type);
    void *memory;

    HY_TRY(hy_array(ctx, (int64_t)sizeof(room) + count * (int64_t)size, 1,
                    "entries of a piece", &memory));
    room *r   = memory;
    r->values = (char *)(r + 1);
    r->col = (int32_t *)(void *)(r->values + (size_t)count * hy_value_size(s->out->type));
    *out   = r;
    return HYBRID_OK;
}

static hybrid_status store_pieces(void *arg, int part, int64_t begin, int64_t end)
{
    const storing *s = arg;

    if (!s->rooms[part])
        HY_TRY(open_room(s, &s->rooms[part]));
    for (int64_t piece = begin; piece < end; piece++) {
        const int64_t at    = s->out->nnz + s->first[piece];
        const int64_t count = s->first[piece + 1] - s->first[piece];
        HY_TRY(convert_piece(s, piece, s->rooms[part]));
        HY_TRY(put(&s->out->col, at, count, s->rooms[part]->col));
        if (s->out->has_values)
            HY_TRY(put(&s->out->values, at, count, s->rooms[part]->values));
    }
    return HYBRID_OK;
}

/* Stores the values that are left out so far, and all later ones. */
static hybrid_status begin_values(hy_csr_output *out)
{
    char values[OFFSETS * sizeof(double)];

    out->has_values = 1;
    for (int64_t k = 0; k < OFFSETS; k++)
        hy_value_put(out->type, values, k, out->value);
    for (int64_t at = 0; at < out->nnz; at += OFFSETS)
        HY_TRY(put(&out->values, at, hy_min(OFFSETS, out->nnz - at), values));
    return HYBRID_OK;
}

/* Values are stored from the first one on that differs from others. Values that are
   summed count as different. */
static hybrid_status inspect_values(hy_csr_output *out, const storing *s)
{
    if (out->has_values)
        return HYBRID_OK;
    if (out->nnz == 0)
        out->value = s->records[0].value;
    return s->first[s->pieces] == s->count &&
                   hy_records_alike(s->records, s->count, out->value)
               ? HYBRID_OK
               : begin_values(out);
}

static hybrid_status run(hy_csr_output *out, storing *s)
{
    hy_context *ctx = out->ctx;
    void *array;

    HY_TRY(hy_array(ctx, s->pieces + 1, sizeof *s->first, "pieces of entries", &array));
    s->first = array;
    HY_TRY(hy_array(ctx, hy_pool_threads(ctx->pool), sizeof(void *), "workers' memory",
                    &array));
    s->rooms = memset(array, 0, (size_t)hy_pool_threads(ctx->pool) * sizeof(void *));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->pieces, 1, count_groups, s));
    HY_TRY(hy_prefix_sum(ctx, s->first, s->pieces));
    HY_TRY(inspect_values(out, s));
    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, s->pieces, 1, store_pieces, s));
    out->nnz += s->first[s->pieces];
    out->row = row_of(out, s->records[s->count - 1].key);
    return HYBRID_OK;
}

/* Stores records. A later call must not continue a group of them. */
static hybrid_status store(hy_csr_output *out, const hy_record *records, int64_t count)
{
    const int64_t each = hy_io_sizes_of(out->ctx)->records_piece;
    storing s          = {.out     = out,
                          .records = records,
                          .count   = count,
                          .each    = each,
                          .pieces  = hy_pieces_of(count, each)};

    if (count == 0)
        return HYBRID_OK;
    const hybrid_status status = run(out, &s);
    for (int i = 0; s.rooms && i < hy_pool_threads(out->ctx->pool); i++)
        hy_array_free(out->ctx, s.rooms[i]);
    hy_array_free(out->ctx, s.rooms);
    hy_array_free(out->ctx, s.first);
    return status;
}

/* ---- functions --------------------------------------------------------------------- */

hybrid_status hy_csr_output_append(hy_csr_output *out, hy_record *records, int64_t count)
{
    if (out->has_carry) {
        *--records = out->carry;
        count++;
    }
    if (count == 0)
        return HYBRID_OK;
    int64_t whole = count - 1;
    while (whole > 0 && hy_key_same(records[whole - 1].key, records[whole].key))
        whole--;
    out->carry.key = records[whole].key;
    out->has_carry = 1;
    HY_TRY(sum_group(out, records, whole, count, &out->carry.value));
    return store(out, records, whole);
}

static hybrid_status read_memory(const hy_stored *self, int64_t first, int64_t count,
                                 void *to)
{
    memcpy(to, (const char *)self->reader + first * (int64_t)self->size,
           (size_t)count * self->size);
    return HYBRID_OK;
}

static void close_memory(hy_stored *self)
{
    hy_array_free(self->ctx, self->reader);
}

/* Moves `count` numbers of *array, in memory or in a spill, to *out. */
static hybrid_status take(hy_csr_output *output, hy_out_array *array, int64_t count,
                          const char *name, hy_stored *out)
{
    static const hy_stored_ops ops = {.read = read_memory, .close = close_memory};

    if (!array->memory) {
        const int fd = array->spill.fd;
        array->spill = (hy_spill){.ctx = NULL};
        return hy_plain_numbers_take(output->ctx, name, fd, count, array->size, out);
    }
    *out          = (hy_stored){&ops, output->ctx, array->size, count, array->memory};
    array->memory = NULL;
    return HYBRID_OK;
}

hybrid_status hy_csr_output_finish(hy_csr_output *out, int64_t rows, int64_t cols,
                                   hy_matrix_file *matrix)
{
    offsets rest = {.to = &out->row_ptr};

    if (out->has_carry)
        HY_TRY(store(out, &out->carry, 1));
    out->has_carry = 0;
    rest.first     = out->row + 1;
    HY_TRY(set_offsets(&rest, rows, out->nnz));
    HY_TRY(flush(&rest));
    matrix->sparse = 1;
    matrix->csr    = (hybrid_csr){.rows        = rows,
                                  .cols        = cols,
                                  .nnz         = out->nnz,
                                  .offset_type = HYBRID_I64,
                                  .type        = out->type,
                                  .col_type    = HYBRID_I32,
                                  .space       = HYBRID_SPACE_HOST};
    HY_TRY(take(out, &out->row_ptr, rows + 1, matrix->name, &matrix->row_ptr));
    HY_TRY(take(out, &out->col, out->nnz, matrix->name, &matrix->col));
    return out->has_values
               ? take(out, &out->values, out->nnz, matrix->name, &matrix->values)
               : hy_alike_numbers(out->ctx, out->type, out->value, out->nnz,
                                  &matrix->values);
}
