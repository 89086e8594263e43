/* base/threads/pool_set.c - sets the bytes of an array, in parallel. */
#include <string.h>

#include "base/threads/pool.h"

enum { SET_BYTES = 256 << 10 }; /* bytes that one worker sets at a time, some 20 us */

typedef struct setting {
    char *array;
    int byte;
} setting;

static hybrid_status set_bytes(void *arg, int part, int64_t begin, int64_t end)
{
    const setting *s = arg;

    (void)part;
    memset(s->array + begin, s->byte, (size_t)(end - begin));
    return HYBRID_OK;
}

hybrid_status hy_pool_set(hy_pool *pool, hy_urgency urgency, void *array, int byte,
                          int64_t bytes)
{
    setting s = {array, byte};

    return hy_pool_for(pool, urgency, 0, bytes, SET_BYTES, set_bytes, &s);
}
