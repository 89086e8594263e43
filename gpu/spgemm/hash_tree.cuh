/* gpu/spgemm/hash_tree.cuh - rows of medium length: a tree of bitmaps gives the position
   of each column in the row.

   A node is a word with a bit for each child that exists, and `before`, the number of its
   first child. The top level covers the row's range of columns, 32^levels columns for
   each node. A child of the last level is an entry of C. Children are numbered by a scan
   of bit counts, which numbers the entries in ascending order of columns:

       sweep 1: set bits of level 1, number; sweep 2: set bits of level 2, ...
       last sweep: add each product to the entry that its column leads to

   Nodes fill the front of the row's shared memory, and entries the rest. Warps add one
   entry of A after another, so sums are the same on every run. Blocks add with atomics,
   in any order. */
#ifndef HY_HASH_TREE_CUH
#define HY_HASH_TREE_CUH

#include "gpu/spgemm/hash_walk.cuh"

struct alignas(8) hash_node {
    unsigned bits, before;
};

/* The tree of a row of C, in shared memory. LEVELS is 0 for trees with more than three
   levels, which have no specialised code. */
template <int LEVELS> struct hash_tree {
    hash_node *node;
    int low, room; /* low: first column of the row; room: bytes of shared memory for tree
                      and entries */
    int many;      /* number of levels of the tree; used only if LEVELS is 0 */

    __device__ int levels() const
    {
        return LEVELS > 0 ? LEVELS : many;
    }
    /* Returns the index of the node of level `level` that covers column low + at; the top
       level has number levels(), the last one number 1, and level 0 stands for
       entries. */
    __device__ int find(unsigned at, int level) const
    {
        int n = int(at >> (5 * levels()));
#pragma unroll
        for (int l = levels() - 1; l >= level; l--) {
            const hash_node own = node[n];
            n = int(own.before) + __popc(own.bits & hy_below(at >> (5 * l) & 31));
        }
        return n;
    }
};

/* Sets `before` of nodes [begin, end): their children get numbers from `first` on.
   Returns the number of children. A thread takes HY_HASH_EACH neighbouring nodes at a
   time. */
template <int THREADS>
__device__ int number_children(hash_node *node, int begin, int end, int first)
{
    constexpr int EACH = HY_HASH_EACH;
    int total          = 0;
    for (int i = begin; i < end; i += THREADS * EACH) {
        const int own = i + int(threadIdx.x) % THREADS * EACH;
        int children[EACH], mine = 0, sum;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            children[j] = own + j < end ? __popc(node[own + j].bits) : 0;
            mine += children[j];
        }
        int before = first + total + team_scan<THREADS>(mine, &sum);
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            if (own + j < end)
                node[own + j].before = unsigned(before);
            before += children[j];
        }
        total += sum;
    }
    return total;
}

/* Builds the tree of a row. Sets *nodes to the number of nodes and returns the number of
   entries. Returns -1 if nodes and entries do not fit tree.room bytes. `before` is
   scratch of walk_row(). */
template <int THREADS, int LEVELS, typename T>
__device__ int build_tree(const hy_hash<T> &h, int row, const hash_walk &w, int *before,
                          const hash_tree<LEVELS> &tree, int *nodes)
{
    int begin = 0;
    int total = int(unsigned(h.range[row].y - tree.low) >> (5 * tree.levels())) + 1;

#pragma unroll
    for (int level = tree.levels(); level > 0; level--) {
        const int end = begin + total;
        if (int64_t(end) * int(sizeof(hash_node)) > tree.room)
            return -1;
        for (int n = begin + threadIdx.x % THREADS; n < end; n += THREADS)
            tree.node[n].bits = 0;
        team_sync<THREADS>();
        walk_row<false, THREADS>(h, row, w, before, [&](int32_t col, T) {
            if (col < 0)
                return;
            const unsigned at  = unsigned(col - tree.low);
            unsigned *bits     = &tree.node[tree.find(at, level)].bits;
            const unsigned own = 1u << (at >> (5 * (level - 1)) & 31);
            /* reads the bit first, which is cheaper than setting it again */
            if (!(*(volatile unsigned *)bits & own))
                atomicOr(bits, own);
        });
        team_sync<THREADS>();
        total = number_children<THREADS>(tree.node, begin, end, level > 1 ? end : 0);
        team_sync<THREADS>();
        begin = end;
    }
    *nodes             = begin;
    const int64_t used = int64_t(begin) * int(sizeof(hash_node)) +
                         int64_t(total) * int(sizeof(T) + sizeof(int32_t));
    return used <= tree.room ? total : -1;
}

/* Adds the scalar products of a row to its entries. */
template <int THREADS, int LEVELS, typename T>
__device__ void add_products(const hy_hash<T> &h, int row, const hash_walk &w,
                             int *before, const hash_tree<LEVELS> &tree, T *val,
                             int32_t *own_col)
{
    walk_row<true, THREADS>(h, row, w, before, [&](int32_t col, T product) {
        int at = 0;
        if (col >= 0) {
            at          = tree.find(unsigned(col - tree.low), 0);
            own_col[at] = col;
        }
        if constexpr (THREADS > 32) {
            if (col >= 0)
                atomicAdd(&val[at], product);
        } else {
            add_in_order(val, at, product, col >= 0, w.shift);
        }
    });
}

/* Computes a row of C in its shared memory, and stores it if h.col has room. Returns
   false if tree and entries of the row do not fit the shared memory. */
template <int THREADS, int LEVELS, typename T>
__device__ bool tree_row(const hy_hash<T> &h, int row, int *before,
                         const hash_tree<LEVELS> &tree)
{
    const int lane    = threadIdx.x % THREADS;
    const hash_walk w = walk_of<THREADS>(
        h.row_products[row], int(h.a_row[row + 1] - h.a_row[row]), h.longest[row]);
    int nodes       = 0;
    const int count = build_tree<THREADS>(h, row, w, before, tree, &nodes);
    if (count < 0)
        return false;
    T *val       = reinterpret_cast<T *>(tree.node + nodes);
    int32_t *col = reinterpret_cast<int32_t *>(val + count);
    int place    = 0; /* of lane 0, for which the row's place comes while products are
                         added */
    if (lane == 0 && h.late)
        place = hy_hash_reserve(h, count);
    for (int e = lane; e < count; e += THREADS)
        val[e] = 0;
    team_sync<THREADS>();
    add_products<THREADS>(h, row, w, before, tree, val, col);
    if (lane == 0 && h.late)
        h.place[row] = place;
    team_sync<THREADS>();
    place = h.place[row];
    if (lane == 0)
        h.count[row] = count;
    if (hy_hash_holds(h, place, count))
        for (int e = lane; e < count; e += THREADS) {
            h.col[place + e] = col[e];
            h.val[place + e] = val[e];
        }
    return true;
}

template <int THREADS, typename T>
__device__ bool any_tree(const hy_hash<T> &h, int row, int *before, hash_node *node,
                         int room)
{
    const int2 range = h.range[row];
    const int levels = hy_hash_levels(unsigned(range.y - range.x), h.row_products[row]);
    if (levels == 1)
        return tree_row<THREADS>(h, row, before, hash_tree<1>{node, range.x, room, 1});
    if (levels == 2)
        return tree_row<THREADS>(h, row, before, hash_tree<2>{node, range.x, room, 2});
    if (levels == 3)
        return tree_row<THREADS>(h, row, before, hash_tree<3>{node, range.x, room, 3});
    return tree_row<THREADS>(h, row, before, hash_tree<0>{node, range.x, room, levels});
}

/* Computes the rows of a bin. A team of THREADS threads, a warp (32) or a whole block,
   takes one row at a time. */
template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS == 32 ? HY_CUDA_THREADS : THREADS,
                                  HY_HASH_SM_THREADS /
                                      (THREADS == 32 ? HY_CUDA_THREADS : THREADS))
    hash_tree_rows(hy_hash<T> h, int bin)
{
    extern __shared__ hash_node hash_shared[];
    __shared__ int next, before[THREADS]; /* next: the row that the block takes; before:
                                             scratch of walk_row(), unused by warps */
    const int teams = blockDim.x / THREADS, team = threadIdx.x / THREADS;
    const int lane   = threadIdx.x % THREADS;
    const int room   = h.room[bin - HY_HASH_SORTS];
    const int listed = h.counts->listed[bin];
    hash_node *node  = hash_shared + size_t(team) * room / sizeof(hash_node);

    for (int i = blockIdx.x * teams + team;; i += gridDim.x * teams) {
        if (THREADS > 32) { /* the time of a row varies, so a block that is free takes the
                               next row */
            __syncthreads();
            if (threadIdx.x == 0)
                next = atomicAdd(&h.counts->taken[bin], 1);
            __syncthreads();
            i = next;
        }
        if (i >= listed)
            break;
        const int row = h.list[bin][i];
        if (!any_tree<THREADS>(h, row, before, node, room) && lane == 0)
            hy_hash_pass_on(h, bin, row);
        team_sync<THREADS>(); /* all threads of the team have read this row before the
                                 next one overwrites it */
    }
}

#endif /* HY_HASH_TREE_CUH */
