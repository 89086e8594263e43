/* base/data/csr_hash.c - computes a 64-bit hash of a pattern.

   Offsets and columns are cut into blocks. The words of a block are distributed in turn
   to eight hashes (variable `lane`), so that a multiplication need not wait for the
   previous one. Each step is a bijection of its hash, so blocks that differ in one word
   always differ in their hash. The hashes of the blocks, mixed with their positions, are
   summed. Threads may add to the sum in any order. */
#include <string.h>

#include "base/data/csr.h"
#include "base/data/hash_words.h"
#include "base/threads/pool.h"

typedef struct hashing {
    const hybrid_csr *A;
    uint64_t sum; /* sum of the blocks' hashes; atomic */
} hashing;

static uint64_t folded(const uint64_t lane[HY_HASH_LANES], uint64_t seed)
{
    for (int i = 0; i < HY_HASH_LANES; i++)
        seed = hy_hash_mixed(seed, lane[i]);
    return hy_hash_mixed(seed, HY_HASH_ODD);
}

static void add(hashing *h, uint64_t hash)
{
    __atomic_fetch_add(&h->sum, hash, __ATOMIC_RELAXED);
}

/* Adds the hashes of blocks of offsets to the sum. Offsets of 32 and 64 bits give the
   same hash. */
static hybrid_status hash_offsets(void *arg, int part, int64_t begin, int64_t end)
{
    hashing *h                   = arg;
    uint64_t lane[HY_HASH_LANES] = {0};

    (void)part;
    for (int64_t i = begin; i < end; i++)
        lane[i % HY_HASH_LANES] =
            hy_hash_mixed(lane[i % HY_HASH_LANES], (uint64_t)hy_offset(h->A, i));
    add(h, folded(lane, 2 * (uint64_t)begin));
    return HYBRID_OK;
}

/* Adds the hashes of blocks of columns to the sum. A word holds two columns, and at the
   end of the last block one. */
static hybrid_status hash_columns(void *arg, int part, int64_t begin, int64_t end)
{
    hashing *h                   = arg;
    const int32_t *col           = h->A->col;
    uint64_t lane[HY_HASH_LANES] = {0};
    int64_t k                    = begin;

    (void)part;
    for (; k + 2 * HY_HASH_LANES <= end; k += 2 * HY_HASH_LANES) {
        uint64_t word[HY_HASH_LANES];
        memcpy(word, col + k, sizeof word);
        for (int i = 0; i < HY_HASH_LANES; i++)
            lane[i] = hy_hash_mixed(lane[i], word[i]);
    }
    for (; k < end; k++)
        lane[k % HY_HASH_LANES] =
            hy_hash_mixed(lane[k % HY_HASH_LANES], (uint32_t)col[k]);
    add(h, folded(lane, 2 * (uint64_t)begin + 1));
    return HYBRID_OK;
}

hybrid_status hy_csr_hash(hy_context *ctx, const hybrid_csr *A, uint64_t *out)
{
    hashing h = {A, 0};

    HY_TRY(hy_pool_for(ctx->pool, HY_COMPUTE, 0, A->rows + 1, HY_HASH_BLOCK, hash_offsets,
                       &h));
    HY_TRY(
        hy_pool_for(ctx->pool, HY_COMPUTE, 0, A->nnz, HY_HASH_BLOCK, hash_columns, &h));
    *out = h.sum;
    return HYBRID_OK;
}
