/* engine/report/json_put.c - writes JSON, piece by piece, to an open output. */
#include "engine/report/json_put.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static void put_bytes(hy_json *json, const char *text, size_t bytes)
{
    if (json->status == HYBRID_OK)
        json->status = hy_output_write(json->ctx, json->output, text, bytes);
}

void hy_json_put(hy_json *json, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    const int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_bytes(json, text, n > 0 ? (size_t)n : 0);
}

void hy_json_string(hy_json *json, const char *text)
{
    put_bytes(json, "\"", 1);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            hy_json_put(json, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            hy_json_put(json, "\\%c", c);
        else
            put_bytes(json, text, 1);
    }
    put_bytes(json, "\"", 1);
}

void hy_json_real(hy_json *json, const char *key, double value)
{
    if (isfinite(value))
        hy_json_put(json, ",\"%s\":%.9g", key, value);
    else
        hy_json_put(json, ",\"%s\":null", key);
}

void hy_json_int(hy_json *json, const char *key, int64_t value)
{
    hy_json_put(json, ",\"%s\":%lld", key, (long long)value);
}

void hy_json_time(hy_json *json, const char *key, int64_t ns)
{
    hy_json_put(json, ",\"%s\":%lld.%03d", key, (long long)(ns / 1000), (int)(ns % 1000));
}
