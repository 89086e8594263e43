/* engine/plan_report.c - what a plan tells of a run: chunks, and bytes predicted. */
#include "engine/plan.h"
#include "engine/resident.h"

int64_t hy_plan_resident_chunks(const hybrid_plan *plan, const hy_bound *bound)
{
    int64_t sum = 0;

    for (int i = 0; i < plan->count; i++)
        sum += hy_resident_chunks(plan->portions[i].site,
                                  hy_image_col_blocks(&bound[i].list.image),
                                  plan->split.host != NULL);
    return sum;
}

/* Of one portion, to what the report has of others. */
static void add_portion(const hy_portion *p, const hy_bound *bound, hybrid_report *report)
{
    const hy_pack_cache *cache = &p->site->cache;
    const int64_t other        = p->traffic.other_up;

    report->chunks += bound->list.count;
    report->predicted_h2d_bytes += bound->up;
    report->predicted_d2h_bytes += p->traffic.down;
    report->other_h2d_bytes =
        other < 0 || report->other_h2d_bytes < 0 ? -1 : report->other_h2d_bytes + other;
    report->gathered = report->gathered || p->layout.gathered;
    if (!cache->lasts)
        return;
    report->resident_bytes += (int64_t)cache->block.bytes;
    report->predicted_h2d_bytes += hy_traffic_first(&p->product, &p->layout, p->site);
}

hybrid_report hy_plan_report(const hybrid_plan *plan, const hy_bound *bound)
{
    const hy_product *product = &plan->product;
    hybrid_report report      = HYBRID_REPORT_INIT;

    report.plan_s          = plan->plan_s;
    report.rows            = product->rows;
    report.flops           = 2 * product->profile.features.products;
    report.resident_chunks = hy_plan_resident_chunks(plan, bound);
    for (int i = 0; i < plan->count; i++)
        add_portion(&plan->portions[i], &bound[i], &report);
    return report;
}
