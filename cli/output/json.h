/* cli/output/json.h - writes JSON values in order. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdint.h>
#include <stdio.h>

/* Writes a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void cli_json_string(FILE *file, const char *text);

/* A JSON object that is being written, one field per line. */
typedef struct cli_json {
    FILE *file;
    const char *indent;
    int fields;
    int items; /* number of items written so far to the array that is being written */
} cli_json;

void cli_json_begin(cli_json *json, FILE *file, const char *indent);
void cli_json_end(cli_json *json);

/* Writes `"key": `, preceded by the comma and the new line after an earlier field. The
   caller writes the value. */
void cli_json_key(cli_json *json, const char *key);

/* writes null if `value` is NULL */
void cli_json_text(cli_json *json, const char *key, const char *value);
void cli_json_int(cli_json *json, const char *key, int64_t value);
void cli_json_count(cli_json *json, const char *key, uint64_t value);
/* writes null if `value` is not finite */
void cli_json_real(cli_json *json, const char *key, double value);

void cli_json_truth(cli_json *json, const char *key, int truth);

/* Write an array of objects as the value of `key`. Each object begins with
   cli_json_item() and ends with cli_json_end(). cli_json_end_array() ends the array. */
void cli_json_begin_array(cli_json *json, const char *key);
void cli_json_item(cli_json *array, cli_json *item);
void cli_json_end_array(cli_json *json);

#endif /* CLI_JSON_H */
