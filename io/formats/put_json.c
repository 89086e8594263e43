/* io/formats/put_json.c - appends strings of JSON to a file. */
#include "io/formats/put_json.h"

#include "io/text/json_string.h"

hybrid_status hy_put_json_string(hy_byte_region *to, const char *text)
{
    char escaped[8];

    HY_TRY(hy_byte_region_put(to, "\"", 1));
    for (; *text; text++)
        HY_TRY(hy_byte_region_put(to, escaped, hy_json_string_encode(*text, escaped)));
    return hy_byte_region_put(to, "\"", 1);
}
