/* host/spgemm/spgemm_host_work.c - measures the work of a row of C and of a chunk. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "host/spgemm/spgemm_host.h"
#include "partition/format/pack.h"

void hy_row_measure(const hybrid_csr *B, hy_row *row)
{
    row->products = 0;
    row->col_min  = INT32_MAX;
    row->col_max  = -1;
    for (int64_t t = 0; t < row->count; t++) {
        const hy_term term = row->terms[t];
        if (term.begin == term.end)
            continue;
        const int32_t first = hy_cols(B)[term.begin], last = hy_cols(B)[term.end - 1];
        row->products += term.end - term.begin;
        row->col_min = first < row->col_min ? first : row->col_min;
        row->col_max = last > row->col_max ? last : row->col_max;
    }
    row->bound = row->products < B->cols ? row->products : B->cols;
}

/* Returns how many whole terms (rows of B) fit the next stretch; 0 if the next term alone
   is too long, or if earlier stretches took a part of it. */
static int64_t count_terms(const hy_stretch *s)
{
    const hy_term *terms = s->whole->terms;
    int64_t products = 0, t = s->term;

    for (; t < s->whole->count && s->at == 0; t++) {
        products += terms[t].end - terms[t].begin;
        if (products > HY_UNCHECKED)
            break;
    }
    return t - s->term;
}

/* Makes the next stretch from a part of term number s->term (a row of B), after its first
   s->at scalar products, which earlier stretches took. */
static void take_part(hy_stretch *s)
{
    const hy_term term  = s->whole->terms[s->term];
    const int64_t begin = term.begin + s->at;

    s->part      = (hy_term){begin, hy_min(begin + HY_UNCHECKED, term.end)};
    s->at        = s->part.end < term.end ? s->part.end - term.begin : 0;
    s->row.terms = &s->part;
    s->row.count = 1;
}

int hy_stretch_next(hy_stretch *s, hybrid_type type)
{
    const int64_t first = s->term, size = (int64_t)hy_value_size(type);

    if (first == s->whole->count)
        return 0;
    s->row       = *s->whole;
    s->row.terms = s->whole->terms + first;
    s->row.count = count_terms(s);
    for (int r = 0; r < s->row.lanes; r++)
        s->row.a[r] = (const char *)s->whole->a[r] + first * size;
    s->term += s->row.count;
    if (s->row.count == 0) {
        take_part(s);
        s->term += s->at == 0;
    }
    return 1;
}

hybrid_status hy_seat_check(const hy_seat *seat, int64_t rows)
{
    hy_progress *progress = &seat->lane->backend->ctx->progress;

    hy_progress_add(progress, rows);
    return hy_progress_check(progress);
}

hybrid_status hy_row_too_long(const hy_lane *lane, int64_t row, int lanes, int64_t bound,
                              int64_t room)
{
    return hy_fail(lane->backend->ctx, HYBRID_BAD_STATE,
                   "the pattern of A or B changed after the plan was made: rows %lld to "
                   "%lld of C may have %lld entries together, and the plan left room for "
                   "%lld; make a new plan",
                   (long long)row, (long long)row + lanes - 1, (long long)bound * lanes,
                   (long long)room);
}

/* Seconds that a core waits for the first bytes of a row of B, once for each entry of A.
   The value is fitted on the machine that engine/rates/estimate.c describes. */
static const double ROW_OF_B_S = 36e-9;

hy_cost hy_spgemm_host_cost(const hy_features *f, const hy_rates *r, double cycles)
{
    const double size = (double)hy_value_size(f->type);
    const double hz =
        r->flops / (HY_HOST_CYCLE_FLOPS * (r->width > 0 ? r->width : 1)); /* cycles per
                                                                             second of a
                                                                             core */
    const double out = (double)f->products / (f->out_ratio > 1 ? f->out_ratio : 1);
    const double compute =
        ((double)f->products * cycles + out * 11 + (double)f->rows * 280) /
        (hz * (r->width > 0 ? r->width : 1));
    const double memory  = ((double)f->nnz * (4 + size) + out * (4 + size)) / r->mem_Bps;
    const double waiting = ROW_OF_B_S * (double)f->nnz / (r->width > 0 ? r->width : 1);
    hy_cost c            = {0};

    c.out_bytes  = hy_rows_bytes(HY_SPGEMM, f, 1);
    c.multiply_s = r->launch_s + (compute > memory ? compute : memory) + waiting;
    return c;
}
