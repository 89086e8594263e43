/* engine/run/bind.c - fits a plan's chunks to X and Y of a run: where column blocks
   begin, and whether pinned operands use them. */
#include "engine/run/bind.h"

#include "base/data/csr.h"
#include "engine/schedules/column_blocks.h"
#include "engine/rates/traffic.h"

/* Returns 1 if all rows of Y begin at cache lines of the device; rows that do not are
   copied at half the speed. Always 1 in tests that ask for column blocks. */
static int in_lines(const hy_product *product, const hybrid_dense *Y)
{
    const int64_t size = (int64_t)hy_value_size(Y->type);

    return hy_settings_of(product->engine)->column_blocks > 0 ||
           (Y->ld * size % HY_X_LINE == 0 && (uintptr_t)Y->data % HY_X_LINE == 0);
}

/* Returns the image with column blocks moved so that they begin at cache lines of Y, if
   they may move. */
static hy_image moved(const hy_portion *portion, const hy_image *image,
                      const hy_problem *problem)
{
    hy_image m = *image;

    if (m.axis == HY_AXIS_COLS && hy_column_blocks_may_move(portion->product))
        hy_image_move(&m, problem->Y);
    return m;
}

/* Returns the image of B or X in this run. X comes in column blocks, if the layout has
   them for pinned X and Y, if X and Y are pinned and either row-major, with rows of Y at
   cache lines, or column-major, with memory for transposing them. Otherwise the image is
   that of the layout. */
static hy_image image_for(const hy_portion *portion, int direct,
                          const hy_problem *problem)
{
    const hy_layout *layout = &portion->layout;

    if (!direct || layout->pinned_blocks == 0)
        return moved(portion, &layout->image, problem);
    const hy_image blocks = hy_column_blocks_pinned(portion, layout);
    if (problem->X->order == HYBRID_ROW_MAJOR)
        return in_lines(portion->product, problem->Y) ? moved(portion, &blocks, problem)
                                                      : layout->image;
    return portion->transposed_room > 0
               ? blocks /* in a column-major Y a block may begin at any column */
               : layout->image;
}

static int is_planned(const hy_image *image, const hy_image *planned)
{
    return image->axis == planned->axis && image->block == planned->block &&
           image->back == planned->back;
}

void hy_bind_planned(const hy_portion *portion)
{
    const hy_layout *layout = &portion->layout;
    hy_site *site           = portion->site;

    site->list    = hy_chunks_of(layout->chunks, layout->count);
    site->planned = (hy_chunk_list){.count = 0};
    if (portion->product->streams) {
        site->planned = site->list;
        site->list    = (hy_chunk_list){.more = 1};
    }
    site->image = layout->image;
    site->up    = portion->traffic.up;
    if (layout->image.axis == HY_AXIS_COLS)
        site->list = hy_chunks_in(&site->list, &layout->image);
}

void hy_bind(const hy_portion *portion, int direct, const hy_problem *problem)
{
    hy_site *site = portion->site;

    hy_bind_planned(portion);
    site->image = image_for(portion, direct, problem);
    if (is_planned(&site->image, &portion->layout.image))
        return;
    hy_layout moved_to   = portion->layout;
    moved_to.image       = site->image;
    moved_to.image_bytes = hy_image_bytes(&site->image);
    site->list           = hy_chunks_in(&site->list, &site->image);
    if (site->up > 0) /* updates the prediction of bytes sent to the device, if the plan
                         has made one */
        site->up = hy_traffic_dense_up(portion, &moved_to);
}

/* Returns the portion's site with its rows and rate for this run. If its image is not
   whole (column blocks, a ring or gathered), it takes no rows of others. */
static hy_site *join(const hy_portion *p, double rate)
{
    hy_site *site = p->site;

    site->begin  = p->begin;
    site->end    = p->end;
    site->taking = p->taking;
    site->rate   = rate;
    if (site->image.axis != HY_AXIS_NONE)
        site->taking.variant = NULL;
    return site;
}

hy_sites hy_bind_sites(const hy_portion *portions, int count, const hy_forecast *forecast)
{
    const hy_portion *host = &portions[count];
    hy_sites sites         = {.count = count};

    for (int i = 0; i < count; i++)
        sites.of[i] =
            join(&portions[i], forecast ? portions[i].weight * forecast->device_rate
                                        : portions[i].rate);
    if (forecast) {
        hy_bind_planned(host);
        sites.of[sites.count++] = join(host, forecast->host_rate);
    }
    return sites;
}
