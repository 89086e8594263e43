/* cli/output/json.c - writes JSON values in order. */
#include "cli/output/json.h"

#include <math.h>

#include "cli/output/utf8.h"

void cli_json_string(FILE *file, const char *text)
{
    const char *p = text;

    fputc('"', file);
    while (*p) {
        const int length = cli_utf8_length(p);
        if (length == 0)
            fputs("\\ufffd", file);
        else if ((unsigned char)*p < 0x20 || *p == 0x7f)
            fprintf(file, "\\u%04x", (unsigned)*p);
        else if (*p == '"' || *p == '\\')
            fprintf(file, "\\%c", *p);
        else
            fwrite(p, 1, (size_t)length, file);
        p += length > 0 ? length : 1;
    }
    fputc('"', file);
}

void cli_json_begin(cli_json *json, FILE *file, const char *indent)
{
    *json = (cli_json){file, indent, 0};
    fputc('{', file);
}

void cli_json_end(cli_json *json)
{
    fprintf(json->file, "\n%s}", json->indent);
}

void cli_json_key(cli_json *json, const char *key)
{
    fprintf(json->file, "%s\n%s  ", json->fields++ ? "," : "", json->indent);
    cli_json_string(json->file, key);
    fputs(": ", json->file);
}

void cli_json_text(cli_json *json, const char *key, const char *value)
{
    cli_json_key(json, key);
    if (value)
        cli_json_string(json->file, value);
    else
        fputs("null", json->file);
}

void cli_json_int(cli_json *json, const char *key, int64_t value)
{
    cli_json_key(json, key);
    fprintf(json->file, "%lld", (long long)value);
}

void cli_json_count(cli_json *json, const char *key, uint64_t value)
{
    cli_json_key(json, key);
    fprintf(json->file, "%llu", (unsigned long long)value);
}

void cli_json_real(cli_json *json, const char *key, double value)
{
    cli_json_key(json, key);
    if (isfinite(value))
        fprintf(json->file, "%.9g", value);
    else
        fputs("null", json->file);
}

void cli_json_truth(cli_json *json, const char *key, int truth)
{
    cli_json_key(json, key);
    fputs(truth ? "true" : "false", json->file);
}

void cli_json_begin_array(cli_json *json, const char *key)
{
    cli_json_key(json, key);
    fputc('[', json->file);
    json->items = 0;
}

void cli_json_item(cli_json *array, cli_json *item)
{
    fputs(array->items++ > 0 ? ", " : "", array->file);
    cli_json_begin(item, array->file, "  ");
}

void cli_json_end_array(cli_json *json)
{
    fputc(']', json->file);
}
