/* cli/trace/reader.h - reads JSON text (RFC 8259) value by value, without allocating.

   The caller asks for the values that it expects, in their order. The first fault is kept
   with its place. After a fault every function returns 0 and reads nothing, so that the
   caller checks for a fault once, at the end. */
#ifndef CLI_READER_H
#define CLI_READER_H

#include <stddef.h>
#include <stdint.h>

/* The bytes between the quotes of a string, with escape sequences as they stand in the
   file. */
typedef struct cli_slice {
    const char *text;
    size_t length;
} cli_slice;

typedef struct cli_reader {
    const char *text, *end; /* the whole text, [text, end); *end is 0 */
    const char *at;         /* next byte to read */
    char last;              /* first character of the last token: '{', '[', ',' or
                               another one */
    const char *fault;      /* clause that says what was expected where the text is
                               wrong; NULL: no fault so far */
} cli_reader;

/* Begins to read a text of `bytes` bytes, which a 0 must follow. */
cli_reader cli_reader_open(const char *text, size_t bytes);

/* Records a fault at the next value, unless one was recorded before. `fault` is a clause
   that says what is expected there. Returns 0. */
int cli_reader_fail(cli_reader *r, const char *fault);

/* Read the bracket that begins an object or an array. Return 0 after a fault. */
int cli_read_object(cli_reader *r);
int cli_read_array(cli_reader *r);

/* cli_read_member() reads the name of the object's next member; cli_read_element() reads
   the comma before the array's next element. Both return 1; 0 behind the last one, after
   reading the closing bracket, and 0 after a fault. */
int cli_read_member(cli_reader *r, cli_slice *name);
int cli_read_element(cli_reader *r);

/* Read a value of this kind. Return 0 after a fault. */
int cli_read_number(cli_reader *r, double *out);
int cli_read_string(cli_reader *r, cli_slice *out);
int cli_read_any(cli_reader *r); /* a value of any kind, which is checked and dropped */

/* Returns 1 if nothing but white space is left of the text; else records a fault and
   returns 0. */
int cli_read_end(cli_reader *r);

/* Sets *line and *column to the place of the fault, both counted from 1; columns are
   bytes. */
void cli_reader_place(const cli_reader *r, int64_t *line, int64_t *column);

/* Returns 1 if the slice has exactly the bytes of `text`. */
int cli_slice_is(cli_slice slice, const char *text);

/* Copies the slice to `to`, at most `room` bytes with the final 0. Escapes are resolved;
   a character beyond U+FFFF that is escaped becomes two '?'. A longer text is
   truncated. */
void cli_slice_copy(cli_slice slice, char *to, size_t room);

#endif /* CLI_READER_H */
