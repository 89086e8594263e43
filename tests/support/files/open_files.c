/* tests/support/files/open_files.c - counts the files that this process has open. */
#include "support/files/open_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>

int count_open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count   = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}
