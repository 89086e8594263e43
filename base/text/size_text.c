/* base/text/size_text.c - writes a number of bytes for people. */
#include "base/text/size_text.h"

#include <stdio.h>

hy_size_text hy_size(int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double amount                    = bytes > 0 ? (double)bytes : 0;
    hy_size_text text;
    int unit = 0;

    /* 1023.95 and more would be printed as 1024.0 */
    for (; amount >= (unit > 0 ? 1023.95 : 1024) && unit < 6; unit++)
        amount /= 1024;
    snprintf(text.s, sizeof text.s, unit > 0 ? "%.1f %s" : "%.0f %s", amount,
             units[unit]);
    return text;
}
