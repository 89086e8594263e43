/* host/turn.c - columns of a dense matrix as rows, some rows after others. */
#include "host/turn.h"

#include "base/extremes.h"

enum {
    TILE_ROWS = 16,     /* a line or two of the caches in each column */
    GRAIN     = 1 << 10 /* rows that one worker takes at a time */
};

typedef struct turning {
    const void *from;
    void *to;
    int64_t ld, rows, cols;
} turning;

#define TURN(T)                                                                          \
    static void turn_tile_##T(const turning *t, int64_t begin, int64_t end)              \
    {                                                                                    \
        for (int64_t j = 0; j < t->cols; j++) {                                          \
            const T *from = (const T *)t->from + j * t->ld;                              \
            T *to         = (T *)t->to + j;                                              \
            for (int64_t i = begin; i < end; i++)                                        \
                to[i * t->cols] = from[i];                                               \
        }                                                                                \
    }                                                                                    \
    static hybrid_status turn_##T(void *arg, int part, int64_t begin, int64_t end)       \
    {                                                                                    \
        (void)part;                                                                      \
        for (int64_t i = begin; i < end; i += TILE_ROWS)                                 \
            turn_tile_##T(arg, i, hy_lesser(i + TILE_ROWS, end));                        \
        return HYBRID_OK;                                                                \
    }

TURN(float)
TURN(double)

hybrid_status hy_turn_to_rows(hy_pool *pool, hybrid_type type, const void *from,
                              int64_t ld, int64_t rows, int64_t cols, void *to)
{
    turning t = {from, to, ld, rows, cols};

    return hy_pool_for(pool, HY_COMPUTE, 0, rows, GRAIN,
                       type == HYBRID_F64 ? turn_double : turn_float, &t);
}
