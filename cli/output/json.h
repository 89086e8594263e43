/* cli/output/json.h - writing one JSON value after another. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdint.h>
#include <stdio.h>

/* With quotes; what is not UTF-8 becomes U+FFFD. */
void cli_json_string(FILE *file, const char *text);

/* One object, a field a line. */
typedef struct cli_json {
    FILE *file;
    const char *indent;
    int fields;
    int items; /* of the array at hand, so far */
} cli_json;

void cli_json_begin(cli_json *json, FILE *file, const char *indent);
void cli_json_end(cli_json *json);

/* "key": and what goes before it; the value is up to the caller. */
void cli_json_key(cli_json *json, const char *key);

void cli_json_text(cli_json *json, const char *key, const char *value); /* NULL: null */
void cli_json_int(cli_json *json, const char *key, int64_t value);
void cli_json_count(cli_json *json, const char *key, uint64_t value);
void cli_json_real(cli_json *json, const char *key, double value); /* not finite: null */

void cli_json_truth(cli_json *json, const char *key, int truth);

/* The value of `key` is an array of objects: each begins with cli_json_item() and ends with
   cli_json_end(). The array ends with cli_json_end_array(). */
void cli_json_begin_array(cli_json *json, const char *key);
void cli_json_item(cli_json *array, cli_json *item);
void cli_json_end_array(cli_json *json);

#endif /* CLI_JSON_H */
