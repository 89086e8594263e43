/* base/memory/pages.h - memory by whole pages, and by huge pages where they fit. */
#ifndef HY_PAGES_H
#define HY_PAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_PAGE = 4096, HY_HUGE_PAGE = 2 << 20 };

/* Rounds up to whole pages, or to whole huge pages if `bytes` fill at least one. */
size_t hy_pages_round(size_t bytes);

/* Returns the bytes of the pages that hold the first `bytes` bytes of a mapping of
   `mapped` bytes. The pages are huge if the mapping is as large as one. */
size_t hy_pages_of(size_t mapped, size_t bytes);

/* Maps pages that are not present yet; `bytes` is rounded by hy_pages_round(). Free them
   with munmap(). Returns NULL, with errno set, if the system has no address space
   left. */
char *hy_pages_map(size_t bytes);

/* Maps small pages that are not present yet; `bytes` is a multiple of HY_PAGE. */
char *hy_pages_map_small(size_t bytes);

/* Asks for huge pages in memory whose pages will be made present soon. The system may
   ignore this. */
void hy_pages_wish(void *ptr, size_t bytes);

/* Makes missing pages present without changing their contents, where the system can. */
void hy_pages_touch(void *ptr, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* HY_PAGES_H */
