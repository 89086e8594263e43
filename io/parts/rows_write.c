/* io/parts/rows_write.c - writes a description of a matrix whose rows are in several
   files. */
#include "io/parts/rows_write.h"

#include "io/formats/byte_file.h"
#include "io/formats/put_json.h"

static hybrid_status put_part(hy_byte_region *to, const hy_rows_part *part)
{
    HY_TRY(hy_byte_region_print(to, "  {\"file\": "));
    HY_TRY(hy_put_json_string(to, part->file));
    if (part->begin > 0)
        HY_TRY(hy_byte_region_print(to, ", \"begin\": %lld", (long long)part->begin));
    if (part->end >= 0)
        HY_TRY(hy_byte_region_print(to, ", \"end\": %lld", (long long)part->end));
    return hy_byte_region_print(to, "}");
}

static hybrid_status put_parts(hy_byte_region *to, const hy_rows_part *parts,
                               int64_t count)
{
    HY_TRY(hy_byte_region_print(
        to, "{\"format\": \"hybrid-rows\", \"version\": 1, \"parts\": [\n"));
    for (int64_t p = 0; p < count; p++) {
        HY_TRY(put_part(to, &parts[p]));
        HY_TRY(hy_byte_region_print(to, p + 1 < count ? ",\n" : "\n]}\n"));
    }
    to->end = to->at + (int64_t)to->filled;
    return hy_byte_region_flush(to);
}

hybrid_status hy_rows_write(hy_context *ctx, const char *path, const hy_rows_part *parts,
                            int64_t count)
{
    hy_byte_region region = {.ctx = NULL};
    hy_byte_file file;

    HY_TRY(hy_byte_file_create(ctx, path, &file));
    hybrid_status status = hy_byte_region_open(&file, 0, INT64_MAX, &region);
    if (status == HYBRID_OK)
        status = put_parts(&region, parts, count);
    hy_byte_region_close(&region);
    const hybrid_status closed = hy_byte_file_close(&file);
    return status != HYBRID_OK ? status : closed;
}
