/* engine/report/json_put.h - writes JSON, piece by piece, to an open output. */
#ifndef HY_JSON_PUT_H
#define HY_JSON_PUT_H

#include "io/text/io.h"

typedef struct hy_json {
    hy_context *ctx;
    hy_output *output;
    hybrid_status status; /* status of the first write that failed, else HYBRID_OK; what
                             is put later is dropped */
} hy_json;

/* Writes formatted text, of fewer than 256 bytes; the caller ensures that. */
HY_PRINTF(2, 3) void hy_json_put(hy_json *json, const char *format, ...);

/* Writes a JSON string of any length. UTF-8 bytes are copied unchanged. */
void hy_json_string(hy_json *json, const char *text);

/* Write `,"key":value` with a string, a number, or a time. A real number that is not
   finite is written as null. A time `ns` in nanoseconds is written in microseconds with
   three decimals. */
void hy_json_real(hy_json *json, const char *key, double value);
void hy_json_int(hy_json *json, const char *key, int64_t value);
void hy_json_time(hy_json *json, const char *key, int64_t ns);

#endif /* HY_JSON_PUT_H */
