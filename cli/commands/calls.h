/* cli/commands/calls.h - the wall time of each call of one product (--repeat). */
#ifndef CLI_CALLS_H
#define CLI_CALLS_H

#include <stdint.h>

#include "cli/output/json.h"

/* Times of calls. A zeroed struct is empty. */
typedef struct cli_calls {
    double *seconds; /* wall time of each call, in order */
    int64_t count, capacity;
} cli_calls;

/* Makes room for the times of `capacity` calls. Returns 0 or an exit code. */
int cli_calls_open(cli_calls *calls, int64_t capacity);
void cli_calls_add(cli_calls *calls, double seconds);
void cli_calls_close(cli_calls *calls);

/* Prints one line per call on stderr, if there is more than one call. */
void cli_calls_print(const cli_calls *calls);

/* Writes the times as an array of seconds. */
void cli_calls_json(const cli_calls *calls, cli_json *json, const char *key);

#endif /* CLI_CALLS_H */
