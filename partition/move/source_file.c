/* partition/move/source_file.c - source of an X in a file.

   X is not cached in memory. Each rectangle is read when it is needed, by the worker that
   needs it.

   A line of the rectangle is read directly to its destination if it is long, if lines are
   far apart in the file, or if lines are contiguous in the file and in memory. Other
   lines, and all that must be transposed, are read in pieces to the worker's stack. A
   piece may hold several lines with the bytes between them, because one call for each
   short line would take longer than reading bytes that are not needed. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/move/sources.h"
#include "partition/move/transpose.h"

enum { PIECE_BYTES = 32 << 10, LONG_BYTES = 8 << 10, FAR_BYTES = 4 << 10 };

/* A rectangle of X as lines of the file (rows or columns), and its destination. */
typedef struct reading {
    const hy_stored *from;
    int64_t ld;            /* elements in the file from the beginning of a line to that of
                              the next */
    size_t size;           /* bytes of an element */
    int64_t at;            /* index in the file of the rectangle's first element */
    int64_t lines, length; /* number of lines; elements of a line */
    char *to;
    int64_t line, step; /* distances at the destination, in elements: `line` from line to
                           line, `step` between neighbours in a line */
} reading;

/* Returns 1 if the gap between two lines is too large to be read along with them. */
static int is_far(const reading *r)
{
    return (r->ld - r->length) * (int64_t)r->size >= FAR_BYTES;
}

/* Reads each line directly to the destination. If the lines are contiguous both in the
   file and at the destination, reads all of them at once. */
static hybrid_status read_lines(const reading *r)
{
    const int64_t ld = r->ld;

    if (r->length == ld && r->line == ld)
        return hy_stored_read(r->from, r->at, r->lines * ld, r->to);
    for (int64_t l = 0; l < r->lines; l++)
        HY_TRY(hy_stored_read(r->from, r->at + l * ld, r->length,
                              r->to + (size_t)(l * r->line) * r->size));
    return HYBRID_OK;
}

/* Copies elements [begin, begin + length) of lines [line, line + lines) from `from` to
   the destination. */
static void place(const reading *r, int64_t line, int64_t lines, int64_t begin,
                  int64_t length, const char *from)
{
    const int64_t ld = r->ld;
    char *to         = r->to + (size_t)(line * r->line + begin * r->step) * r->size;

    if (r->step != 1)
        hy_transpose(from, ld, length, lines, r->size, to, r->step);
    else
        for (int64_t l = 0; l < lines; l++)
            memcpy(to + (size_t)(l * r->line) * r->size,
                   from + (size_t)(l * ld) * r->size, (size_t)length * r->size);
}

static hybrid_status read_pieces(const reading *r)
{
    char piece[PIECE_BYTES];
    const int64_t ld = r->ld, room = PIECE_BYTES / (int64_t)r->size;
    const int64_t length = hy_min(r->length, room);
    const int64_t lines  = is_far(r) ? 1 : 1 + (room - length) / ld;

    for (int64_t l = 0; l < r->lines; l += lines)
        for (int64_t e = 0; e < r->length; e += length) {
            const int64_t n = hy_min(lines, r->lines - l);
            const int64_t m = hy_min(length, r->length - e);
            HY_TRY(hy_stored_read(r->from, r->at + l * ld + e, (n - 1) * ld + m, piece));
            place(r, l, n, e, m, piece);
        }
    return HYBRID_OK;
}

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hybrid_dense *X = self->dense;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const reading r       = {.from   = &self->matrix_file->values,
                             .ld     = X->ld,
                             .size   = hy_value_size(X->type),
                             .at     = in_rows ? rect->row * X->ld + rect->col
                                               : rect->col * X->ld + rect->row,
                             .lines  = in_rows ? rect->rows : rect->cols,
                             .length = in_rows ? rect->cols : rect->rows,
                             .to     = to->at,
                             .line   = in_rows ? to->row : to->col,
                             .step   = in_rows ? to->col : to->row};
    const int is_direct   = r.lines == 1 || is_far(&r) ||
                          r.length * (int64_t)r.size >= LONG_BYTES ||
                          (r.length == X->ld && r.line == X->ld);

    if (r.lines == 0 || r.length == 0)
        return HYBRID_OK;
    return r.step == 1 && is_direct ? read_lines(&r) : read_pieces(&r);
}

/* Reads each range of consecutive rows in `listed` as one rectangle. */
static hybrid_status gather(const hy_source *self, const int32_t *listed, int64_t count,
                            int64_t col, int64_t cols, const hy_grid *to)
{
    const size_t size = hy_value_size(self->dense->type);

    for (int64_t i = 0, stop; i < count; i = stop) {
        for (stop = i + 1; stop < count && listed[stop] == listed[stop - 1] + 1;)
            stop++;
        const hy_rect rect = {listed[i], stop - i, col, cols};
        const hy_grid part = {to->at + (size_t)(i * to->row) * size, to->row, to->col};
        HY_TRY(fill(self, &rect, &part));
    }
    return HYBRID_OK;
}

static hybrid_status describe(const hy_source *self, const char *name, hy_facts *facts)
{
    return hy_matrix_file_describe(self->matrix_file, name, facts);
}

static const hy_source_ops ops = {.fill = fill, .gather = gather, .describe = describe};

hy_source hy_source_file(const hy_matrix_file *X)
{
    return (hy_source){.ops         = &ops,
                       .ctx         = X->ctx,
                       .order       = X->dense.order,
                       .rows        = X->dense.rows,
                       .cols        = X->dense.cols,
                       .dense       = &X->dense,
                       .matrix_file = X,
                       .name        = X->name};
}
