/* base/text/printable.h - replaces characters that would control a terminal. */
#ifndef HY_PRINTABLE_H
#define HY_PRINTABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `from` to `to`, and cuts the copy to `room` bytes with the final 0. Control
   characters (of ASCII, and U+0080 to U+009F) and bytes that are not UTF-8 become \n, \t
   or \xNN. */
void hy_printable(char *to, size_t room, const char *from);

#ifdef __cplusplus
}
#endif
#endif /* HY_PRINTABLE_H */
