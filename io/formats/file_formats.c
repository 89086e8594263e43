/* io/formats/file_formats.c - the table of formats, and opening a file of any of them. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "io/formats/file_format.h"
#include "io/sort/entry_sort.h"
#include "partition/move/sources.h"

const hy_file_format *const hy_file_formats[] = {
    &hy_format_hdf5, &hy_format_list,  &hy_format_mtx, &hy_format_npy,
    &hy_format_npz,  &hy_format_petsc, &hy_format_raw, NULL,
};

/* ---- names ------------------------------------------------------------------------- */

/* The two parts of a name "PATH::MEMBER". */
typedef struct name_parts {
    char *path;         /* PATH, allocated with hy_array() */
    const char *member; /* MEMBER, the text after "::"; NULL: the name has none */
} name_parts;

static hybrid_status split_name(hy_context *ctx, const char *name, name_parts *out)
{
    const size_t bytes = strlen(name) + 1;
    void *copy;

    HY_TRY(hy_array(ctx, (int64_t)bytes, 1, "the name of a file", &copy));
    *out       = (name_parts){.path = memcpy(copy, name, bytes)};
    char *mark = strstr(out->path, "::");
    if (mark && access(name, F_OK) != 0) {
        *mark       = '\0';
        out->member = mark + 2;
    }
    return HYBRID_OK;
}

/* Returns 1 if `path` ends in the `length` characters of `ending`, in either case. */
static int ends_in(const char *path, const char *ending, size_t length)
{
    const size_t bytes = strlen(path);

    return bytes > length && strncasecmp(path + bytes - length, ending, length) == 0;
}

const hy_file_format *hy_format_of_name(const hy_file_format *const *formats,
                                        const char *path)
{
    for (; *formats; formats++)
        for (const char *ending = (*formats)->endings; ending && *ending;) {
            const size_t length = strcspn(ending, " ");
            if (ends_in(path, ending, length))
                return *formats;
            ending += length + strspn(ending + length, " ");
        }
    return NULL;
}

/* ---- opening ----------------------------------------------------------------------- */

static hybrid_status open_format(hy_context *ctx, const hy_file_format *format,
                                 const hy_opening *opening, hy_matrix_file *out)
{
    hy_entry_reader entries = {.ops = NULL};

    if (opening->member && !format->has_members)
        return hy_fail(
            ctx, HYBRID_BAD_FILE,
            "%s: '::%s' selects a member, but files in the %s format have none",
            opening->input->path, opening->member, format->name);
    hy_input_begin(ctx, opening->input); /* so that the caller can cancel the call */
    hybrid_status status = format->open(ctx, opening, out, &entries);
    if (status == HYBRID_OK && entries.ops)
        status = hy_entry_sort(ctx, &entries, out);
    hy_entry_reader_close(&entries);
    return status;
}

static const hy_file_format *format_of_input(const hy_file_format *const *formats,
                                             const hy_input *input)
{
    while ((*formats)->is && !(*formats)->is(input))
        formats++;
    return *formats;
}

static hybrid_status open_input(hy_context *ctx, const hy_file_format *const *formats,
                                const hy_opening *opening, hy_matrix_file *out)
{
    const hy_input *input = opening->input;
    const size_t length   = strlen(input->path) + 1;
    void *name;

    HY_TRY(hy_array(ctx, (int64_t)length, 1, "the name of a file", &name));
    out->ctx  = ctx;
    out->name = memcpy(name, input->path, length);
    return open_format(ctx, format_of_input(formats, input), opening, out);
}

void hy_matrix_file_close(hy_matrix_file *file)
{
    if (!file->ctx)
        return;
    hy_stored_close(&file->row_ptr);
    hy_stored_close(&file->col);
    hy_stored_close(&file->values);
    hy_array_free(file->ctx, file->name);
    *file = (hy_matrix_file){.ctx = NULL};
}

static hybrid_status open_parts(hy_context *ctx, const hy_file_format *const *formats,
                                const name_parts *name, hy_matrix_file *out)
{
    hy_input input;

    HY_TRY(hy_input_open_windows(ctx, name->path, &input));
    const hy_opening opening   = {&input, name->member};
    const hybrid_status status = open_input(ctx, formats, &opening, out);
    hy_input_close(ctx, &input);
    if (status != HYBRID_OK)
        hy_matrix_file_close(out);
    return status;
}

hybrid_status hy_matrix_file_open(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *name, hy_matrix_file *out)
{
    name_parts parts;

    *out = (hy_matrix_file){.ctx = NULL};
    HY_TRY(split_name(ctx, name, &parts));
    const hybrid_status status = open_parts(ctx, formats, &parts, out);
    hy_array_free(ctx, parts.path);
    return status;
}

hybrid_status hy_format_of_file(hy_context *ctx, const hy_file_format *const *formats,
                                const char *name, const hy_file_format **out)
{
    name_parts parts;
    hy_input input;

    HY_TRY(split_name(ctx, name, &parts));
    const hybrid_status status = hy_input_open(ctx, parts.path, &input);
    if (status == HYBRID_OK) {
        *out = format_of_input(formats, &input);
        hy_input_close(ctx, &input);
    }
    hy_array_free(ctx, parts.path);
    return status;
}

static int64_t bytes_of(const hy_stored *numbers)
{
    return numbers->count * (int64_t)numbers->size;
}

static hybrid_status read_csr(const hy_matrix_file *file, hybrid_csr *out)
{
    const hy_source source = hy_source_csr_file(file);
    const hybrid_csr *whole;

    if (!file->sparse)
        return hy_fail(file->ctx, HYBRID_BAD_FILE,
                       "%s: must describe a sparse matrix, but describes a dense one",
                       file->name);
    hy_progress_begin_file(&file->ctx->progress, bytes_of(&file->row_ptr) +
                                                     bytes_of(&file->col) +
                                                     bytes_of(&file->values));
    return source.ops->whole(&source, out, &whole);
}

hybrid_status hy_matrix_file_read(hy_context *ctx, const hy_file_format *const *formats,
                                  const char *path, hybrid_csr *out)
{
    hy_matrix_file file;

    HY_TRY(hy_matrix_file_open(ctx, formats, path, &file));
    const hybrid_status status = read_csr(&file, out);
    hy_matrix_file_close(&file);
    return status;
}
