/* cli/output/text.c - formats numbers for people. */
#include "cli/output/text.h"

#include <stdio.h>

#include "hybrid_spmm.h"

cli_text cli_count(int64_t n)
{
    char digits[32];
    cli_text out;
    int used         = 0;
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)n);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            out.s[used++] = ' ';
        out.s[used++] = digits[i];
    }
    out.s[used] = '\0';
    return out;
}

cli_text cli_bytes(int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double amount                    = (double)bytes;
    int unit                         = 0;
    cli_text out;

    for (; amount >= 1024 && unit < 5; unit++)
        amount /= 1024;
    snprintf(out.s, sizeof out.s, unit ? "%.1f %s" : "%.0f %s", amount, units[unit]);
    return out;
}

cli_text cli_seconds(double seconds)
{
    cli_text out;

    if (seconds >= 1)
        snprintf(out.s, sizeof out.s, "%.2f s", seconds);
    else if (seconds >= 1e-3)
        snprintf(out.s, sizeof out.s, "%.1f ms", seconds * 1e3);
    else
        snprintf(out.s, sizeof out.s, "%.0f us", seconds * 1e6);
    return out;
}

cli_text cli_clock(double seconds)
{
    const double whole = seconds < 1e9 ? seconds : 1e9;
    const long s       = (long)(whole + 0.5);
    cli_text out;

    if (s >= 3600)
        snprintf(out.s, sizeof out.s, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out.s, sizeof out.s, "%ld:%02ld", s / 60, s % 60);
    return out;
}

cli_text cli_version(void)
{
    const int version = hybrid_version();
    cli_text out;

    snprintf(out.s, sizeof out.s, "%d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return out;
}
