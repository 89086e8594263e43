/* base/text/size_text.h - a number of bytes as people read it. */
#ifndef HY_SIZE_TEXT_H
#define HY_SIZE_TEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hy_size_text {
    char s[24];
} hy_size_text;

/* Returns "37 B", "1.5 MiB" or "11.8 GiB": the largest binary unit of which `bytes` has
   one at least. Below 0 counts as 0. */
hy_size_text hy_size(int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* HY_SIZE_TEXT_H */
