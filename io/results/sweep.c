/* io/results/sweep.c - removes folders of panels (files of rows of a result) that killed
   processes have left. */
#include "io/results/sweep.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the manifest of the folder, locked, or -1 if a process holds the lock or has
   not written the manifest yet. */
static int lock_manifest(int folder)
{
    struct stat st;
    const int fd = openat(folder, "manifest", O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Removes the files in the folder. The manifest is the last one, so that a process that
   is killed meanwhile leaves a folder that a later sweep finds. Closes `folder`. */
static void remove_files(int folder)
{
    DIR *files = fdopendir(folder);
    const struct dirent *entry;

    if (!files) {
        close(folder);
        return;
    }
    while ((entry = readdir(files)))
        if (strncmp(entry->d_name, "panel-", 6) == 0)
            unlinkat(folder, entry->d_name, 0);
    unlinkat(folder, "manifest", 0);
    closedir(files);
}

static void sweep_one(int parent, const char *name)
{
    const int folder =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int manifest = folder < 0 ? -1 : lock_manifest(folder);

    if (manifest < 0) {
        if (folder >= 0)
            close(folder);
        return;
    }
    remove_files(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
    close(manifest);
}

void hy_sweep(const char *folder)
{
    const size_t length = strlen(HY_PANELS_PREFIX);
    DIR *entries        = opendir(folder);
    const struct dirent *entry;

    while (entries && (entry = readdir(entries)))
        if (strncmp(entry->d_name, HY_PANELS_PREFIX, length) == 0 &&
            strlen(entry->d_name) == length + 6)
            sweep_one(dirfd(entries), entry->d_name);
    if (entries)
        closedir(entries);
}
