/* engine/files/file.c - opens a file as an operand, or reads a sparse matrix from it. */
#include "engine/files/file.h"

#include "io/formats/file_format.h"

static hybrid_status begin(hybrid_engine *engine, const char *path, const void *out)
{
    HY_TRY(hy_engine_begin(engine));
    if (!path || !out)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "an argument is NULL");
    return HYBRID_OK;
}

static hybrid_status open_file(hybrid_engine *engine, const char *path,
                               hybrid_file **file)
{
    void *memory;

    HY_TRY(hy_array(&engine->ctx, 1, sizeof(hybrid_file), "a file", &memory));
    hybrid_file *made          = memory;
    made->engine               = engine;
    const hybrid_status status = hy_matrix_file_open(
        &engine->ctx, hy_settings_of(engine)->formats, path, &made->matrix);
    if (status != HYBRID_OK)
        hy_array_free(&engine->ctx, made);
    else
        *file = made;
    return status;
}

hybrid_status hybrid_file_open(hybrid_engine *engine, const char *path,
                               hybrid_file **file)
{
    HY_TRY(begin(engine, path, file));
    return hy_engine_end(engine, open_file(engine, path, file));
}

hybrid_status hybrid_file_recognise(hybrid_engine *engine, const char *path,
                                    const char **format)
{
    const hy_file_format *found = NULL;

    HY_TRY(begin(engine, path, format));
    const hybrid_status status =
        hy_format_of_file(&engine->ctx, hy_settings_of(engine)->formats, path, &found);
    if (status == HYBRID_OK)
        *format = found->name;
    return hy_engine_end(engine, status);
}

void hybrid_file_close(hybrid_file *file)
{
    if (!file || hy_engine_barred(file->engine))
        return;
    hy_matrix_file_close(&file->matrix);
    hy_array_free(&file->engine->ctx, file);
}

hybrid_dense hybrid_file_dense(const hybrid_file *file)
{
    return file ? file->matrix.dense : (hybrid_dense){.data = NULL};
}

hybrid_csr hybrid_file_csr(const hybrid_file *file)
{
    return file ? file->matrix.csr : (hybrid_csr){.val = NULL};
}

hybrid_status hy_file_check(hybrid_engine *engine, const hybrid_file *file, int sparse,
                            const char *name)
{
    if (!file || file->engine != engine)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT,
                       "%s is NULL, or was opened with another engine", name);
    if (file->matrix.sparse != sparse)
        return hy_fail(&engine->ctx, HYBRID_BAD_ARGUMENT, "%s must be %s, but is %s",
                       name, sparse ? "sparse" : "dense", sparse ? "dense" : "sparse");
    return HYBRID_OK;
}

hybrid_status hybrid_read_csr(hybrid_engine *engine, const char *path, hybrid_csr *out)
{
    HY_TRY(begin(engine, path, out));
    const hybrid_status status =
        hy_matrix_file_read(&engine->ctx, hy_settings_of(engine)->formats, path, out);
    return hy_engine_end(engine, hy_memory_of(&engine->ctx, status, path));
}
