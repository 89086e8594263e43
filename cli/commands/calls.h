/* cli/commands/calls.h - the wall time of each call of one product (--repeat). */
#ifndef CLI_CALLS_H
#define CLI_CALLS_H

#include <stdint.h>

#include "cli/output/json.h"

/* Wall times of the calls of one product. A zeroed struct has none. */
typedef struct cli_calls {
    double *seconds; /* wall time of each call in seconds, in order */
    int64_t count, capacity;
} cli_calls;

/* Makes room for the times of `capacity` calls. Returns 0, or an exit code after
   printing an error. */
int cli_calls_open(cli_calls *calls, int64_t capacity);
void cli_calls_add(cli_calls *calls, double seconds);
void cli_calls_close(cli_calls *calls);

/* Prints one line for each call on stderr, and one with the least, mean and greatest
   time; prints nothing if there was only one call. */
void cli_calls_print(const cli_calls *calls);

/* Writes the times, in seconds, as the array `key` of a JSON object. */
void cli_calls_json(const cli_calls *calls, cli_json *json, const char *key);

#endif /* CLI_CALLS_H */
