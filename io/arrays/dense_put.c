/* io/arrays/dense_put.c - writes rows of a dense matrix to a file, in row-major or
   column-major order. */
#include "io/arrays/dense_put.h"

#include "base/data/csr.h"
#include "partition/move/transpose.h"

/* Sets *out to the elements of `rows` in the order of the file, without gaps between
   lines: `rows` itself if it has this form, else a copy in p->lines. */
static hybrid_status arrange(const hy_file_writer *self, const hy_dense_place *p,
                             const hybrid_dense *rows, const char **out)
{
    const int to_rows   = self->shape.order == HYBRID_ROW_MAJOR;
    const size_t size   = hy_value_size(rows->type);
    const int64_t lines = to_rows ? rows->rows : rows->cols;
    const int64_t line  = to_rows ? rows->cols : rows->rows;
    const char *from    = rows->data;

    *out = from;
    if (rows->order == self->shape.order && rows->ld == line)
        return HYBRID_OK;
    HY_TRY(hy_array_reuse(self->ctx, p->lines, lines * line * (int64_t)size,
                          "rows of a result"));
    *out = p->lines->array;
    if (rows->order == self->shape.order)
        hy_copy_rows_past(p->lines->array, (size_t)line * size, from,
                          (size_t)rows->ld * size, (size_t)line * size, (size_t)lines);
    else
        hy_transpose(from, rows->ld, lines, line, size, p->lines->array, line);
    return HYBRID_OK;
}

/* Writes the rows at their place in the file: one write if the file is row-major, else
   one write for each column. */
static hybrid_status put_rows(const hy_file_writer *self, const hy_dense_place *p,
                              const hybrid_dense *rows)
{
    const hy_file_shape *s = &self->shape;
    const int64_t size     = (int64_t)hy_value_size(s->type);
    const size_t line      = (size_t)(rows->rows * size);
    const char *from;

    HY_TRY(arrange(self, p, rows, &from));
    if (s->order == HYBRID_ROW_MAJOR)
        return hy_byte_file_put(p->file, p->at + self->rows * s->cols * size, from,
                                line * (size_t)s->cols);
    for (int64_t col = 0; col < s->cols; col++)
        HY_TRY(hy_byte_file_put(p->file, p->at + (col * s->rows + self->rows) * size,
                                from + (size_t)col * line, line));
    return HYBRID_OK;
}

hybrid_status hy_dense_put(hy_file_writer *writer, const hy_dense_place *place,
                           const hybrid_dense *rows)
{
    const hy_file_shape *s = &writer->shape;

    if (rows->cols != s->cols || rows->type != s->type ||
        rows->rows > s->rows - writer->rows)
        return hy_fail(writer->ctx, HYBRID_BAD_ARGUMENT,
                       "%s: the matrix has more rows than were announced, or rows of "
                       "another length or type",
                       place->file->path);
    if (rows->rows > 0 && rows->cols > 0)
        HY_TRY(put_rows(writer, place, rows));
    writer->rows += rows->rows;
    writer->bytes += rows->rows * rows->cols * (int64_t)hy_value_size(s->type);
    return HYBRID_OK;
}

hybrid_status hy_dense_put_end(const hy_file_writer *writer, const hy_dense_place *place)
{
    if (writer->rows == writer->shape.rows)
        return HYBRID_OK;
    return hy_fail(writer->ctx, HYBRID_BAD_ARGUMENT,
                   "%s: the matrix has fewer rows than were announced",
                   place->file->path);
}
