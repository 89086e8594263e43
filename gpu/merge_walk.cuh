/* gpu/merge_walk.cuh - a group of lanes walks a share of a tile of the merge path. */
#ifndef HY_MERGE_WALK_CUH
#define HY_MERGE_WALK_CUH

#include "gpu/merge_tile.cuh"

/* Of the columns that lie apart a lane has one, in the first pass. */
template <typename T> struct rest_column {
    bool loads, stores; /* lanes that have none load as well */
    const T *x;         /* in row 0 */
    int place;          /* among a share's carries */
};

template <typename T, bool REST>
static __device__ rest_column<T> rest_column_of(const hy_spmm_operands<T> &o,
                                                const merge_tile<T> &m, int64_t first,
                                                int lane, int lanes)
{
    const bool loads = REST && first == 0;
    return {loads, loads && lane < o.rest_n,
            REST ? o.rest + min(lane, o.rest_n - 1) : nullptr,
            m.pass_columns - lanes + lane};
}

/* Rows of X in flight in a lane: columns that lie apart take registers too. */
template <typename T, int VEC, int TILES, bool REST>
constexpr int merge_ahead = REST ? hy_ahead<T, VEC, TILES> *(TILES == 1 ? 2 : 3) / 4
                                 : hy_ahead<T, VEC, TILES>;

/* A row of Y of whose place vectors may not fit: the group's lanes turn it round in
   `room`, so that neighbours store neighbours. `left`: columns from `y` on. */
template <typename T, int VEC, int TILES>
static __device__ void store_turned(T *y, int left, int lane, T *room,
                                    const T (&sum)[TILES][VEC])
{
    constexpr int LANES  = hy_tile_lanes<T, VEC>;
    const unsigned group = 0xffffffffu >> (32 - LANES) << (threadIdx.x % 32 - lane);
#pragma unroll
    for (int t = 0; t < TILES; t++)
        hy_store_vec(room + (t * LANES + lane) * VEC, sum[t]);
    __syncwarp(group);
#pragma unroll
    for (int i = 0; i < TILES * VEC; i++)
        if (i * LANES + lane < left)
            y[i * LANES + lane] = room[i * LANES + lane];
    __syncwarp(group);
}

/* Walk one share of a tile in columns j on; `column` is the first within the pass. */
template <typename T, int VEC, int TILES, bool REST>
static __device__ void walk(const hy_spmm_operands<T> &o, const merge_tile<T> &m,
                            int share, int tile, int64_t j, int column,
                            const rest_column<T> &rest)
{
    constexpr int AHEAD = merge_ahead<T, VEC, TILES, REST>;
    static_assert(AHEAD > 0, "a step takes entries");
    const merge_split from = m.split[share], to = m.split[share + 1];
    /* Every load is of a number that is there, also by lanes that have no column and for
       entries after the last; nothing comes of those. */
    const int64_t last_j = (o.n - 1) / VEC * VEC;
    const T *x_j         = o.x + min(j, last_j);
    const int to_last    = int(min(int64_t(TILES - 1) * tile, last_j - min(j, last_j)));
    T *y                 = o.y + (m.row + from.rows) * o.ld;
    int row              = from.rows;
    int end              = row < to.rows ? m.end[row] : MERGE_NEVER;
    const int left       = int(min(o.n - (j - column), int64_t(INT32_MAX)));
    T sum[TILES][VEC]    = {};
    T rest_sum           = T(0);
    T *carry             = m.carry + share * m.pass_columns;
    const auto flush     = [&] {
        if (REST) /* most of those fit no vectors */
            store_turned<T, VEC, TILES>(y + (j - column), left, column / VEC, carry, sum);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            if (!REST)
                hy_store_y(o, y, j + t * tile, sum[t]);
#pragma unroll
            for (int e = 0; e < VEC; e++)
                sum[t][e] = T(0);
        }
        if (rest.stores)
            y[o.n + column / VEC] = rest_sum;
        rest_sum = T(0);
        y += o.ld;
        end = ++row < to.rows ? m.end[row] : MERGE_NEVER;
    };

    for (int k = from.entries; k < to.entries; k += AHEAD) {
        hy_vec<T, VEC> x[AHEAD][TILES];
        T a[AHEAD], x_rest[AHEAD] = {};
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            const int at      = min(k + u, to.entries - 1);
            const int32_t col = m.col[at];
            a[u]              = m.val[at];
#pragma unroll
            for (int t = 0; t < TILES; t++)
                x[u][t] = hy_load_x<T, VEC>(x_j + (t + 1 < TILES ? t * tile : to_last),
                                            col, o.pitch);
            if (rest.loads)
                x_rest[u] = hy_load_x<T, 1>(rest.x, col, o.rest_pitch).x[0];
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            while (k + u == end)
                flush();
            if (k + u >= to.entries)
                continue;
            rest_sum += a[u] * x_rest[u];
#pragma unroll
            for (int t = 0; t < TILES; t++)
                hy_add_x(sum[t], a[u], x[u][t]);
        }
    }
    while (row < to.rows)
        flush();
#pragma unroll
    for (int t = 0; t < TILES; t++)
        hy_store_vec(carry + column + t * tile, sum[t]);
    if (rest.loads)
        carry[rest.place] = rest_sum;
}

/* What the shares before `share` carry of row `row` of the tile, from `column` on. */
template <typename T, int VEC, int TILES>
static __device__ void add_carried(const merge_tile<T> &m, int row, int share, int tile,
                                   int column, T (&sum)[TILES][VEC])
{
    const T *carry = m.carry + column;
#pragma unroll 2
    for (int s = m.first_share(row); s < share; s++)
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            const T *from = carry + s * m.pass_columns + t * tile;
            hy_add_x(sum[t], T(1), *reinterpret_cast<const hy_vec<T, VEC> *>(from));
        }
}

/* The same of the column that lies apart. */
template <typename T>
static __device__ T carried_rest(const merge_tile<T> &m, int row, int share, int place)
{
    T sum = T(0);
    for (int s = m.first_share(row); s < share; s++)
        sum += m.carry[s * m.pass_columns + place];
    return sum;
}

#endif /* HY_MERGE_WALK_CUH */
