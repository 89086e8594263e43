/* tests/support/fake/fake_survey.c - surveys on the fake device. A survey is what a
   device finds out about operands in its memory (hy_survey), for planning.

   The fake device examines all rows one by one, where a GPU takes a sample of the rows
   of C. It reports the upper bound of each row's entries as their number. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "tests/support/fake/fake_backend.h"
#include "tests/support/fake/fake_lane.h"
#include "tests/support/fake/fake_memory.h"

static int64_t surveys;

int64_t fake_surveys(void)
{
    return __atomic_load_n(&surveys, __ATOMIC_RELAXED);
}

static int64_t column(const hybrid_csr *A, int64_t k)
{
    return A->col_type == HYBRID_I64 ? ((const int64_t *)A->col)[k]
                                     : ((const int32_t *)A->col)[k];
}

static int offsets_are_wrong(const hybrid_csr *A)
{
    int wrong = hy_offset(A, 0) != 0 || hy_offset(A, A->rows) != A->nnz;

    for (int64_t i = 0; i < A->rows && !wrong; i++)
        wrong = hy_offset(A, i) > hy_offset(A, i + 1);
    return wrong;
}

static int64_t falls_of(const hybrid_csr *A)
{
    int64_t falls = 0;

    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = hy_offset(A, i) + 1; k < hy_offset(A, i + 1); k++)
            falls += column(A, k) <= column(A, k - 1);
    return falls;
}

static int columns_are_wrong(const hybrid_csr *A)
{
    int wrong = 0;

    for (int64_t k = 0; k < A->nnz && !wrong; k++)
        wrong = column(A, k) < 0 || column(A, k) >= A->cols;
    return wrong;
}

static void count_row(const hy_surveying *s, int64_t row)
{
    const hybrid_csr *A = s->A, *B = s->B;
    const int64_t begin = hy_offset(A, row), end = hy_offset(A, row + 1);
    hy_survey *out   = s->out;
    int64_t products = 0;

    out->longest = hy_max(out->longest, end - begin);
    out->squares += (double)(end - begin) * (double)(end - begin);
    for (int64_t k = begin; k < end && B; k++)
        products += hy_offset(B, column(A, k) + 1) - hy_offset(B, column(A, k));
    out->products += products;
    out->products_max = hy_max(out->products_max, products);
    out->bound += B ? hy_min(products, B->cols) : 0;
}

static hybrid_status do_survey(hy_lane *lane, void *arg)
{
    const hy_surveying *s = arg;
    hy_survey *out        = s->out;

    (void)lane;
    *out       = (hy_survey){0};
    out->wrong = offsets_are_wrong(s->A) || columns_are_wrong(s->A) ||
                 (s->B && (offsets_are_wrong(s->B) || columns_are_wrong(s->B)));
    if (!out->wrong)
        out->falls = falls_of(s->A) + (s->B ? falls_of(s->B) : 0);
    for (int64_t i = 0; i < s->A->rows && !out->wrong; i++)
        count_row(s, i);
    out->drawn_products = (double)out->products;
    out->drawn_entries  = (double)out->bound;
    if (s->expected)
        *s->gate = hy_survey_same(out, s->expected);
    return HYBRID_OK;
}

hybrid_status fake_survey(hy_lane *lane, const hy_surveying *s)
{
    const hybrid_csr *A = s->A;
    const int device    = lane->backend->index;

    if (!fake_memory_has(device, A->row_ptr, (size_t)A->rows * hy_offset_size(A)) ||
        !fake_memory_has(device, A->col, (size_t)A->nnz * hy_col_size(A)) ||
        !fake_on_device(lane->backend, s->work, FAKE_SURVEY_BYTES))
        return hy_fail(lane->backend->ctx, HYBRID_DEVICE_FAILED,
                       "fake device: what is surveyed is not in its memory");
    __atomic_add_fetch(&surveys, 1, __ATOMIC_RELAXED);
    return hy_fake_enqueue_copy(lane, do_survey, s, sizeof *s);
}
