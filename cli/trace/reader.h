/* cli/trace/reader.h - reads JSON text (RFC 8259) value by value, without allocating.

   The caller asks for the values that it expects, in their order. The first fault is kept
   with its place. After a fault every function returns 0 and reads nothing, so that the
   caller checks for a fault once, at the end. */
#ifndef CLI_READER_H
#define CLI_READER_H

#include <stddef.h>
#include <stdint.h>

/* Text between the quotes of a string, with escapes as they stand in the file. */
typedef struct cli_slice {
    const char *text;
    size_t length;
} cli_slice;

typedef struct cli_reader {
    const char *text, *end; /* the whole text; *end is 0 */
    const char *at;         /* next byte to read */
    char last;              /* the last token: '{', '[', ',' or another character */
    const char *fault;      /* what was expected, as a clause; NULL without a fault */
} cli_reader;

/* Begins to read `bytes` bytes, which a 0 follows. */
cli_reader cli_reader_open(const char *text, size_t bytes);

/* Records a fault at the next value if there is none yet. Returns 0. */
int cli_reader_fail(cli_reader *r, const char *fault);

/* Begin an object or an array. */
int cli_read_object(cli_reader *r);
int cli_read_array(cli_reader *r);

/* Read the name of the object's next member, or the separator before the array's next
   element. Return 0 at the end of the object or the array, which is then read too. */
int cli_read_member(cli_reader *r, cli_slice *name);
int cli_read_element(cli_reader *r);

/* Read a value. */
int cli_read_number(cli_reader *r, double *out);
int cli_read_string(cli_reader *r, cli_slice *out);
int cli_read_any(cli_reader *r); /* a value of any kind, which is checked and dropped */

/* Checks that nothing but white space is left. */
int cli_read_end(cli_reader *r);

/* Returns the line and the column of the fault, counted from 1 in lines and bytes. */
void cli_reader_place(const cli_reader *r, int64_t *line, int64_t *column);

/* Returns 1 if the slice has exactly the bytes of `text`. */
int cli_slice_is(cli_slice slice, const char *text);

/* Copies the slice to `to`, at most `room` bytes with the final 0. Escapes are resolved;
   a character beyond U+FFFF that is escaped becomes two '?'. A longer text is
   truncated. */
void cli_slice_copy(cli_slice slice, char *to, size_t room);

#endif /* CLI_READER_H */
