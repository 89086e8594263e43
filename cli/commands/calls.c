/* cli/commands/calls.c - the wall time of each call of one product. */
#include "cli/commands/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output/say.h"
#include "cli/output/text.h"

int cli_calls_open(cli_calls *calls, int64_t capacity)
{
    calls->seconds = calloc((size_t)capacity, sizeof *calls->seconds);
    if (!calls->seconds)
        return cli_fail(
            CLI_MEMORY,
            "cannot allocate memory for the times of %lld runs; lower --repeat",
            (long long)capacity);
    calls->capacity = capacity;
    return CLI_DONE;
}

void cli_calls_add(cli_calls *calls, double seconds)
{
    if (calls->count < calls->capacity)
        calls->seconds[calls->count++] = seconds;
}

void cli_calls_close(cli_calls *calls)
{
    free(calls->seconds);
    *calls = (cli_calls){0};
}

void cli_calls_print(const cli_calls *calls)
{
    double least = INFINITY, most = 0, sum = 0;

    for (int64_t i = 0; i < calls->count && calls->count > 1; i++) {
        const double s = calls->seconds[i];
        fprintf(stderr, "  call %-3lld %s\n", (long long)i + 1, cli_seconds(s).s);
        least = fmin(least, s);
        most  = fmax(most, s);
        sum += s;
    }
    if (calls->count > 1)
        fprintf(stderr, "  calls    least %s, mean %s, most %s\n", cli_seconds(least).s,
                cli_seconds(sum / (double)calls->count).s, cli_seconds(most).s);
}

void cli_calls_json(const cli_calls *calls, cli_json *json, const char *key)
{
    cli_json_key(json, key);
    fputc('[', json->file);
    for (int64_t i = 0; i < calls->count; i++)
        fprintf(json->file, "%s%.9g", i > 0 ? ", " : "", calls->seconds[i]);
    fputc(']', json->file);
}
