/* tests/cli/files/fault.c - a library to preload, which makes a system call fail.

   FAULT_CALLS says which calls count: "commit" (those that make files durable, name or
   remove them) or "write". Call number FAULT_AT, from 1 on, does what FAULT_HOW says:
   "kill" ends the process as a power loss would, "short" writes a part of the bytes, and
   a number is the error of this call and of all later ones. With FAULT_COUNT the number
   of calls is written to that file at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls;

static int wants(const char *kind)
{
    const char *wanted = getenv("FAULT_CALLS");
    return wanted && strcmp(wanted, kind) == 0;
}

/* Counts a call. Returns 1 if the call must fail, with errno, and 2 if it must be
   short. */
static int fault(const char *kind)
{
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW");

    if (!wants(kind))
        return 0;
    const int number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (!at || !how || atoi(at) == 0 || number < atoi(at))
        return 0;
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "short") == 0)
        return number == atoi(at) ? 2 : 0;
    errno = atoi(how);
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd)
{
    return fault("commit") ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    return fault("commit") ? -1 : NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
    return fault("commit") ? -1 : NEXT(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    return fault("commit") ? -1 : NEXT(mkdir)(path, mode);
}

int unlink(const char *path)
{
    return fault("commit") ? -1 : NEXT(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    return fault("commit") ? -1 : NEXT(unlinkat)(folder, path, flags);
}

int rmdir(const char *path)
{
    return fault("commit") ? -1 : NEXT(rmdir)(path);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    const int what = fd > 2 ? fault("write") : 0;

    return what == 1 ? -1 : NEXT(write)(fd, data, what == 2 ? (bytes + 1) / 2 : bytes);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    const int what = fault("write");

    return what == 1 ? -1
                     : NEXT(pwrite)(fd, data, what == 2 ? (bytes + 1) / 2 : bytes, at);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off_t at)
{
    return pwrite(fd, data, bytes, at);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE *file       = path ? fopen(path, "w") : NULL;

    if (file) {
        fprintf(file, "%d\n", calls);
        fclose(file);
    }
}
