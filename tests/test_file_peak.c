/* tests/test_file_peak.c - A*X by the program, X in a file of ten times the memory that
   it may use. By the cap of the engine: what is resident at most stays below a tenth of
   X. With the argument "cgroup": in a control group that allows no more, the file's pages
   included, and without any option. That skips unless HYBRID_CGROUP names the folder of a
   group of memory, of version 1 or 2, in which this test may make one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sanitized.h"

enum { SKIP = 77, NOT_RUN = 127, ROOM = 16 /* MiB of code, stacks and what is small */ };
enum {
    X_MIB    = 640,
    PART_MIB = X_MIB / 10,
    COLS     = 1024,
    ROWS     = X_MIB * 1024 / COLS * 128
};

/* ---- operands -----------------------------------------------------------------------
 */

static int store(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* X is zeros, which the disk does not hold; its last element is 3, and A's last entry 2.
 */
static int make_operands(void)
{
    const double three = 3;
    char text[512];
    const int fd = open("x.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int made     = fd >= 0 && pwrite(fd, &three, 8, ((off_t)X_MIB << 20) - 8) == 8;

    made &= fd >= 0 && close(fd) == 0;
    snprintf(text, sizeof text,
             "%%%%MatrixMarket matrix coordinate real general\n2 %d 3\n1 1 1\n1 %d 1\n"
             "2 %d 2\n",
             ROWS, ROWS / 2, ROWS);
    made &= store("A.mtx", text);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": %d, "
                 "\"cols\": %d, \"type\": \"f64\", \"order\": \"%s\", "
                 "\"values\": {\"file\": \"x.bin\"}}",
                 ROWS, COLS, i ? "col" : "row");
        made &= store(i ? "col.json" : "row.json", text);
    }
    return made;
}

/* The last of Y is 6. */
static int is_right(void)
{
    const int fd = open("Y.npy", O_RDONLY);
    double last  = 0;
    struct stat st;

    const int read =
        fd >= 0 && fstat(fd, &st) == 0 && pread(fd, &last, 8, st.st_size - 8) == 8;
    if (fd >= 0)
        close(fd);
    unlink("Y.npy");
    return read && last == 6;
}

/* ---- a control group ----------------------------------------------------------------
 */

static char group[4096]; /* "": none */

static int write_to(const char *file, const char *text)
{
    char path[sizeof group + 64];

    snprintf(path, sizeof path, "%s/%s", group, file);
    const int fd = open(path, O_WRONLY);
    if (fd < 0)
        return 0;
    const ssize_t length = (ssize_t)strlen(text);
    const int written    = write(fd, text, (size_t)length) == length;
    return close(fd) == 0 && written;
}

static int make_group(const char *folder)
{
    char limit[32];

    snprintf(group, sizeof group, "%s/hybrid_file_peak_%d", folder, (int)getpid());
    snprintf(limit, sizeof limit, "%lld", (long long)PART_MIB << 20);
    if (mkdir(group, 0700) != 0)
        return 0;
    return write_to("memory.max", limit) || write_to("memory.limit_in_bytes", limit);
}

/* ---- a run --------------------------------------------------------------------------
 */

static void run_program(const char *x, int in_group)
{
    char pid[32], cap[32];
    const char *program = getenv("HYBRID_SPMM");

    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(cap, sizeof cap, "%dMiB", in_group ? 0 : PART_MIB - ROOM);
    if (in_group && !write_to("cgroup.procs", pid))
        _exit(NOT_RUN);
    if (in_group)
        execl(program, program, "multiply", "A.mtx", x, "-q", "-o", "Y.npy", "--backend",
              "host", "--threads", "2", "--rates=", (char *)NULL);
    else
        execl(program, program, "multiply", "A.mtx", x, "-q", "-o", "Y.npy", "--backend",
              "host", "--threads", "2", "--rates=", "--host-memory", cap, (char *)NULL);
    _exit(NOT_RUN);
}

static int keeps_to(const char *x, int in_group)
{
    struct rusage usage;
    int status        = -1;
    const pid_t child = fork();

    if (child == 0)
        run_program(x, in_group);
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 0;
    const int good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && is_right() &&
                     usage.ru_maxrss <= PART_MIB * 1024L;
    printf("%s%s: status %#x, %.1f MiB resident of an X of %d%s\n", x,
           in_group ? " in a control group" : "", (unsigned)status,
           (double)usage.ru_maxrss / 1024, X_MIB, good ? "" : ": WRONG");
    return good;
}

int main(int argc, char **argv)
{
    const char *parent = getenv("HYBRID_CGROUP");
    const int in_group = argc > 1 && strcmp(argv[1], "cgroup") == 0;
    char folder[]      = "/tmp/hybrid_file_XXXXXX";

    if (in_group && !parent)
        fprintf(stderr, "SKIPPED: HYBRID_CGROUP names no control group to make one in\n");
    if (SANITIZED || !getenv("HYBRID_SPMM") || (in_group && !parent))
        return SKIP;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int good = make_operands() && (!in_group || make_group(parent));
    good     = good && keeps_to("row.json", in_group) && keeps_to("col.json", in_group);
    if (group[0])
        good &= rmdir(group) == 0;
    unlink("x.bin");
    unlink("A.mtx");
    unlink("row.json");
    unlink("col.json");
    return rmdir(folder) != 0 || !good;
}
