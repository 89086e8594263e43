/* partition/format/columns.c - a set of columns of A, as a bitmap. */
#include "partition/format/columns.h"

#include <string.h>

hybrid_status hy_columns_open(hy_context *ctx, int64_t first, int64_t end,
                              hy_columns *out)
{
    const int64_t groups = end > first ? (end - first + 4095) / 4096 : 0;
    void *array;

    memset(out, 0, sizeof *out);
    out->first  = first;
    out->groups = groups;
    HY_TRY(hy_array(ctx, 65 * groups, 8, "columns of a panel", &array));
    out->used = array;
    out->bits = out->used + groups;
    if (groups > 0)
        memset(array, 0, (size_t)(65 * groups) * 8);
    HY_TRY(hy_array(ctx, 64 * groups, 4, "numbers of columns", &array));
    out->before = array;
    return HYBRID_OK;
}

void hy_columns_close(hy_context *ctx, hy_columns *c)
{
    hy_array_free(ctx, c->used);
    hy_array_free(ctx, c->before);
    memset(c, 0, sizeof *c);
}

static int32_t *list_word(int32_t *list, int64_t first, uint64_t bits)
{
    for (; bits != 0; bits &= bits - 1)
        *list++ = (int32_t)(first + __builtin_ctzll(bits));
    return list;
}

int64_t hy_columns_number(hy_columns *c, int32_t *list)
{
    int64_t count = 0;

    for (int64_t g = 0; g < c->groups; g++)
        for (uint64_t used = c->used[g]; used != 0; used &= used - 1) {
            const int64_t w = g * 64 + __builtin_ctzll(used);
            c->before[w]    = (int32_t)count;
            count += __builtin_popcountll(c->bits[w]);
            if (list)
                list = list_word(list, c->first + w * 64, c->bits[w]);
        }
    return count;
}

void hy_columns_clear(hy_columns *c)
{
    for (int64_t g = 0; g < c->groups; g++) {
        for (uint64_t used = c->used[g]; used != 0; used &= used - 1)
            c->bits[g * 64 + __builtin_ctzll(used)] = 0;
        c->used[g] = 0;
    }
}
