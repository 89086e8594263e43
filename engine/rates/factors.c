/* engine/rates/factors.c - corrects predicted seconds by what was measured. */
#include "engine/rates/factors.h"

#include <string.h>

#include "base/data/value_type.h"

enum { KINDS = HY_REGIMES / (HY_TYPE_COUNT + 1) }; /* regimes of a value type */

/* Names of regimes: of all types, and for SpMM of products rounded to TF32. */
#define SPMM(name) name ".1", name ".8", name ".32", name ".128",
#define SPMM_OF(is, T, suffix, ...) SPMM(#suffix)
static const char *const spmm_names[HY_REGIMES] = {HY_VALUE_TYPES(SPMM_OF) SPMM("tf32")};

#define SPGEMM(name)                                                                     \
    name ".even.short", name ".even.long", name ".uneven.short", name ".uneven.long",
#define SPGEMM_OF(is, T, suffix, ...) SPGEMM(#suffix)
static const char *const spgemm_names[HY_REGIMES] = {HY_VALUE_TYPES(SPGEMM_OF)};

/* Rows of C are long if they have, on average, at least this many scalar products. */
static const double LONG = 256;

static int spmm_kind(const hy_features *f)
{
    return f->out_cols == 1 ? 0 : f->out_cols < 16 ? 1 : f->out_cols < 64 ? 2 : 3;
}

static int spgemm_kind(const hy_features *f)
{
    const int is_long = (double)f->products >= LONG * (double)f->rows;
    return 2 * (f->row_cv >= 1) + is_long;
}

int hy_regime(hy_op op, const hy_features *f)
{
    const int tf32 = f->allow_tf32 && hy_value_type_of(f->type)->rounds_to_tf32;
    const int type = hy_type_index(f->type);

    if (op == HY_SPGEMM)
        return type * KINDS + spgemm_kind(f);
    return (tf32 ? HY_TYPE_COUNT : type) * KINDS + spmm_kind(f);
}

const char *hy_regime_name(hy_op op, int regime)
{
    return op == HY_SPGEMM ? spgemm_names[regime] : spmm_names[regime];
}

hy_op hy_op_named(const char *variant)
{
    return strncmp(variant, "spgemm.", 7) == 0 ? HY_SPGEMM : HY_SPMM;
}

static double or_one(double factor)
{
    return factor > 0 ? factor : 1;
}

static const hy_factor_row *find(const hy_factor_table *factors, const char *variant)
{
    for (int i = 0; factors && i < factors->count; i++)
        if (strcmp(factors->row[i].variant, variant) == 0)
            return &factors->row[i];
    return NULL;
}

double hy_factor_seen(const hy_factor_table *factors, const hy_variant *variant,
                      int regime)
{
    const hy_factor_row *row = find(factors, variant->name);
    return row ? or_one(row->compute[regime]) : 1;
}

double hy_start_seen(const hy_factor_table *factors, const hy_variant *variant)
{
    const hy_factor_row *row = find(factors, variant->name);
    return row ? row->start_s : 0;
}

double hy_gap_s(hy_op op, const hy_rates *r)
{
    if (!r->factors)
        return 0;
    return op == HY_SPGEMM ? r->factors->spgemm_gap_s : r->factors->spmm_gap_s;
}

/* Returns the factor of a regime. A variant that computes alike with and without TF32 has
   factors without TF32 only. */
static double factor_in(const hy_factor_row *row, hy_op op, const hy_features *f)
{
    const double own  = row->compute[hy_regime(op, f)];
    hy_features plain = *f;

    plain.allow_tf32 = 0;
    return or_one(own > 0 ? own : row->compute[hy_regime(op, &plain)]);
}

hy_cost hy_cost_of(const hy_variant *variant, const hy_features *f, const hy_rates *r)
{
    const hy_factor_row *row = find(r->factors, variant->name);
    hy_cost cost             = variant->cost(f, r);

    if (!row)
        return cost;
    const double factor = factor_in(row, variant->op, f);
    cost.multiply_s     = row->start_s + factor * cost.multiply_s;
    cost.finish_s *= factor;
    cost.prepare_s *= or_one(row->prepare);
    return cost;
}

double hy_call_factor(hy_op op, const hy_rates *r)
{
    if (!r->factors)
        return 1;
    return or_one(op == HY_SPGEMM ? r->factors->spgemm_call : r->factors->spmm_call);
}

hy_factor_row *hy_factors_of(hy_factor_table *factors, const char *variant)
{
    const size_t length = strlen(variant);

    for (int i = 0; i < factors->count; i++)
        if (strcmp(factors->row[i].variant, variant) == 0)
            return &factors->row[i];
    if (length >= HY_FACTOR_NAME || factors->count == HY_FACTOR_ROWS)
        return NULL;
    hy_factor_row *row = &factors->row[factors->count++];
    *row               = (hy_factor_row){.prepare = 0};
    memcpy(row->variant, variant, length + 1);
    return row;
}
