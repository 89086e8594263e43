/* io/text/encoder.c - the encoder that the name of a file selects. */
#include "io/text/encoder.h"

#include <string.h>
#include <strings.h>

static int ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);

    return length > tail && strcasecmp(path + length - tail, ending) == 0;
}

hybrid_status hy_encoder_of_name(hy_context *ctx, const char *path,
                                 const hy_encoder **out)
{
    static const hy_encoder *const all[] = {&hy_encoder_gzip, &hy_encoder_zstd};

    *out = NULL;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (ends_in(path, all[i]->ending))
            *out = all[i];
    if (!*out || !(*out)->missing)
        return HYBRID_OK;
    return hy_fail(
        ctx, HYBRID_UNSUPPORTED,
        "'%s': this library was built without %s, which compresses files whose "
        "names end in %s",
        path, (*out)->missing, (*out)->ending);
}
