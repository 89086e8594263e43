/* partition/tiled/tiled_layout.c - where the arrays of a pack of spmm.cuda.tiled lie, and
   how large they may be. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "partition/format/pack_tiled.h"

enum {
    /* Padding may multiply the entries of a pack by at most PADDED, plus PADDED_FIRST
       entries; the constant suffices for the worst padding of a million entries. */
    PADDED       = 8,
    PADDED_FIRST = (HY_TILED_SLICE - PADDED) << 20
};

static int64_t ceil_of(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static size_t after(size_t at, int64_t count, size_t size)
{
    return hy_align(at + (size_t)count * size);
}

hy_tiled_places hy_tiled_places_of(const hy_tiled_head *h, size_t size)
{
    hy_tiled_places at;

    at.out   = 0;
    at.start = after(at.out, h->panels * HY_TILED_ROWS, 4);
    at.stage = after(at.start, h->panels + 1, 4);
    at.count = after(at.stage, h->stages, sizeof(hy_tiled_stage));
    at.map   = after(at.count, h->stages * HY_TILED_ROWS, 2);
    at.split = after(at.map, h->mapped, 4);
    at.index = after(at.split, h->splits, sizeof(hy_tiled_split));
    at.val   = after(at.index, h->entries, 2);
    at.bytes = after(at.val, h->entries, size);
    return at;
}

size_t hy_tiled_lay_out(const hy_features *f, const hy_tiled_head *head,
                        size_t at[HY_ARRAYS])
{
    const size_t size = hy_value_size(f->type);

    at[HY_TILED_A] = 0;
    at[HY_TILED_X] = at[HY_TILED_A] + hy_tiled_places_of(head, size).bytes;
    return at[HY_TILED_X] + (size_t)f->gather_rows * (size_t)f->out_cols * size;
}

int64_t hy_tiled_most_entries(const hy_features *f, const hy_tiled_rules *rules)
{
    return !rules->paper
               ? f->nnz
               : hy_min(f->nnz * HY_TILED_SLICE, f->nnz * PADDED + PADDED_FIRST);
}

/* The bound on stages: a panel that touches d rows of X has less than d / 768 + 1
   stages. */
size_t hy_pack_tiled_bytes(const hy_features *f, const hy_tiled_rules *rules)
{
    const int64_t panels    = ceil_of(f->rows + rules->partials, HY_TILED_ROWS);
    const int narrow        = panels > 0 && f->cols <= f->nnz / panels;
    const int64_t mapped    = narrow ? panels * f->cols : f->nnz;
    const hy_tiled_head max = {.panels   = panels,
                               .stages   = panels + f->nnz / HY_TILED_COLS,
                               .mapped   = mapped,
                               .splits   = rules->partials / 2,
                               .partials = rules->partials,
                               .entries  = hy_tiled_most_entries(f, rules)};
    size_t at[HY_ARRAYS];
    return hy_tiled_lay_out(f, &max, at);
}

hy_tiled_view hy_packed_tiled(const hy_job *job)
{
    const hy_pack *pack = &job->pack;
    const char *base    = (const char *)job->in.ptr + pack->at[HY_TILED_A];
    hy_tiled_view view;

    memcpy(&view.head, pack->head, sizeof view.head);
    const hy_tiled_places at =
        hy_tiled_places_of(&view.head, hy_value_size(job->chunk->features.type));
    view.out   = (const void *)(base + at.out);
    view.start = (const void *)(base + at.start);
    view.stage = (const void *)(base + at.stage);
    view.count = (const void *)(base + at.count);
    view.map   = (const void *)(base + at.map);
    view.index = (const void *)(base + at.index);
    view.val   = base + at.val;
    view.split = (const void *)(base + at.split);
    return view;
}
