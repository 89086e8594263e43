/* partition/move/matrix_file.c - describes a matrix in a file, so that a change is
   noticed. */
#include "partition/move/matrix_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/hash.h"
#include "base/data/min_max.h"
#include "base/text/message.h"
#include "base/text/printable.h"

enum {
    HEAD_BYTES = 1 << 16, /* bytes at the beginning of a file that the checksum covers */
    SAMPLES    = 16,      /* number of samples of an array in a file */
    SAMPLE_COUNT = 1024,  /* number of elements in a sample */
    NAME_BYTES   = 1024   /* maximum bytes of a file's path in the text */
};

static hybrid_status hash_head(hy_context *ctx, const char *path, int fd, uint64_t *hash)
{
    char head[HEAD_BYTES];
    const ssize_t got = pread(fd, head, sizeof head, 0);

    if (got < 0)
        return hy_fail_system(ctx, path, "read");
    *hash = hy_hash(0, head, (size_t)got);
    return HYBRID_OK;
}

/* Adds samples of the numbers to *hash. */
static hybrid_status hash_numbers(const hy_stored *numbers, uint64_t *hash)
{
    char sample[SAMPLE_COUNT * sizeof(double)];

    if (!numbers->ops)
        return HYBRID_OK;
    for (int64_t i = 0; i < SAMPLES; i++) {
        const int64_t last  = hy_max(0, numbers->count - SAMPLE_COUNT);
        const int64_t first = last / SAMPLES * i + last % SAMPLES * i / SAMPLES;
        const int64_t count = hy_min(SAMPLE_COUNT, numbers->count);
        HY_TRY(hy_stored_read(numbers, first, count, sample));
        *hash = hy_hash(*hash, sample, (size_t)count * numbers->size);
    }
    return HYBRID_OK;
}

static hybrid_status describe(const hy_matrix_file *file, const char *name, int fd,
                              hy_facts *facts)
{
    uint64_t head, numbers = 0;
    char path[NAME_BYTES];
    struct stat st;

    if (fstat(fd, &st) != 0)
        return hy_fail_system(file->ctx, file->name, "read");
    HY_TRY(hash_head(file->ctx, file->name, fd, &head));
    HY_TRY(hash_numbers(&file->row_ptr, &numbers));
    HY_TRY(hash_numbers(&file->col, &numbers));
    HY_TRY(hash_numbers(&file->values, &numbers));
    hy_printable(path, sizeof path, file->name);
    hy_facts_add(facts,
                 "%s is %s of %lld bytes, changed at %lld.%09ld, with checksums "
                 "%016" PRIx64 " and %016" PRIx64,
                 name, path, (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                 st.st_mtim.tv_nsec, head, numbers);
    return HYBRID_OK;
}

hybrid_status hy_matrix_file_describe(const hy_matrix_file *file, const char *name,
                                      hy_facts *facts)
{
    const int fd = open(file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return hy_fail_system(file->ctx, file->name, "read");
    const hybrid_status status = describe(file, name, fd, facts);
    close(fd);
    return status;
}
