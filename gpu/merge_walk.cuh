/* gpu/merge_walk.cuh - groups of lanes walk the shares of a tile of the merge path. */
#ifndef HY_MERGE_WALK_CUH
#define HY_MERGE_WALK_CUH

#include "gpu/merge_tile.cuh"

/* Which columns a lane has: VEC of each tile of columns, from `first` on. LANES: a group
   has so many, 0 if the launch says how many. FULL: all have columns in all tiles. */
template <int LANES, bool FULL> struct merge_lane {
    static constexpr bool full = FULL;
    int lane, of;
    int64_t first;

    __device__ int lanes() const
    {
        return LANES > 0 ? LANES : of;
    }
};

/* Groups that own whole lines turn rows round. */
template <typename T, int VEC, int LANES>
constexpr bool merge_turns = LANES > 1 && LANES == hy_tile_lanes<T, VEC>;

/* Store a row of Y in whose place vectors do not fit: the group's lanes turn it round in
   `room`, until all but its ends lies in vectors that do. `y`: where this lane's columns
   go, `left`: columns of the row from there on. The row's last values come to lie before
   its first, in a vector that is stored one by one. */
template <bool FULL, typename T, int VEC, int TILES>
static __device__ void store_turned(T *y, int left, int lane, T *room,
                                    const T (&sum)[TILES][VEC])
{
    constexpr int LANES  = hy_tile_lanes<T, VEC>;
    constexpr int TILE   = LANES * VEC;
    constexpr int ALL    = TILES * TILE;
    const unsigned group = 0xffffffffu >> (32 - LANES) << (threadIdx.x % 32 - lane);
    const int turn       = int(uintptr_t(y) / sizeof(T) % VEC);
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
        for (int e = 0; e < VEC; e++) {
            const int at = t * TILE + lane * VEC + e + turn;
            room[t + 1 == TILES && at >= ALL ? at - ALL : at] = sum[t][e];
        }
    __syncwarp(group);
#pragma unroll
    for (int t = 0; t < TILES; t++) {
        const int at  = t * TILE - turn; /* from this lane's first column */
        const auto *v = reinterpret_cast<const hy_vec<T, VEC> *>(room + lane * VEC);
        if (at + lane * VEC >= 0 && (FULL || at + VEC <= left))
            *reinterpret_cast<hy_vec<T, VEC> *>(y + at) = v[t * LANES];
        else
#pragma unroll
            for (int e = 0; e < VEC; e++) {
                const int k = at + e + (at + e + lane * VEC < 0 ? ALL : 0);
                if (FULL || k < left)
                    y[k] = v[t * LANES].x[e];
            }
    }
    __syncwarp(group);
}

/* Store what a lane has of a row: columns `y` and on, `left` of them and others that
   do not exist; from tile to tile `tile` further. WHOLE: as hy_spmm_operands says. */
template <typename T, int VEC, int TILES>
static __device__ void store_plain(T *y, int left, int tile, bool whole,
                                   const T (&sum)[TILES][VEC])
{
#pragma unroll
    for (int t = 0; t < TILES; t++)
        if (whole) {
            if (t * tile < left)
                hy_store_vec(y + t * tile, sum[t]);
        } else {
#pragma unroll
            for (int e = 0; e < VEC; e++)
                if (t * tile + e < left)
                    y[t * tile + e] = sum[t][e];
        }
}

/* Walk one share of a tile. */
template <typename T, int VEC, int TILES, int LANES, bool FULL>
static __device__ void walk(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                            int share, const merge_lane<LANES, FULL> &l)
{
    constexpr int AHEAD    = hy_ahead<T, VEC, TILES>;
    const merge_split from = m.split[share], to = m.split[share + 1];
    const int tile  = l.lanes() * VEC;
    const int64_t j = l.first + l.lane * VEC;
    /* Every load is of a number that is there, also by lanes that have no column and for
       entries after the last; nothing comes of those. */
    const int64_t last_j = (o.n - 1) / VEC * VEC;
    const int64_t x_at   = FULL ? j : min(j, last_j);
    const T *x_j         = o.x + x_at;
    const int last_tile  = (TILES - 1) * tile;
    const int to_last    = FULL ? last_tile : int(min(int64_t(last_tile), last_j - x_at));
    T *y                 = o.y + (m.row + from.rows) * o.ld + j;
    T *carry             = m.carry + share * m.pass_columns;
    const int left       = int(min(o.n - j, int64_t(INT32_MAX)));
    int row              = from.rows;
    int end              = row < to.rows ? m.end[row] : MERGE_NEVER;
    T sum[TILES][VEC]    = {};
    const auto flush     = [&] {
        if constexpr (merge_turns<T, VEC, LANES>)
            store_turned<FULL>(y, left, l.lane, carry, sum);
        else
            store_plain(y, left, tile, o.whole, sum);
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int e = 0; e < VEC; e++)
                sum[t][e] = T(0);
        y += o.ld;
        end = ++row < to.rows ? m.end[row] : MERGE_NEVER;
    };

    for (int k = from.entries; k < to.entries; k += AHEAD) {
        hy_vec<T, VEC> x[AHEAD][TILES];
        T a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int at      = min(k + u, to.entries - 1);
            const int32_t col = m.col[at];
            a[u]              = m.val[at];
#pragma unroll
            for (int t = 0; t < TILES; t++)
                x[u][t] = hy_load_x<T, VEC>(x_j + (t + 1 < TILES ? t * tile : to_last),
                                            col, o.pitch);
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            while (k + u == end)
                flush();
            if (k + u < to.entries)
#pragma unroll
                for (int t = 0; t < TILES; t++)
                    hy_add_x(sum[t], a[u], x[u][t]);
        }
    }
    while (row < to.rows)
        flush();
#pragma unroll
    for (int t = 0; t < TILES; t++)
        hy_store_vec(carry + t * tile + l.lane * VEC, sum[t]);
}

/* What the shares before `share` carry of row `row` of the tile. */
template <typename T, int VEC, int TILES, typename L>
static __device__ void add_carried(const merge_tile<T> &m, int row, int share, const L &l,
                                   T (&sum)[TILES][VEC])
{
    const T *carry = m.carry + l.lane * VEC;
#pragma unroll 2
    for (int s = m.first_share(row); s < share; s++)
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            const T *from = carry + s * m.pass_columns + t * l.lanes() * VEC;
            hy_add_x(sum[t], T(1), *reinterpret_cast<const hy_vec<T, VEC> *>(from));
        }
}

/* All shares of a tile in one pass over columns of X, the groups' first at `first`; what
   the tile leaves to those that follow goes to `tile_carry`. */
template <typename T, int VEC, int TILES, int LANES, bool FULL>
static __device__ void pass_over(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                                 T *tile_carry, int lanes, int64_t first)
{
    const merge_lane<LANES, FULL> l = {int(threadIdx.x) & (lanes - 1), lanes, first};
    const int groups                = HY_CUDA_THREADS / l.lanes();
    const int group                 = int(threadIdx.x) / l.lanes();
    const int tile                  = l.lanes() * VEC;
    const int64_t j                 = first + l.lane * VEC;
    const int left                  = int(min(o.n - j, int64_t(INT32_MAX)));

    for (int s = group; s < m.shares; s += groups)
        walk<T, VEC, TILES>(o, m, s, l);
    __syncthreads();
    for (int s = group; s <= m.shares; s += groups) {
        const bool last = s == m.shares; /* stands for the tiles that follow */
        const int row   = last ? m.rows : m.split[s].rows;
        const bool ends = last || m.split[s + 1].rows > row;
        if (!ends || (last ? m.entries : m.split[s].entries) <= m.begin(row))
            continue;
        T *out            = (last ? tile_carry : o.y + (m.row + row) * o.ld) + j;
        T sum[TILES][VEC] = {};
        add_carried<T, VEC, TILES>(m, row, s, l, sum);
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int e = 0; e < VEC; e++) /* the group has stored to Y itself */
                sum[t][e] += !last && t * tile + e < left ? out[t * tile + e] : T(0);
        store_plain(out, left, tile, o.whole, sum);
    }
    __syncthreads();
}

#endif /* HY_MERGE_WALK_CUH */
