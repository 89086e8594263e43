/* base/threads/loop_people.h - wanted helpers of a parallel loop, and helpers inside it.

   A loop's word `people` holds both counters. The thread that lowers the word to 0 knows
   that the loop is over. */
#ifndef HY_LOOP_PEOPLE_H
#define HY_LOOP_PEOPLE_H

#include "base/threads/pool.h"
#include "base/threads/pool_inside.h"

/* what one wanted helper, and one helper inside the loop, add to `people` */
static const uint64_t WANTED = (uint64_t)1 << 32, INSIDE = 1;

static inline uint64_t people(const hy_loop *l)
{
    return __atomic_load_n(&l->people, __ATOMIC_SEQ_CST);
}

static inline int wants_some(const hy_loop *l)
{
    return people(l) >= WANTED;
}

/* Subtracts from `people` and returns the new value. */
static inline uint64_t subtract(hy_loop *l, uint64_t count)
{
    return __atomic_sub_fetch(&l->people, count, __ATOMIC_SEQ_CST);
}

static inline int has_pieces(const hy_loop *l)
{
    return __atomic_load_n(&l->next, __ATOMIC_SEQ_CST) < l->pieces;
}

/* Moves one helper from wanted to inside. Returns 1 if the loop wants more. The caller
   holds the pool's lock. */
static inline int join_loop(hy_loop *l)
{
    return subtract(l, WANTED - INSIDE) >= WANTED;
}

/* Moves a helper that is called away from inside to wanted, because pieces are left. The
   caller holds the pool's lock. */
static inline void want_another(hy_loop *l)
{
    if (!wants_some(l))
        hy_tasks_push(&l->pool->queues[l->urgency], &l->task);
    subtract(l, INSIDE - WANTED);
}

/* Sets the number of wanted helpers to 0, because no piece is left, and lets `inside`
   helpers leave. Returns the new value of `people`. The caller holds the pool's lock. */
static inline uint64_t leave_loop(hy_loop *l, uint64_t inside, hybrid_status status)
{
    const uint64_t wanted = people(l) / WANTED * WANTED;

    if (l->status == HYBRID_OK)
        l->status = status;
    if (wanted > 0)
        hy_tasks_take_out(&l->pool->queues[l->urgency], &l->task);
    return subtract(l, wanted + inside);
}

#endif /* HY_LOOP_PEOPLE_H */
