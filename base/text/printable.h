/* base/text/printable.h - text that a terminal shows and does not obey. */
#ifndef HY_PRINTABLE_H
#define HY_PRINTABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `from` to `to`, which has room for `room` bytes with the final 0, and cuts the copy
   if there is more. Control characters (of ASCII, and U+0080 to U+009F) and bytes that are
   not UTF-8 become \n, \t or \xNN. */
void hy_printable(char *to, size_t room, const char *from);

#ifdef __cplusplus
}
#endif
#endif /* HY_PRINTABLE_H */
