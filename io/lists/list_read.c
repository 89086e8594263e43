/* io/lists/list_read.c - reads a whole list into memory. */
#include <string.h>

#include "base/data/value_type.h"
#include "io/formats/file_format.h"
#include "io/lists/list.h"
#include "io/sort/entry_sort.h"
#include "partition/move/sources.h"

static hybrid_status open_list(hy_context *ctx, hy_input *input, hybrid_type type,
                               hy_matrix_file *out)
{
    char options[16];
    const hy_opening opening = {input, options};
    const size_t length      = strlen(input->path) + 1;
    hy_entry_reader entries  = {.ops = NULL};
    void *name;

    HY_TRY(hy_array(ctx, (int64_t)length, 1, "the name of a file", &name));
    snprintf(options, sizeof options, "type=%s", hy_value_type_of(type)->name);
    out->name = memcpy(name, input->path, length);
    hy_input_begin(ctx, input);
    hybrid_status status = hy_format_list.open(ctx, &opening, out, &entries);
    if (status == HYBRID_OK)
        status = hy_entry_sort(ctx, &entries, out);
    hy_entry_reader_close(&entries);
    return status;
}

hybrid_status hy_list_read(hy_context *ctx, hy_input *input, hybrid_type type,
                           hybrid_csr *out)
{
    hy_matrix_file file = {.ctx = ctx};
    const hybrid_csr *whole;

    hybrid_status status   = open_list(ctx, input, type, &file);
    const hy_source source = hy_source_csr_file(&file);
    if (status == HYBRID_OK)
        status = source.ops->whole(&source, out, &whole);
    hy_matrix_file_close(&file);
    return status;
}
