/* engine/rates/rates_blocks.c - the constants of SpMV in blocks in a file of rates. */
#include "engine/rates/rates_blocks.h"

#include <stdio.h>
#include <string.h>

static const char *const formats[HY_BLOCK_FORMATS] = {"bellpack", "bcsr"};
static const char *const constants[] = {"start",      "first",      "next",     "more",
                                        "next_start", "more_start", "registers"};

enum { CONSTANTS = sizeof constants / sizeof *constants };

_Static_assert(HY_BLOCK_LINES ==
                   HY_BLOCK_FORMATS * HY_TYPE_COUNT * HY_BLOCK_SIZES * CONSTANTS,
               "a line for each constant");
_Static_assert(sizeof(hy_block_speed) == CONSTANTS * sizeof(float), "no other fields");

float *hy_block_line(hy_block_speeds *speeds, int line, char key[HY_BLOCK_KEY])
{
    const int constant = line % CONSTANTS;
    const int size     = line / CONSTANTS % HY_BLOCK_SIZES;
    const int type     = line / (CONSTANTS * HY_BLOCK_SIZES) % HY_TYPE_COUNT;
    const int format   = line / (CONSTANTS * HY_BLOCK_SIZES * HY_TYPE_COUNT);
    hy_block_speed *s  = &speeds->of[format][type][0][size];
    float *const of[]  = {&s->start,      &s->first,      &s->next,     &s->more,
                          &s->next_start, &s->more_start, &s->registers};

    snprintf(key, HY_BLOCK_KEY, "blocks.%s.%s.R%d.%s", formats[format],
             hy_value_type_of(hy_type_at(type))->name, 32 << size, constants[constant]);
    return of[constant];
}

float *hy_block_line_named(hy_block_speeds *speeds, const char *key, int length)
{
    static const char beginning[] = "blocks.";
    char name[HY_BLOCK_KEY];

    if (strncmp(key, beginning, sizeof beginning - 1) != 0)
        return NULL;
    for (int line = 0; line < HY_BLOCK_LINES; line++) {
        float *first = hy_block_line(speeds, line, name);
        if (strlen(name) == (size_t)length && memcmp(name, key, (size_t)length) == 0)
            return first;
    }
    return NULL;
}
