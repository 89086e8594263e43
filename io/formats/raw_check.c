/* io/formats/raw_check.c - checks the sizes in a description of raw numbers. */
#include <stdio.h>

#include "io/formats/raw.h"
#include "io/mtx/mtx.h"

typedef struct place {
    hy_context *ctx;
    const hy_input *input;
    const char *end; /* end of the description; messages name its line */
} place;

static hybrid_status fail(const place *s, const char *why)
{
    return hy_mtx_fail(s->ctx, s->input, s->end, why);
}

static hybrid_status fail_of(const place *s, const char *key, const char *what)
{
    char why[HY_WHY_BYTES];

    snprintf(why, sizeof why, "'%s' %s", key, what);
    return fail(s, why);
}

static int is_beyond(int64_t lines, int64_t ld, int64_t offset)
{
    int64_t bytes;

    return __builtin_mul_overflow(lines, ld, &bytes) || bytes > INT64_MAX / 16 ||
           offset > INT64_MAX / 2;
}

static hybrid_status check_dense(const place *s, const hy_raw_header *h)
{
    const int64_t lines = h->order == HYBRID_ROW_MAJOR ? h->rows : h->cols;
    const int64_t least = h->order == HYBRID_ROW_MAJOR ? h->cols : h->rows;
    char why[96];

    if (h->ld < least) {
        snprintf(why, sizeof why,
                 "is %lld, and must be at least %lld, the length of a %s",
                 (long long)h->ld, (long long)least,
                 h->order == HYBRID_ROW_MAJOR ? "row" : "column");
        return fail_of(s, "ld", why);
    }
    return is_beyond(lines, h->ld, h->values.offset)
               ? fail(s, "the matrix takes 2^63 bytes or more")
               : HYBRID_OK;
}

static hybrid_status check_sparse(const place *s, const hy_raw_header *h)
{
    if (h->cols > INT32_MAX)
        return fail_of(s, "cols", "must be less than 2^31");
    return h->rows == INT64_MAX || is_beyond(h->rows + 1, 1, h->row_ptr.offset) ||
                   is_beyond(h->nnz, 1, h->col.offset) ||
                   is_beyond(h->nnz, 1, h->values.offset)
               ? fail(s, "the matrix takes 2^63 bytes or more")
               : HYBRID_OK;
}

hybrid_status hy_raw_check(hy_context *ctx, const hy_input *input, const char *end,
                           hy_raw_header *h)
{
    const place where = {ctx, input, end}, *s = &where;

    if (h->version != 1)
        return fail_of(s, "version",
                       "must be 1, the only version that this library reads");
    if (h->form == HY_RAW_ROWS)
        return HYBRID_OK;
    if (h->ld < 0) /* the description has no "ld" */
        h->ld = h->order == HYBRID_ROW_MAJOR ? h->cols : h->rows;
    return h->form == HY_RAW_CSR ? check_sparse(s, h) : check_dense(s, h);
}
