/* base/text/size_text.h - writes a number of bytes for people. */
#ifndef HY_SIZE_TEXT_H
#define HY_SIZE_TEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_size_text {
    char s[24];
} hy_size_text;

/* Returns "37 B", "1.5 MiB" or "11.8 GiB": in the largest unit that `bytes` reaches. A
   negative number counts as 0. */
hy_size_text hy_size(int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* HY_SIZE_TEXT_H */
