/* io/formats/put_json.h - appends strings of JSON to a file. */
#ifndef HY_PUT_JSON_H
#define HY_PUT_JSON_H

#include "io/formats/byte_file.h"

/* Appends the text between double quotes, with the escapes that JSON requires. */
hybrid_status hy_put_json_string(hy_byte_region *to, const char *text);

#endif /* HY_PUT_JSON_H */
