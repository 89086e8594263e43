/* tests/run/files/test_peak.c - peak resident memory of the program against its cap of
   host memory.

   Computes A*A of a file of rmat:18,8, with caps that are too small for the whole
   product, and A*X. With an argument the test runs more products. It is skipped if a
   sanitizer uses memory of its own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/products/sanitized.h"

enum { SKIP = 77, DONE = 0, NO_MEMORY = 4, NOT_RUN = 127, ROOM = 16, ARGUMENTS = 24 };

/* Runs the program with `words`, separated by blanks. Stores its peak resident memory
   in *peak_KiB. Returns its exit code. */
static int run(const char *words, long *peak_KiB)
{
    char *argument[ARGUMENTS] = {getenv("HYBRID_SPMM")};
    char *all                 = strdup(words);
    struct rusage usage;
    int status = -1, count = 1;

    for (char *word = strtok(all, " "); word; word = strtok(NULL, " "))
        argument[count++] = word;
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        execv(argument[0], argument);
        _exit(NOT_RUN);
    }
    free(all);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status))
        return NOT_RUN;
    *peak_KiB = usage.ru_maxrss;
    return WEXITSTATUS(status);
}

/* Returns 1 if the program kept to `cap` MiB plus ROOM for code, stacks and small
   objects. */
static int keeps_to(int cap, const char *words, int may_fail)
{
    char line[512];
    long peak = 0;

    snprintf(line, sizeof line,
             "multiply A.mtx -q --backend host --host-memory %dMiB --rates= %s", cap,
             words);
    const int code = run(line, &peak);
    const int good =
        (code == DONE || (may_fail && code == NO_MEMORY)) && peak <= (cap + ROOM) * 1024L;
    printf("%s: exit code %d, %.1f MiB resident%s\n", line, code, (double)peak / 1024,
           good ? "" : ": WRONG");
    return good;
}

static int check(int times, const int *caps, const char *const *threads)
{
    int wrong = 0;

    for (; *threads; threads++)
        for (int i = 0; caps[i]; i++)
            for (int k = 0; k < times; k++)
                wrong += !keeps_to(caps[i], *threads, 1);
    return wrong;
}

static int check_all(int all)
{
    static const int few[] = {512, 0}, many[] = {128, 256, 512, 768, 1024, 2048, 0};
    static const char *const usual[] = {"--threads 4", NULL};
    static const char *const each[]  = {"--threads 1", "--threads 4", "--threads 16",
                                        NULL};
    int wrong = check(all ? 5 : 3, all ? many : few, all ? each : usual);

    wrong += !keeps_to(256, "--threads 4 --dense-cols 16", 0);
    wrong += all && !keeps_to(1024, "--threads 16 --dense-cols 128 -o Y.npy", 0);
    return wrong;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/hybrid_peak_XXXXXX";
    long peak;

    (void)argv;
    if (SANITIZED || !getenv("HYBRID_SPMM"))
        return SKIP;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    const int wrong =
        run("generate rmat:18,8 -q -o A.mtx", &peak) != DONE ? 1 : check_all(argc > 1);
    unlink("A.mtx");
    unlink("Y.npy");
    return rmdir(folder) != 0 || wrong > 0;
}
