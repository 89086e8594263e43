/* partition/move/source_file.c - X in a file. Nothing of it stays in memory: each
   rectangle is read where it is wanted, by the worker that wants it.

   Lines that are long, far from each other, or that follow each other as they shall in
   memory, are read to their place. Others, and those that are to be transposed, are read
   by pieces to a worker's stack, near ones with what lies between them: a call for each
   line of a few columns would take longer than to read what is not wanted. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/move/sources.h"
#include "partition/move/transpose.h"

enum { PIECE_BYTES = 32 << 10, LONG_BYTES = 8 << 10, FAR_BYTES = 4 << 10 };

/* A rectangle of X as lines of the file, rows or columns, and where they go to. */
typedef struct reading {
    const hy_dense_file *X;
    size_t size;           /* bytes of an element */
    int64_t at;            /* element of the file, */
    int64_t lines, length; /* and of so many lines so many elements */
    char *to;
    int64_t line, step; /* elements of the place, from line to line, within a line */
} reading;

/* Between two lines are bytes that would be read for nothing. */
static int is_far(const reading *r)
{
    return (r->X->shape.ld - r->length) * (int64_t)r->size >= FAR_BYTES;
}

static hybrid_status read_elements(const reading *r, int64_t at, int64_t count, void *to)
{
    return hy_stored_read(&r->X->values, at * (int64_t)r->size, to,
                          (size_t)count * r->size);
}

/* Each line, or all at once. */
static hybrid_status read_lines(const reading *r)
{
    const int64_t ld = r->X->shape.ld;

    if (r->length == ld && r->line == ld)
        return read_elements(r, r->at, r->lines * ld, r->to);
    for (int64_t l = 0; l < r->lines; l++)
        HY_TRY(read_elements(r, r->at + l * ld, r->length,
                             r->to + (size_t)(l * r->line) * r->size));
    return HYBRID_OK;
}

/* Lines that came to `from`, elements [begin, begin + length) of each, to their place. */
static void place(const reading *r, int64_t line, int64_t lines, int64_t begin,
                  int64_t length, const char *from)
{
    const int64_t ld = r->X->shape.ld;
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
    const int64_t ld = r->X->shape.ld, room = PIECE_BYTES / (int64_t)r->size;
    const int64_t length = hy_min(r->length, room);
    const int64_t lines  = is_far(r) ? 1 : 1 + (room - length) / ld;

    for (int64_t l = 0; l < r->lines; l += lines)
        for (int64_t e = 0; e < r->length; e += length) {
            const int64_t n = hy_min(lines, r->lines - l);
            const int64_t m = hy_min(length, r->length - e);
            HY_TRY(read_elements(r, r->at + l * ld + e, (n - 1) * ld + m, piece));
            place(r, l, n, e, m, piece);
        }
    return HYBRID_OK;
}

static hybrid_status fill(const hy_source *self, const hy_rect *rect, const hy_grid *to)
{
    const hybrid_dense *X = self->dense;
    const int in_rows     = X->order == HYBRID_ROW_MAJOR;
    const reading r       = {.X      = (const hy_dense_file *)X,
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

static const hy_source_ops ops = {.fill = fill, .run = hy_no_run};

hy_source hy_source_file(const hy_dense_file *X)
{
    return (hy_source){.ops   = &ops,
                       .ctx   = X->values.ctx,
                       .order = X->shape.order,
                       .rows  = X->shape.rows,
                       .cols  = X->shape.cols,
                       .dense = &X->shape};
}
