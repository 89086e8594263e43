/* base/memory/pages.h - memory by whole pages: huge ones, where there are enough bytes.
   */
#ifndef HY_PAGES_H
#define HY_PAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HY_PAGE = 4096, HY_HUGE_PAGE = 2 << 20 };

/* The next multiple of a page, or of a huge page if so many bytes fill one. */
size_t hy_pages_round(size_t bytes);

/* Bytes of the pages that hold the first `bytes` of a mapping of `mapped` bytes. */
size_t hy_pages_of(size_t mapped, size_t bytes);

/* Untouched pages, to be given to munmap(); `bytes` as rounded. NULL and errno if there
   is no address space. */
char *hy_pages_map(size_t bytes);

/* The same of small pages; `bytes` is a multiple of HY_PAGE. */
char *hy_pages_map_small(size_t bytes);

/* Wish for huge pages in memory that is about to be touched; may come to nothing. */
void hy_pages_wish(void *ptr, size_t bytes);

/* Pages that are not there yet are made now, as by a write that changes nothing, where the
   system can. */
void hy_pages_touch(void *ptr, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* HY_PAGES_H */
