/* gpu/papers/hrpb_model.cuh - how the warps of spmm.cuda.hrpb share a product, and the
   model of its time.

   With paper=1 (hy_features.parameter) the variant is that of cuTeSpMM: operands are
   rounded to TF32 and pass through shared memory (hrpb_shared.cuh), a warp has TN = 32
   columns, and every panel above its share is cut. Without it, f32 operands are split
   into two parts unless options allow TF32, X goes straight to registers, a warp has up
   to 64 columns, and short panels stay whole. */
#ifndef HY_HRPB_MODEL_CUH
#define HY_HRPB_MODEL_CUH

#include <cstdio>

#include "base/data/csr.h"
#include "base/data/min_max.h"
#include "gpu/backend/cuda_tuning.h"
#include "partition/format/pack.h"
#include "partition/pattern/inspect.h"
#include "partition/pattern/synergy.h"

namespace hrpb
{

constexpr int WARPS      = HY_HRPB_THREADS / 32;
constexpr int MAX_ROUNDS = 65535; /* maximum gridDim.y: thread blocks side by side over
                                     the columns of X */
constexpr int PAPER = 0;          /* index of the parameter "paper" in
                                     hy_features.parameter */
constexpr int PAPER_TILES = 4;    /* 8-column tiles of a warp with paper=1: TN = 32
                                     columns */

inline bool is_paper(const hy_features *f)
{
    return f->parameter[PAPER] == 1;
}

/* ---- shape ---- */

/* Returns the number of 8-column tiles of a warp for n columns. Warps share the tiles
   evenly, so that one column more than a warp can hold does not cost a whole warp of
   tiles. For f32, 3 is rounded up to 4 and 7 to 8, which can load vectors. For f64, 5
   tiles stay in one warp, although its registers suffice for 4 only. The paper's warps
   have PAPER_TILES, or fewer for a narrow X. */
inline int tiles_for(hybrid_type type, int64_t n, bool paper)
{
    const int most      = type == HYBRID_F64 ? HY_HRPB_TILES_F64 : HY_HRPB_TILES_F32;
    const int64_t all   = n > 8 ? (n + 7) / 8 : 1;
    const int64_t warps = (all + most - 1) / most;
    const int tiles     = paper      ? int(hy_min(all, PAPER_TILES))
                          : all == 5 ? 5
                                     : int((all + warps - 1) / warps);
    return type == HYBRID_F32 && tiles % 4 == 3 ? tiles + 1 : tiles;
}

inline int tiles_of(const hy_features *f)
{
    return tiles_for(f->type, f->out_cols, is_paper(f));
}

inline int64_t warps_across(const hy_features *f)
{
    const int64_t n = f->out_cols, columns = 8 * tiles_of(f);
    return n > columns ? (n + columns - 1) / columns : 1;
}

/* Returns how heavy panels are cut. A wave is the panels that the device computes at
   once. The paper cuts a panel into num_loads / num_waves parts. num_loads is its number
   of blocks divided by the mean of all panels (Eq. 6). num_waves, at least 1, is the
   number of panels divided by the panels of a wave (Eq. 7). A part therefore has as many
   blocks as each panel of a wave would have, or each panel of A if A has fewer. Without
   paper=1, panels of up to HY_HRPB_LEAST blocks are not cut. */
inline hy_hrpb_rules rules_for(const hy_features *f, const hy_rates *r)
{
    const int64_t warps  = int64_t(r->width) * HY_HRPB_RESIDENT * WARPS;
    const int64_t wave   = hy_max(warps / warps_across(f), 1);
    const int64_t panels = (f->rows + HY_HRPB_ROWS - 1) / HY_HRPB_ROWS;
    if (is_paper(f))
        return {hy_max(hy_min(wave, panels), 1), 1};
    return {wave, HY_HRPB_LEAST};
}

/* ---- time ---- */

/* Returns the product in the terms of the paper's model. If tile_fill is unknown, each
   brick column counts as having one entry. */
inline hy_synergy synergy_of(const hy_features *f)
{
    hy_synergy s  = {};
    s.nnz         = double(f->nnz);
    s.alpha       = f->tile_fill > 0 ? f->tile_fill : 1 / double(HY_HRPB_ROWS);
    s.beta        = 1;
    s.columns     = double(f->out_cols);
    s.warps       = double(warps_across(f));
    s.value       = double(hy_value_size(f->type));
    s.block_bytes = sizeof(hy_hrpb_block);
    return s;
}

/* Lower bounds on the seconds of a product. */
struct bounds {
    double steps;  /* lower bound by instructions: finding the elements of a block takes
                      as many as multiplying one to three tiles */
    double loads;  /* lower bound by bytes that the caches send to registers */
    double memory; /* lower bound by bytes of operands and result in device memory */
};

inline bounds bounds_of(const hy_features *f, const hy_rates *r)
{
    const hy_synergy s = synergy_of(f);
    const double tile  = f->type == HYBRID_F64 ? HY_HRPB_TILE_F64
                         : f->allow_tf32       ? HY_HRPB_TILE_TF32
                                               : HY_HRPB_TILE_F32;
    const double blocks =
        hy_synergy_blocks(&s) + double(f->rows) / double(HY_HRPB_ROWS) / 2;
    const double each   = HY_HRPB_FIND + tile * tiles_of(f);
    const double loaded = hy_synergy_a_bytes(&s) + hy_synergy_x_bytes(&s);
    const double moved  = s.nnz * s.value + blocks * s.block_bytes +
                         double(f->rows + f->cols) * s.columns * s.value;
    return {blocks * s.warps * each / r->width, loaded / (HY_SPMM_REUSE * r->mem_Bps),
            moved / r->mem_Bps};
}

/* Returns the predicted seconds of the kernels. */
inline double multiply_s(const hy_features *f, const hy_rates *r)
{
    const bounds b    = bounds_of(f, r);
    const double most = b.loads > b.memory ? b.loads : b.memory;
    return HY_HRPB_LAUNCHES * r->launch_s + (b.steps > most ? b.steps : most);
}

/* Writes text for `explain` to `text`: the operational intensity, the speed to which each
   bound limits the product, and the predicted speed. Writes an empty string if A has no
   entries. */
inline void write_model(const hy_features *f, const hy_rates *r, char *text, size_t room)
{
    const hy_synergy s  = synergy_of(f);
    const bounds b      = bounds_of(f, r);
    const double gflops = 2e-9 * s.nnz * s.columns;
    const auto put      = [&](const char *format, auto... numbers) {
        snprintf(text, room, format, numbers...);
    };
    *text = '\0';
    if (f->nnz > 0 && f->out_cols > 0)
        put("alpha %.1f %% (%s synergy), intensity %.2f flop/byte\n"
            "at most %.0f GFLOP/s by loads to registers, %.0f by instructions, %.0f by "
            "device memory\n"
            "predicted %.0f GFLOP/s",
            100 * s.alpha, hy_synergy_class(s.alpha), hy_synergy_intensity(&s),
            gflops / b.loads, gflops / b.steps, gflops / b.memory,
            gflops / multiply_s(f, r));
}

} // namespace hrpb

#endif /* HY_HRPB_MODEL_CUH */
