/* base/memory/pages.c - maps whole pages and makes them present. */
#include "base/memory/pages.h"

#include <stdint.h>
#include <sys/mman.h>

size_t hy_pages_of(size_t mapped, size_t bytes)
{
    const size_t unit = mapped >= HY_HUGE_PAGE ? HY_HUGE_PAGE : HY_PAGE;
    return (bytes + unit - 1) / unit * unit;
}

size_t hy_pages_round(size_t bytes)
{
    return hy_pages_of(bytes, bytes);
}

char *hy_pages_map_small(size_t bytes)
{
    void *ptr =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

/* A large mapping must start at a huge page. The function maps up to one huge page more
   and unmaps both ends. */
char *hy_pages_map(size_t bytes)
{
    const size_t slack = bytes >= HY_HUGE_PAGE ? HY_HUGE_PAGE : 0;
    const int flags    = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

    char *ptr = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (ptr == MAP_FAILED)
        return NULL;
    if (slack == 0)
        return ptr;
    const size_t before = (HY_HUGE_PAGE - (uintptr_t)ptr % HY_HUGE_PAGE) % HY_HUGE_PAGE;
    if (before > 0)
        munmap(ptr, before);
    if (slack > before)
        munmap(ptr + before + bytes, slack - before);
    hy_pages_wish(ptr + before, bytes);
    return ptr + before;
}

void hy_pages_wish(void *ptr, size_t bytes)
{
    const size_t gap = (HY_PAGE - (uintptr_t)ptr % HY_PAGE) % HY_PAGE;

    if (bytes >= gap + HY_HUGE_PAGE) /* an error is ignored, because small pages work as
                                        well */
        madvise((char *)ptr + gap, bytes - gap, MADV_HUGEPAGE);
}

void hy_pages_touch(void *ptr, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    const size_t into = (uintptr_t)ptr % HY_PAGE;
    madvise((char *)ptr - into, into + bytes, MADV_POPULATE_WRITE);
#else
    (void)ptr, (void)bytes;
#endif
}
