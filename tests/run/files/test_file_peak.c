/* tests/run/files/test_file_peak.c - memory of the program for files of ten times its
   cap.

   The program multiplies an A, a B or an X in a file. Without argument the cap is
   --host-memory: the peak resident memory, including 16 MiB for code and stacks, must
   stay below a tenth of the file.

   With the argument "cgroup" the cap is a control group's, which counts pages of the file
   too, and the program gets no option. The group is made within HYBRID_CGROUP or the
   group of this process, version 2 or 1. If none can be made, the test is skipped. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/products/sanitized.h"

enum { SKIP = 77, NOT_RUN = 127, ROOM = 16 /* MiB of code, stacks and small objects */ };
enum {
    MIB      = 640, /* size of each file in MiB */
    PART_MIB = MIB / 10,
    X_COLS   = 1024,
    X_ROWS   = MIB * 1024 / X_COLS * 128,
    ENTRIES  = 256, /* entries per row of the sparse matrix: columns i % ENTRIES + [0,
                       ENTRIES) */
    COLS     = 2 * ENTRIES - 1,
    ROWS     = (int)(((int64_t)MIB << 20) / (ENTRIES * 12 + 8) / ENTRIES * ENTRIES),
    FEW_ROWS = 64 /* rows of the left operand: each needs 1/FEW_ROWS of the sparse
                     matrix's rows */
};

/* ---- operands ---- */

static int store(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Makes the file of X, of zeros that take no disk space and a last element 3, and an A
   whose last entry is 2. */
static int make_dense(void)
{
    const double three = 3;
    char text[512];
    const int fd = open("x.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int made     = fd >= 0 && pwrite(fd, &three, 8, ((off_t)MIB << 20) - 8) == 8;

    made &= fd >= 0 && close(fd) == 0;
    snprintf(text, sizeof text,
             "%%%%MatrixMarket matrix coordinate real general\n2 %d 3\n1 1 1\n1 %d 1\n"
             "2 %d 2\n",
             X_ROWS, X_ROWS / 2, X_ROWS);
    made &= store("A.mtx", text);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "{\"format\": \"hybrid-dense\", \"version\": 1, \"rows\": %d, "
                 "\"cols\": %d, \"type\": \"f64\", \"order\": \"%s\", "
                 "\"values\": {\"file\": \"x.bin\"}}",
                 X_ROWS, X_COLS, i ? "col" : "row");
        made &= store(i ? "col.json" : "row.json", text);
    }
    return made;
}

/* Writes offsets, columns and values. Values are zeros except for the last, which is 3.
   The pages leave the page cache, so that the process that reads them is charged for
   them. */
static int write_sparse(int fd)
{
    const double three = 3;
    const off_t cols = ((off_t)ROWS + 1) * 8, values = cols + (off_t)ROWS * ENTRIES * 4;
    int32_t row[ENTRIES];
    int good   = 1;
    FILE *file = fdopen(fd, "w");

    if (!file)
        return 0;
    for (int64_t i = 0; i <= ROWS; i++) {
        const int64_t offset = i * ENTRIES;
        good &= fwrite(&offset, 8, 1, file) == 1;
    }
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < ENTRIES; k++)
            row[k] = i % ENTRIES + k;
        good &= fwrite(row, sizeof row, 1, file) == 1;
    }
    good &= fflush(file) == 0;
    good &= pwrite(fd, &three, 8, values + (off_t)ROWS * ENTRIES * 8 - 8) == 8;
    good &= fsync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    return fclose(file) == 0 && good;
}

/* Makes a left operand with few rows and a right operand with one column (sparse and
   dense); the last entry of each is 2. */
static int make_sparse(void)
{
    const int fd = open("a.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char text[512];
    int made = fd >= 0 && write_sparse(fd);

    snprintf(text, sizeof text,
             "{\"format\": \"hybrid-csr\", \"version\": 1, \"rows\": %d, \"cols\": %d, "
             "\"nnz\": %lld, \"type\": \"f64\", "
             "\"row_ptr\": {\"file\": \"a.bin\", \"type\": \"i64\"}, "
             "\"col\": {\"file\": \"a.bin\", \"offset\": %lld, \"type\": \"i32\"}, "
             "\"values\": {\"file\": \"a.bin\", \"offset\": %lld}}",
             ROWS, COLS, (long long)ROWS * ENTRIES, ((long long)ROWS + 1) * 8,
             ((long long)ROWS + 1) * 8 + (long long)ROWS * ENTRIES * 4);
    made &= store("a.json", text);
    snprintf(text, sizeof text,
             "%%%%MatrixMarket matrix coordinate real general\n%d 1 1\n%d 1 2\n", COLS,
             COLS);
    made &= store("column.mtx", text);
    FILE *file = fopen("dense.mtx", "w"), *few = fopen("few.mtx", "w");
    if (!file || !few)
        return 0;
    fprintf(file, "%%%%MatrixMarket matrix array real general\n%d 1\n", COLS);
    for (int i = 1; i <= COLS; i++)
        fprintf(file, "%d\n", i == COLS ? 2 : 0);
    fprintf(few, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", FEW_ROWS,
            ROWS, ROWS);
    for (int64_t j = 1; j <= ROWS; j++)
        fprintf(few, "%lld %lld %d\n", (long long)((j - 1) * FEW_ROWS / ROWS + 1),
                (long long)j, j == ROWS ? 2 : 1);
    return fclose(file) == 0 && fclose(few) == 0 && made;
}

static const char *const files[] = {"x.bin",      "A.mtx",     "row.json",
                                    "col.json",   "a.bin",     "a.json",
                                    "column.mtx", "dense.mtx", "few.mtx"};

/* Returns 1 if the last element of the result, in a binary or text file, is 6. */
static int is_right(const char *name)
{
    const int fd = open(name, O_RDONLY);
    char end[65] = "";
    double last  = 0;
    struct stat st;

    int read = fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= 64 &&
               pread(fd, end, 64, st.st_size - 64) == 64;
    if (fd >= 0)
        close(fd);
    unlink(name);
    memcpy(&last, end + 56, 8);
    if (strcmp(name, "C.mtx") == 0)
        last = strrchr(end, ' ') ? strtod(strrchr(end, ' '), NULL) : 0;
    return read && last == 6;
}

/* ---- a control group ---- */

static char group[4096]; /* path of the control group that was made; "": none */

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

/* Makes a control group within the group `folder`. */
static int make_group_in(const char *folder)
{
    char limit[32];

    snprintf(group, sizeof group, "%.4000s/hybrid_file_peak_%d", folder, (int)getpid());
    snprintf(limit, sizeof limit, "%lld", (long long)PART_MIB << 20);
    if (mkdir(group, 0700) == 0) {
        if (write_to("memory.max", limit) || write_to("memory.limit_in_bytes", limit))
            return 1;
        rmdir(group);
    }
    group[0] = '\0';
    return 0;
}

/* Makes a group within that of a line of /proc/self/cgroup: "0::/group" (version 2) or
   "4:memory:/group" (version 1). */
static int make_group_of(char *line)
{
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char folder[4096];
    char *controllers = strchr(line, ':');
    char *path        = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return 0;
    path[strcspn(path, "\n")] = '\0';
    *path++                   = '\0';
    for (int i = 0; i < 2 && controllers[1] == '\0'; i++) {
        snprintf(folder, sizeof folder, "%s%s", mounts[i], path);
        if (make_group_in(folder))
            return 1;
    }
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/memory%s", path);
    return strcmp(controllers + 1, "memory") == 0 && make_group_in(folder);
}

static int make_group(void)
{
    const char *parent = getenv("HYBRID_CGROUP");
    char line[2048];
    int made = 0;

    if (parent)
        return make_group_in(parent);
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && !made && fgets(line, sizeof line, file))
        made = make_group_of(line);
    if (file)
        fclose(file);
    return made;
}

/* ---- a run ---- */

typedef struct trial {
    const char *A, *B, *result;
} trial;

static const trial trials[] = {{"A.mtx", "row.json", "Y.npy"},
                               {"A.mtx", "col.json", "Y.npy"},
                               {"a.json", "dense.mtx", "Y.npy"},
                               {"a.json", "column.mtx", "C.mtx"},
                               {"few.mtx", "a.json", "C.mtx"}};

static void run_program(const trial *t)
{
    char pid[32], cap[32];
    const char *program = getenv("HYBRID_SPMM");

    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(cap, sizeof cap, "%dMiB", group[0] ? 0 : PART_MIB - ROOM);
    if (group[0] && !write_to("cgroup.procs", pid))
        _exit(NOT_RUN);
    execl(program, program, "multiply", t->A, t->B, "-q", "-o", t->result, "--backend",
          "host", "--threads", "2", "--rates=", group[0] ? NULL : "--host-memory", cap,
          (char *)NULL);
    _exit(NOT_RUN);
}

static int keeps_to(const trial *t)
{
    struct rusage usage;
    int status        = -1;
    const pid_t child = fork();

    if (child == 0)
        run_program(t);
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 0;
    const int good = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                     is_right(t->result) && usage.ru_maxrss <= PART_MIB * 1024L;
    printf("%s %s%s: status %#x, %.1f MiB resident of a file of %d%s\n", t->A, t->B,
           group[0] ? " in a control group" : "", (unsigned)status,
           (double)usage.ru_maxrss / 1024, MIB, good ? "" : ": WRONG");
    return good;
}

int main(int argc, char **argv)
{
    const int in_group = argc > 1 && strcmp(argv[1], "cgroup") == 0;
    char folder[] = "hybrid_file_XXXXXX"; /* in the build folder, because /tmp may be in
                                             memory */

    if (SANITIZED || !getenv("HYBRID_SPMM"))
        return SKIP;
    if (in_group && !make_group()) {
        fprintf(stderr, "SKIPPED: no control group of memory can be made: neither in "
                        "HYBRID_CGROUP nor in that of this process\n");
        return SKIP;
    }
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int good = make_dense() && make_sparse();
    for (size_t i = 0; good && i < sizeof trials / sizeof *trials; i++)
        good &= keeps_to(&trials[i]);
    if (group[0])
        good &= rmdir(group) == 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    return chdir("..") != 0 || rmdir(folder) != 0 || !good;
}
