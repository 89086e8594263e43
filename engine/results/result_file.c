/* engine/results/result_file.c - a result that is written to a file while it is
   computed. */
#include "engine/results/result_file.h"
#include "base/data/min_max.h"
#include "base/data/value_type.h"

#include <stdlib.h>
#include <string.h>

#include "base/threads/clock.h"
#include "engine/api/check.h"
#include "engine/api/struct_size.h"
#include "io/results/durable.h"
#include "io/results/sweep.h"

/* ---- options ------------------------------------------------------------------------
 */

static hybrid_status check_options(hy_context *ctx, const hybrid_file_options *o)
{
    HY_TRY(hy_check_range(ctx, "file options: compression", (int)o->compression, 0,
                          HYBRID_ZSTD));
    HY_TRY(hy_check_range(ctx, "file options: type", (int)o->type, 0, HY_TYPE_COUNT));
    HY_TRY(hy_check_range(ctx, "file options: offsets", (int)o->offsets, 0, HYBRID_I64));
    HY_TRY(hy_check_range(ctx, "file options: columns", (int)o->columns, 0, HYBRID_I64));
    HY_TRY(hy_check_range(ctx, "file options: order", (int)o->order, HYBRID_ROW_MAJOR,
                          HYBRID_COL_MAJOR));
    return HYBRID_OK;
}

static hybrid_status check_parts(hy_context *ctx, const hy_result_file *r)
{
    const int64_t rows = r->options.part_rows;

    if (rows < 0)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "file options: part_rows is %lld, and must be 0 or more",
                       (long long)rows);
    if (rows == 0 || r->format->has_parts)
        return HYBRID_OK;
    return hy_fail(
        ctx, HYBRID_UNSUPPORTED,
        "'%s': the format %s has no parts; part_rows needs a name that ends in "
        ".json",
        r->path, r->format->name);
}

static const hy_file_format *format_called(const hy_file_format *const *formats,
                                           const char *name)
{
    while (*formats && strcmp((*formats)->name, name) != 0)
        formats++;
    return *formats;
}

hybrid_status hy_result_check(hybrid_engine *engine, const char *path,
                              const hybrid_file_options *options, hy_result_file *out)
{
    hy_context *ctx                      = &engine->ctx;
    const hy_file_format *const *formats = hy_settings_of(engine)->formats;

    *out = (hy_result_file){.engine  = engine,
                            .options = HYBRID_FILE_OPTIONS_INIT,
                            .path    = path,
                            .file    = {.lock = -1},
                            .panels  = {.manifest = {.fd = -1}}};
    if (!path)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT, "path is NULL");
    if (options)
        HY_TRY(hy_struct_read(ctx, &hy_file_options_struct, options, &out->options));
    HY_TRY(check_options(ctx, &out->options));
    out->format = out->options.format ? format_called(formats, out->options.format)
                                      : hy_format_of_name(formats, path);
    if (!out->format || !out->format->create)
        return hy_fail(ctx, HYBRID_UNSUPPORTED,
                       "'%s': no format is written under such a name", path);
    HY_TRY(check_parts(ctx, out));
    return out->format->may_create ? out->format->may_create(ctx, path) : HYBRID_OK;
}

const char *hybrid_file_format(const char *path)
{
    const hy_file_format *format =
        path ? hy_format_of_name(hy_usual_settings.formats, path) : NULL;

    return format && format->create ? format->name : NULL;
}

/* ---- opening ------------------------------------------------------------------------
 */

static hybrid_status name_folder(hy_result_file *r)
{
    hy_context *ctx = &r->engine->ctx;

    if (r->options.resume)
        return hy_join(ctx, r->path, ".parts", &r->folder);
    hy_sweep(ctx->spill_path);
    HY_TRY(hy_join(ctx, ctx->spill_path, "/" HY_PANELS_PREFIX "XXXXXX", &r->folder));
    if (mkdtemp(r->folder))
        return HYBRID_OK;
    const hybrid_status status =
        hy_fail_system(ctx, ctx->spill_path, "make a folder for temporary files in");
    hy_array_free(ctx, r->folder);
    r->folder = NULL;
    return status;
}

/* Creates the file and removes it, so that a path or format that does not suit the result
   is refused before anything is computed. */
static hybrid_status try_file(const hy_result_file *r)
{
    hy_file_shape shape = r->shape;
    hy_new_file file;

    shape.nnz = hy_max(shape.nnz, 0);
    HY_TRY(hy_new_file_open(&r->engine->ctx, r->format, r->path, &shape, &file));
    (void)hy_new_file_close(&file, HYBRID_CANCELLED);
    return HYBRID_OK;
}

static hybrid_status open_panels(hy_result_file *r, const hy_facts *facts)
{
    hy_context *ctx = &r->engine->ctx;

    HY_TRY(try_file(r));
    HY_TRY(name_folder(r));
    HY_TRY(hy_panels_open(ctx, r->folder, facts->text, &r->shape, &r->panels));
    r->first = r->panels.writer.rows;
    return hy_row_writer_open(r->engine, &r->panels.writer, r->bytes, &r->rows);
}

static hybrid_status open_file(hy_result_file *r)
{
    HY_TRY(hy_new_file_open(&r->engine->ctx, r->format, r->path, &r->shape, &r->file));
    return hy_row_writer_open(r->engine, &r->file.writer, r->bytes, &r->rows);
}

/* Checks the parts of a result of this shape, before anything is computed. */
static hybrid_status check_shape(hy_context *ctx, const hy_file_shape *shape)
{
    const int64_t rows  = shape->part_rows;
    const int64_t least = (shape->rows - 1) / HY_MOST_PARTS + 1;

    if (rows == 0)
        return HYBRID_OK;
    if (!shape->sparse && shape->order != HYBRID_ROW_MAJOR)
        return hy_fail(ctx, HYBRID_BAD_ARGUMENT,
                       "file options: a dense matrix in parts has the order "
                       "HYBRID_ROW_MAJOR");
    if (rows >= least)
        return HYBRID_OK;
    return hy_fail(
        ctx, HYBRID_BAD_ARGUMENT,
        "file options: %lld rows in parts of %lld rows are more than %d parts; "
        "part_rows must be at least %lld",
        (long long)shape->rows, (long long)rows, HY_MOST_PARTS, (long long)least);
}

/* Returns 1 if rows go to panels first. */
static int is_in_panels(const hy_result_file *r)
{
    const hy_file_shape *shape = &r->shape;

    return r->options.resume || (r->format->nnz_first && shape->sparse && shape->nnz < 0);
}

hybrid_status hy_result_open(hy_result_file *r, const hy_file_shape *shape,
                             const hy_facts *facts, int64_t bytes)
{
    const hybrid_file_options *o = &r->options;

    r->bytes             = bytes;
    r->shape             = *shape;
    r->shape.type        = o->type ? o->type : shape->type;
    r->shape.offsets     = o->offsets;
    r->shape.columns     = o->columns;
    r->shape.order       = o->order;
    r->shape.compression = (hy_compression)o->compression;
    r->shape.shuffle     = o->shuffle;
    r->shape.part_rows   = o->part_rows;
    r->shape.target      = r->path;
    HY_TRY(check_shape(&r->engine->ctx, &r->shape));
    return is_in_panels(r) ? open_panels(r, facts) : open_file(r);
}

hy_result_sizes hy_result_sizes_of(const hy_result_file *r, int64_t nnz)
{
    const int64_t value = (int64_t)hy_value_size(r->shape.type);
    hy_file_shape shape = r->shape;

    shape.nnz = nnz;
    return (hy_result_sizes){
        .panels = is_in_panels(r) ? hy_arrays_bytes(&shape, 8, 4, value) : 0,
        .file   = r->format->bytes ? r->format->bytes(&shape) : 0};
}

/* ---- closing ------------------------------------------------------------------------
 */

static hybrid_status copy_panels(hy_result_file *r)
{
    hybrid_status status = HYBRID_OK;
    hy_reused block      = {NULL, 0};
    hybrid_csr sparse;
    hybrid_dense dense;

    for (int64_t i = 0; i < r->panels.manifest.count && status == HYBRID_OK; i++) {
        status = hy_panels_read(&r->panels, i, &block, &sparse, &dense);
        if (status == HYBRID_OK)
            status = r->shape.sparse ? hy_row_writer_sparse(&r->rows, &sparse)
                                     : hy_row_writer_dense(&r->rows, &dense);
    }
    hy_array_free_reused(&r->engine->ctx, &block);
    return status;
}

/* Closes the writer of rows, if it is open. Returns the first error. */
static hybrid_status close_rows(hy_result_file *r, hybrid_status status)
{
    if (!r->rows.engine)
        return status;
    status = hy_row_writer_close(&r->rows, status);
    r->write_s += r->rows.seconds;
    r->rows.engine = NULL;
    return status;
}

/* Copies all panels to the final file. Frees the workspaces of CPU workers first, which
   may have grown to all of the host memory that was left. */
static hybrid_status assemble(hy_result_file *r)
{
    const int64_t begin = hy_now_ns();

    hy_idle_free_workspaces(r->engine, 0);
    r->shape.nnz         = r->panels.writer.nnz;
    hybrid_status status = open_file(r);
    if (status == HYBRID_OK)
        status = copy_panels(r);
    status        = close_rows(r, status);
    status        = hy_new_file_close(&r->file, status);
    r->assemble_s = (double)(hy_now_ns() - begin) * 1e-9;
    return status;
}

hybrid_status hy_result_close(hy_result_file *r, hybrid_status status)
{
    status = close_rows(r, status);
    if (!r->folder)
        return hy_new_file_close(&r->file, status);
    if (status == HYBRID_OK)
        status = assemble(r);
    if (r->panels.folder && (status == HYBRID_OK || !r->options.resume))
        hy_panels_remove(&r->panels);
    hy_panels_close(&r->panels);
    hy_array_free(&r->engine->ctx, r->folder);
    r->folder = NULL;
    return status;
}

void hy_result_report(const hy_result_file *r)
{
    hybrid_report *report = &r->engine->report;

    report->write_s      = r->write_s;
    report->assemble_s   = r->assemble_s;
    report->file_bytes   = hybrid_engine_written(r->engine);
    report->resumed_rows = r->first;
    if (r->first == 0)
        return;
    report->rows    = r->shape.rows;
    report->nnz_out = r->shape.sparse ? r->shape.nnz : r->shape.rows * r->shape.cols;
}

void hy_result_describe(const hybrid_engine *engine, const hybrid_plan_options *options,
                        hy_facts *facts)
{
    hy_facts_add(facts, "variant %s, flags %u, split %d, share %g",
                 options->variant ? options->variant : "any", options->flags,
                 (int)options->split, options->host_share);
    hy_facts_add(facts, "processors %s, %d threads", engine->device_text,
                 hy_pool_threads(engine->ctx.pool));
}
