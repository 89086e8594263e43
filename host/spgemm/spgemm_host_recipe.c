/* host/spgemm/spgemm_host_recipe.c - makes a row of C like an earlier one.

   On grids and in bands row after row has the same pattern, moved by some columns. The
   place of each scalar product (here: product) of such a row is known from the row
   before. A recipe stores these places as steps: "spread the next products of this term
   over these of 16 (or 8) entries of C, and add them". A row then takes some vector
   additions in registers. Its columns are those of the recipe, moved. Nothing is marked,
   searched or sorted.

   A recipe only has to be likely: a row is made by a recipe only after all columns of its
   products were compared. Slots for recipes are found by a hash of (terms, products,
   range of columns). The first row of a slot is only counted, and the next such row
   writes the recipe. Each time that a recipe turns out wrong, more rows must be counted
   before the next is written.

   Steps of an entry are in the order of A's row, so the bits are those of other
   accumulators. Recipes need AVX-512. */
#include "host/spgemm/spgemm_host.h"

#include <string.h>

#include "base/data/csr.h"
#include "host/backend/target.h"

enum {
    RECIPES  = 16,     /* recipes of a worker, a power of two */
    TERMS    = 128,    /* maximum entries of the row of A */
    PRODUCTS = 2048,   /* maximum scalar products of the row */
    ENTRIES  = 1024,   /* maximum entries of the row of C */
    STEPS    = 1024,   /* maximum steps of a recipe */
    GAIN     = 2,      /* a recipe is written only if the row has at least GAIN scalar
                          products per step of the recipe, which is a vector addition;
                          below that the dense window is as fast */
    GROUP  = 4,        /* rows that are computed together by one recipe */
    LINE   = 64,       /* bytes of an AVX-512 vector */
    CREDIT = 8,        /* a recipe is dropped after more than CREDIT consecutive rows that
                          the hash assigns to its place in `recipes` and that do not suit
                          it */
    PATIENCE = 1 << 20 /* maximum rows that are counted before a recipe is written */
};

/* A step adds the next scalar products of a term to a vector of 16 (or 8) entries of C.
   Each set bit of `mask` stands for an entry that receives one of these products. */
typedef struct step {
    uint32_t at; /* index, in the term, of the first scalar product that the step adds */
    uint16_t term, mask;
} step;

typedef struct recipe {
    int64_t count, products, range; /* number of terms, number of scalar products, and
                                       col_max - col_min: the recipe is for rows that
                                       agree in all three */
    int seen;                       /* number of rows that were counted while the recipe
                                       was not yet written; 0 again when it is dropped,
                                       and -PATIENCE if it would not be faster */
    int credit;  /* number of further consecutive rows that may not suit the recipe before
                    it is dropped */
    int entries; /* entries of C; 0: the recipe is not yet written */
    int32_t length[TERMS];
    int32_t product[PRODUCTS + LINE / 4]; /* columns of scalar products, less col_min */
    int32_t col[ENTRIES];                 /* columns of the entries of C, less col_min */
    int32_t steps_end[ENTRIES];           /* for each vector of entries of C, the number
                                             of steps up to its end */
    step steps[STEPS];
} recipe;

/* Rows of C that one recipe makes: their columns are written, and their values are still
   to be computed. */
typedef struct pending {
    const recipe *recipe;
    hybrid_type type;
    int rows;
    const void *b_val;
    const hy_term *terms[GROUP];
    const void *a[GROUP];
    void *val[GROUP];
} pending;

struct hy_recipes {
    int patience; /* number of rows that are counted for an empty recipe (recipe.seen)
                     before the next such row fills it */
    pending waiting;
    recipe recipes[RECIPES];
};

#if HY_X86

/* ---- making rows ------------------------------------------------------------------ */

HY_AVX512 static inline __mmask16 first_lanes(int64_t n)
{
    return (__mmask16)(n >= 16 ? 0xffffu : (1u << n) - 1);
}

/* Returns 1 if the scalar products of the row have the columns of the recipe, all moved
   by the same distance. */
HY_AVX512 static int suits(const recipe *r, const hy_row *row)
{
    const __m512i base     = _mm512_set1_epi32(row->col_min);
    const int32_t *product = r->product;

    for (int64_t t = 0; t < row->count; t++) {
        const int32_t *col = row->b_col + row->terms[t].begin;
        const int64_t n    = row->terms[t].end - row->terms[t].begin;
        __mmask16 differ   = 0;

        if (n != r->length[t])
            return 0;
        for (int64_t k = 0; k < n; k += 16) {
            const __mmask16 lanes = first_lanes(n - k);
            const __m512i is      = _mm512_maskz_loadu_epi32(lanes, col + k);
            const __m512i wanted =
                _mm512_add_epi32(_mm512_loadu_si512(product + k), base);
            differ =
                _kor_mask16(differ, _mm512_mask_cmpneq_epi32_mask(lanes, is, wanted));
        }
        if (differ)
            return 0;
        product += n;
    }
    return 1;
}

HY_AVX512 static void make_cols(const recipe *r, const hy_row *row)
{
    const __m512i base = _mm512_set1_epi32(row->col_min);

    for (int i = 0; i < r->entries; i += 16)
        _mm512_mask_storeu_epi32(row->col[0] + i, first_lanes(r->entries - i),
                                 _mm512_add_epi32(_mm512_loadu_si512(r->col + i), base));
}

/* Computes the values of GROUP rows at once. A step is decoded once for all of them, and
   their additions do not wait for each other. */
HY_AVX512 static void make_f32(const pending *w)
{
    const recipe *r = w->recipe;
    const step *s   = r->steps;

    for (int i = 0; i < r->entries; i += 16) {
        const step *end        = r->steps + r->steps_end[i / 16];
        const __mmask16 stored = first_lanes(r->entries - i);
        __m512 sum[GROUP];
        for (int g = 0; g < GROUP; g++)
            sum[g] = _mm512_setzero_ps();
        for (; s < end; s++) {
            const __mmask16 lanes = first_lanes(_mm_popcnt_u32(s->mask));
#pragma GCC unroll 4
            for (int g = 0; g < GROUP; g++) {
                const float *b = (const float *)w->b_val + w->terms[g][s->term].begin;
                const __m512 a = _mm512_set1_ps(((const float *)w->a[g])[s->term]);
                const __m512 p =
                    _mm512_mul_ps(a, _mm512_maskz_loadu_ps(lanes, b + s->at));
                sum[g] = _mm512_mask_add_ps(sum[g], s->mask, sum[g],
                                            _mm512_maskz_expand_ps(s->mask, p));
            }
        }
        for (int g = 0; g < GROUP; g++)
            _mm512_mask_storeu_ps((float *)w->val[g] + i, stored, sum[g]);
    }
}

HY_AVX512 static void make_f64(const pending *w)
{
    const recipe *r = w->recipe;
    const step *s   = r->steps;

    for (int i = 0; i < r->entries; i += 8) {
        const step *end       = r->steps + r->steps_end[i / 8];
        const __mmask8 stored = (__mmask8)first_lanes(r->entries - i);
        __m512d sum[GROUP];
        for (int g = 0; g < GROUP; g++)
            sum[g] = _mm512_setzero_pd();
        for (; s < end; s++) {
            const __mmask8 mask  = (__mmask8)s->mask;
            const __mmask8 lanes = (__mmask8)first_lanes(_mm_popcnt_u32(mask));
#pragma GCC unroll 4
            for (int g = 0; g < GROUP; g++) {
                const double *b = (const double *)w->b_val + w->terms[g][s->term].begin;
                const __m512d a = _mm512_set1_pd(((const double *)w->a[g])[s->term]);
                const __m512d p =
                    _mm512_mul_pd(a, _mm512_maskz_loadu_pd(lanes, b + s->at));
                sum[g] = _mm512_mask_add_pd(sum[g], mask, sum[g],
                                            _mm512_maskz_expand_pd(mask, p));
            }
        }
        for (int g = 0; g < GROUP; g++)
            _mm512_mask_storeu_pd((double *)w->val[g] + i, stored, sum[g]);
    }
}

/* Computes the values of the pending rows. If they are fewer than GROUP, the last one is
   computed several times. */
static void make_pending(pending *w)
{
    if (w->rows == 0)
        return;
    for (int g = w->rows; g < GROUP; g++) {
        w->terms[g] = w->terms[w->rows - 1];
        w->a[g]     = w->a[w->rows - 1];
        w->val[g]   = w->val[w->rows - 1];
    }
    HY_CALL_BY_TYPE(w->type, make, w);
    w->rows = 0;
}

static void put_off(pending *w, const recipe *r, hybrid_type type, const hy_row *row)
{
    if (w->rows == GROUP || w->recipe != r)
        make_pending(w);
    w->recipe         = r;
    w->type           = type;
    w->b_val          = row->b_val;
    w->terms[w->rows] = row->terms;
    w->a[w->rows]     = row->a[0];
    w->val[w->rows++] = row->val[0];
}

/* ---- writing ----------------------------------------------------------------------- */

/* Counts the leading scalar products of a term that belong to the entries of C with
   columns entry[0] to entry[lanes - 1]. The term has n products left, with columns from
   col[0] on. Sets *mark to the entries that receive a product. Returns -1 if the term
   names a column twice. */
static int take(const int32_t *col, int64_t n, const int32_t *entry, int lanes,
                uint16_t *mask)
{
    int lane = 0, taken = 0;

    *mask = 0;
    for (; taken < n && col[taken] <= entry[lanes - 1]; taken++) {
        while (entry[lane] < col[taken])
            lane++;
        if (*mask >> lane & 1)
            return -1;
        *mask = (uint16_t)(*mask | 1u << lane);
    }
    return taken;
}

static int write_steps(recipe *r, const hy_row *row, const int32_t *entries, int width)
{
    int32_t at[TERMS] = {0};
    int steps         = 0;

    for (int i = 0; i < r->entries; i += width) {
        const int lanes = r->entries - i < width ? r->entries - i : width;
        for (int t = 0; t < row->count; t++) {
            const int64_t first = row->terms[t].begin + at[t];
            uint16_t mask;
            const int taken = take(row->b_col + first, row->terms[t].end - first,
                                   entries + i, lanes, &mask);
            if (taken < 0 || steps == STEPS)
                return 0;
            if (taken > 0)
                r->steps[steps++] = (step){(uint32_t)at[t], (uint16_t)t, mask};
            at[t] += taken;
        }
        r->steps_end[i / width] = steps;
    }
    return steps * GAIN <= row->products;
}

/* Writes a recipe from a row that was just made and its `nnz` entries of C. A recipe that
   would not be faster stays empty, and is tried again after PATIENCE rows. */
static void write_recipe(recipe *r, hybrid_type type, const hy_row *row, int64_t nnz)
{
    int32_t *product = r->product;

    for (int64_t t = 0; t < row->count; t++) {
        const hy_term term = row->terms[t];
        r->length[t]       = (int32_t)(term.end - term.begin);
        for (int64_t k = term.begin; k < term.end; k++)
            *product++ = row->b_col[k] - row->col_min;
    }
    for (int64_t i = 0; i < nnz; i++)
        r->col[i] = row->col[0][i] - row->col_min;
    r->entries = (int)nnz;
    if (!write_steps(r, row, row->col[0], LINE / (int)hy_value_size(type))) {
        r->entries = 0;
        r->seen    = -PATIENCE;
    }
}

/* ---- recipes of a worker ---------------------------------------------------------- */

static recipe *slot_of(hy_recipes *b, const hy_row *row)
{
    const int64_t range = (int64_t)row->col_max - row->col_min;
    const uint64_t hash =
        (uint64_t)(row->count * 31 + row->products * 1031 + range) * 0x9e3779b97f4a7c15u;
    recipe *r = &b->recipes[hash >> 32 & (RECIPES - 1)];

    if (r->count == row->count && r->products == row->products && r->range == range)
        return r;
    if (r->credit-- > 0)
        return NULL;
    make_pending(&b->waiting);
    r->count    = row->count;
    r->products = row->products;
    r->range    = range;
    r->seen = r->credit = r->entries = 0;
    return r;
}

/* Makes the row by the recipe and returns 1. Returns 0 if the recipe does not suit the
   row. A recipe is dropped after more than CREDIT consecutive rows that it did not
   suit. */
static int follow(hy_recipes *b, recipe *r, hybrid_type type, const hy_row *row)
{
    if (!suits(r, row)) {
        if (r->credit-- <= 0) {
            make_pending(&b->waiting);
            r->entries  = 0;
            r->seen     = 0;
            b->patience = b->patience < PATIENCE ? 2 * b->patience : PATIENCE;
        }
        return 0;
    }
    make_cols(r, row);
    put_off(&b->waiting, r, type, row);
    r->credit   = CREDIT;
    b->patience = 1;
    return 1;
}

hybrid_status hy_row_recipe(const hy_seat *seat, const hy_row *row, hy_row_fn make,
                            int64_t *nnz)
{
    hy_recipes *b = seat->recipes;

    if (!b || row->lanes > 1 || row->count > TERMS || row->products > PRODUCTS)
        return make(seat, row, nnz);
    recipe *r = slot_of(b, row);
    if (r && r->entries > 0 && follow(b, r, seat->type, row)) {
        *nnz = r->entries;
        return HYBRID_OK;
    }
    HY_TRY(make(seat, row, nnz));
    if (r && r->entries == 0 && *nnz <= ENTRIES && r->seen++ >= b->patience)
        write_recipe(r, seat->type, row, *nnz);
    return HYBRID_OK;
}

hybrid_status hy_recipes_open(hy_seat *seat)
{
    void *made = NULL;
    size_t fresh;

    seat->recipes = NULL;
    if (hy_target_best() < HY_TARGET_AVX512)
        return HYBRID_OK;
    /* each type has its own recipes, because steps are for vectors of 8 doubles or of 16
       floats */
    HY_TRY(hy_host_workspace(seat->lane, hy_scratch_of(HY_SCRATCH_RECIPES, seat->type),
                             sizeof(hy_recipes), &made, &fresh));
    seat->recipes = made;
    if (fresh) {
        memset(seat->recipes, 0, sizeof(hy_recipes));
        seat->recipes->patience = 1;
    }
    return HYBRID_OK;
}

void hy_recipes_finish(const hy_seat *seat)
{
    if (seat->recipes)
        make_pending(&seat->recipes->waiting);
}

#else

hybrid_status hy_row_recipe(const hy_seat *seat, const hy_row *row, hy_row_fn make,
                            int64_t *nnz)
{
    return make(seat, row, nnz);
}

hybrid_status hy_recipes_open(hy_seat *seat)
{
    seat->recipes = NULL;
    return HYBRID_OK;
}

void hy_recipes_finish(const hy_seat *seat)
{
    (void)seat;
}

#endif
