/* io/mtx/format_mtx.c - Matrix Market coordinate files as operands of any size. */
#include "io/formats/file_format.h"
#include "io/mtx/line_entries.h"
#include "io/mtx/mtx_append.h"
#include "io/lists/text_options.h"
#include "io/text/encoder.h"

static int mirror_of(hy_mtx_symmetry symmetry)
{
    return symmetry == HY_MTX_GENERAL ? 0 : symmetry == HY_MTX_SYMMETRIC ? 1 : -1;
}

static hybrid_status open_entries(hy_context *ctx, const hy_opening *opening,
                                  const hy_mtx_header *header, hybrid_type type,
                                  hy_entry_reader *entries)
{
    HY_TRY(hy_line_entries_open(ctx, sizeof(hy_line_entries), entries));
    hy_line_entries *r   = entries->reader;
    r->header            = *header;
    r->syntax.type       = type;
    r->input             = hy_input_take(opening->input);
    r->lines.body        = header->body;
    r->lines.announced   = header->count;
    r->lines.least_bytes = hy_mtx_least_bytes(header);
    r->lines.read        = hy_mtx_read_entries;
    entries->rows        = header->rows;
    entries->cols        = header->cols;
    entries->type        = type;
    entries->base        = 1;
    r->shift             = 1;
    entries->mirror      = mirror_of(header->symmetry);
    if (!entries->mirror)
        entries->nnz = header->count;
    return HYBRID_OK;
}

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    hy_text_options options;
    hy_mtx_header header;

    (void)out;
    HY_TRY(hy_text_options_read(ctx, opening->input->path, opening->member, 0, &options));
    HY_TRY(hy_mtx_read_header(ctx, opening->input, &header));
    if (header.array)
        return hy_mtx_refuse_array(ctx, opening->input);
    return open_entries(ctx, opening, &header, (hybrid_type)options.type, entries);
}

static hybrid_status may_create(hy_context *ctx, const char *path)
{
    const hy_encoder *encoder;

    return hy_encoder_of_name(ctx, path, &encoder);
}

const hy_file_format hy_format_mtx = {.name        = "Matrix Market",
                                      .endings     = ".mtx .mtx.gz .mtx.zst",
                                      .has_members = 1,
                                      .is          = hy_mtx_has_banner,
                                      .open        = open_matrix,
                                      .create      = hy_mtx_create,
                                      .may_create  = may_create};
