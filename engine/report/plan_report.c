/* engine/report/plan_report.c - predicts the report of a run: chunks and bytes. */
#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "engine/plan/plan.h"
#include "engine/rates/factors.h"
#include "engine/run/resident.h"
#include "engine/rates/traffic.h"
#include "partition/parts/passes.h"

int64_t hy_plan_resident_chunks(const hybrid_plan *plan)
{
    int64_t sum = 0;

    for (int i = 0; i < plan->count; i++)
        sum +=
            hy_resident_chunks(plan->portions[i].site,
                               hy_image_col_blocks(&plan->portions[i].site->list.image),
                               hy_plan_has_helper(plan));
    return sum;
}

/* Returns the share of the listed chunks that the portion's site will compute. Each
   portion of a SpGEMM lists chunks of all rows, and its site claims a share of them. */
static double share_of(const hy_portion *p)
{
    return p->product->op == HY_SPGEMM ? p->weight : 1;
}

/* Returns the predicted seconds of kernels on the portion's device. The features of a
   chunk in passes are those of one pass. */
static double device_s(const hy_portion *p)
{
    const hy_chunk_list *list = &p->site->list;
    const int64_t passes      = hy_passes(&p->layout.image);
    double sum =
        hy_gap_s(p->product->op, &p->rates) * (double)hy_max(passes * list->count - 1, 0);

    for (int64_t i = 0; i < list->count; i++) {
        const hy_chunk chunk = hy_chunk_at(list, i);
        const hy_cost cost   = hy_cost_of(chunk.variant, &chunk.features, &p->rates);
        sum += (double)passes * (cost.multiply_s + cost.finish_s);
    }
    return sum * share_of(p);
}

/* Adds `bytes` to *sum. The sum is -1, unknown, if one of its parts is. */
static void add_known(int64_t *sum, int64_t bytes)
{
    *sum = *sum < 0 || bytes < 0 ? -1 : *sum + bytes;
}

/* Adds the numbers of one portion (the rows that one site computes) to `report`. */
static void add_portion(const hy_portion *p, hybrid_report *report)
{
    const hy_pack_cache *cache = &p->site->cache;

    report->chunks += p->site->list.count;
    report->predicted_h2d_bytes += p->site->up;
    report->predicted_d2h_bytes += (int64_t)((double)p->traffic.down * share_of(p));
    add_known(&report->other_h2d_bytes, p->traffic.other_up);
    add_known(&report->b_h2d_bytes, p->traffic.b_up);
    add_known(&report->least_b_h2d_bytes, p->traffic.b_least);
    report->gathered = report->gathered || hy_image_is_gathered(&p->layout.image);
    if (hy_portion_on_device(p))
        report->predicted_device_s += device_s(p);
    if (!cache->lasts)
        return;
    report->resident_bytes += (int64_t)cache->block.bytes;
    report->predicted_h2d_bytes += hy_traffic_first(p);
}

/* Returns the bytes of B or X that devices copy from each other (load_relay.c) and that
   their portions count as received from the host. Devices whose image differs from the
   first complete one do not take part. */
static int64_t relayed_bytes(const hybrid_plan *plan)
{
    const hy_image *first = NULL;
    int64_t sum           = 0;

    for (int i = 0; i < plan->count && plan->product.engine->relays; i++) {
        const hy_image *image = &plan->portions[i].site->image;
        if (!hy_image_is_complete(image))
            continue;
        if (!first)
            first = image;
        else if (hy_image_is_same(first, image))
            sum += (int64_t)hy_image_bytes(image);
    }
    return sum;
}

/* Returns the bytes of one offset or column index of C. AUTO takes the narrowest type
   that holds `entries`; DEFAULT takes `otherwise`. */
static int64_t index_bytes(hybrid_index asked, hybrid_index otherwise, int64_t entries)
{
    const hybrid_index by_count = entries <= INT32_MAX ? HYBRID_I32 : HYBRID_I64;
    const hybrid_index type     = asked == HYBRID_INDEX_AUTO      ? by_count
                                  : asked == HYBRID_INDEX_DEFAULT ? otherwise
                                                                  : asked;
    return (int64_t)hy_index_size(type);
}

int64_t hy_result_bytes(const hybrid_plan_options *options, hybrid_type type,
                        int64_t rows, int64_t entries)
{
    return (rows + 1) * index_bytes(options->offsets, HYBRID_I64, entries) +
           entries * (index_bytes(options->columns, HYBRID_I32, entries) +
                      (int64_t)hy_value_size(type));
}

/* Returns the bytes of a result with `entries` entries (SpMM: elements) on the host. */
static int64_t result_bytes(const hy_product *product, int64_t entries)
{
    const hybrid_type type = product->profile.features.type;

    if (product->result_on)
        return 0;
    if (product->op == HY_SPMM)
        return entries * (int64_t)hy_value_size(type);
    return hy_result_bytes(&product->options, type, product->rows, entries);
}

/* Returns the elements of Y, or the estimated entries of C. */
static int64_t result_entries(const hy_product *product)
{
    const hy_features *f = &product->profile.features;

    return product->op == HY_SPMM ? product->rows * f->out_cols
                                  : (int64_t)(hy_expected_entries(f) + 0.5);
}

hybrid_report hy_plan_report(const hybrid_plan *plan)
{
    const hy_product *product = &plan->product;
    hybrid_report report      = HYBRID_REPORT_INIT;

    report.plan_s                 = plan->plan_s;
    report.pattern_bytes          = plan->pattern_bytes;
    report.rows                   = product->rows;
    report.flops                  = 2 * product->profile.features.products;
    report.resident_chunks        = hy_plan_resident_chunks(plan);
    report.predicted_nnz_out      = result_entries(product);
    report.predicted_result_bytes = result_bytes(product, report.predicted_nnz_out);
    for (int i = 0; i < plan->count; i++)
        add_portion(&plan->portions[i], &report);
    if (report.predicted_h2d_bytes > 0)
        report.predicted_h2d_bytes -= relayed_bytes(plan);
    return report;
}
