/* io/formats/format_hdf5.c - matrices in HDF5 files, if the build has libhdf5. */
#include <string.h>

#include "io/formats/file_format.h"
#include "io/hdf5/h5_matrix.h"

/* The signature of an HDF5 file is at byte 0, 512, 1024, 2048 and so on; a user's data
   may lie before it. */
static int is_hdf5(const hy_input *input)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    const size_t length = sizeof signature - 1, bytes = hy_input_head(input);

    for (size_t at = 0; at + length <= bytes; at = at ? 2 * at : 512)
        if (memcmp(input->text + at, signature, length) == 0)
            return 1;
    return 0;
}

#if HYBRID_WITH_HDF5

const hy_file_format hy_format_hdf5 = {.name        = "HDF5",
                                       .endings     = ".h5 .hdf5",
                                       .has_members = 1,
                                       .is          = is_hdf5,
                                       .open        = hy_h5_matrix_open,
                                       .create      = hy_h5_matrix_create,
                                       .bytes       = hy_h5_matrix_bytes};

#else

static hybrid_status open_matrix(hy_context *ctx, const hy_opening *opening,
                                 hy_matrix_file *out, hy_entry_reader *entries)
{
    (void)out;
    (void)entries;
    return hy_fail(ctx, HYBRID_BAD_FILE,
                   "%s: this build has no HDF5: it was made without libhdf5",
                   opening->input->path);
}

static hybrid_status may_create(hy_context *ctx, const char *path)
{
    return hy_fail(
        ctx, HYBRID_UNSUPPORTED,
        "cannot write '%s': this build has no HDF5: it was made without libhdf5", path);
}

static hybrid_status create(hy_context *ctx, const char *path, const hy_file_shape *shape,
                            hy_file_writer *out)
{
    (void)shape;
    (void)out;
    return may_create(ctx, path);
}

const hy_file_format hy_format_hdf5 = {.name        = "HDF5",
                                       .endings     = ".h5 .hdf5",
                                       .has_members = 1,
                                       .is          = is_hdf5,
                                       .open        = open_matrix,
                                       .create      = create,
                                       .may_create  = may_create};

#endif
