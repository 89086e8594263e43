/* engine/results/facts.c - what a resumable result depends on, as lines of text. */
#include "engine/results/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "base/text/printable.h"
#include "io/results/durable.h"
#include "io/results/hash.h"
#include "partition/move/matrix_file.h"

enum {
    HEAD_BYTES = 1 << 16, /* bytes at the beginning of a file that the checksum covers */
    SAMPLES    = 16,      /* number of samples of an array in a file */
    SAMPLE_COUNT = 1024,  /* number of elements in a sample */
    NAME_BYTES   = 1024   /* maximum bytes of a file's path in a line of facts */
};

void hy_facts_add(hy_facts *facts, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    const size_t room = sizeof facts->text - facts->bytes - 1;
    const int length  = vsnprintf(facts->text + facts->bytes, room, format, list);
    va_end(list);
    facts->bytes += hy_smaller((size_t)hy_max(length, 0), room - 1);
    facts->text[facts->bytes++] = '\n';
    facts->text[facts->bytes]   = '\0';
}

/* ---- files --------------------------------------------------------------------------
 */

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

static hybrid_status add_file(hy_facts *facts, const char *name,
                              const hy_matrix_file *file, const struct stat *st, int fd)
{
    uint64_t head, numbers = 0;
    char path[NAME_BYTES];

    HY_TRY(hash_head(file->ctx, file->name, fd, &head));
    HY_TRY(hash_numbers(&file->row_ptr, &numbers));
    HY_TRY(hash_numbers(&file->col, &numbers));
    HY_TRY(hash_numbers(&file->values, &numbers));
    hy_printable(path, sizeof path, file->name);
    hy_facts_add(facts,
                 "%s is %s of %lld bytes, changed at %lld.%09ld, with checksums "
                 "%016" PRIx64 " and %016" PRIx64,
                 name, path, (long long)st->st_size, (long long)st->st_mtim.tv_sec,
                 st->st_mtim.tv_nsec, head, numbers);
    return HYBRID_OK;
}

static hybrid_status describe_file(hy_facts *facts, const char *name,
                                   const hy_matrix_file *file)
{
    struct stat st;
    const int fd = open(file->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return hy_fail_system(file->ctx, file->name, "read");
    const hybrid_status status = fstat(fd, &st) == 0
                                     ? add_file(facts, name, file, &st, fd)
                                     : hy_fail_system(file->ctx, file->name, "read");
    close(fd);
    return status;
}

/* ---- memory -------------------------------------------------------------------------
 */

static void describe_csr(hy_facts *facts, const char *name, const hybrid_csr *A)
{
    uint64_t hash = hy_hash(0, A->row_ptr, (size_t)(A->rows + 1) * hy_offset_size(A));

    hash = hy_hash(hash, A->col, (size_t)A->nnz * hy_col_size(A));
    hash = hy_hash(hash, A->val, (size_t)A->nnz * hy_value_size(A->type));
    hy_facts_add(
        facts, "%s is a matrix of %lld x %lld with %lld entries and checksum %016" PRIx64,
        name, (long long)A->rows, (long long)A->cols, (long long)A->nnz, hash);
}

static void describe_dense(hy_facts *facts, const char *name, const hybrid_dense *X)
{
    const int by_rows   = X->order == HYBRID_ROW_MAJOR;
    const int64_t lines = by_rows ? X->rows : X->cols;
    const int64_t line  = by_rows ? X->cols : X->rows;
    uint64_t hash       = 0;

    for (int64_t i = 0; i < lines; i++)
        hash = hy_hash(hash, hy_dense_at(X, i * X->ld),
                       (size_t)line * hy_value_size(X->type));
    hy_facts_add(facts, "%s is a dense matrix of %lld x %lld with checksum %016" PRIx64,
                 name, (long long)X->rows, (long long)X->cols, hash);
}

hybrid_status hy_facts_operand(hy_facts *facts, const char *name,
                               const hy_source *operand)
{
    if (operand->file)
        return describe_file(facts, name, operand->file);
    if (operand->csr)
        describe_csr(facts, name, operand->csr);
    else
        describe_dense(facts, name, operand->dense);
    return HYBRID_OK;
}

void hy_facts_options(hy_facts *facts, const hybrid_engine *engine,
                      const hybrid_plan_options *options)
{
    hy_facts_add(facts, "variant %s, flags %u, split %d, share %g",
                 options->variant ? options->variant : "any", options->flags,
                 (int)options->split, options->host_share);
    hy_facts_add(facts, "processors %s, %d threads", engine->device_text,
                 hy_pool_threads(engine->ctx.pool));
}
