/* engine/file.c - operands in files: an X that is opened, an A or B that is read. */
#include "engine/file.h"

#include "base/csr.h"
#include "engine/engine.h"

static hybrid_status begin(hybrid_engine *engine, const char *path, const void *out)
{
    HY_TRY(hy_engine_begin(engine));
    if (!path || !out)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "an argument is NULL");
    return HYBRID_OK;
}

hybrid_status hybrid_file_open(hybrid_engine *engine, const char *path,
                               hybrid_file **file)
{
    void *memory;

    HY_TRY(begin(engine, path, file));
    HY_TRY(hy_array(&engine->ctx, 1, sizeof(hybrid_file), "a file", &memory));
    hybrid_file *made          = memory;
    made->engine               = engine;
    const hybrid_status status = hy_raw_open_dense(&engine->ctx, path, &made->X);
    if (status != HYBRID_OK)
        hy_array_free(&engine->ctx, made);
    else
        *file = made;
    return status;
}

void hybrid_file_close(hybrid_file *file)
{
    if (!file || hy_engine_inherited(file->engine))
        return;
    hy_context *ctx = &file->engine->ctx;
    hy_stored_close(&file->X.values);
    hy_array_free(ctx, file);
}

hybrid_dense hybrid_file_shape(const hybrid_file *file)
{
    return file ? file->X.shape : (hybrid_dense){.data = NULL};
}

hybrid_status hybrid_read_csr(hybrid_engine *engine, const char *path, hybrid_csr *out)
{
    HY_TRY(begin(engine, path, out));
    return hy_raw_read_csr(&engine->ctx, path, out);
}
