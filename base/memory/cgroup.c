/* base/memory/cgroup.c - reads the limits of the control groups of this process. */
#include "base/memory/cgroup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, CORES_MOST = 1 << 20 };

/* Reads a limit, in cores or bytes, from the folder of a group; 0 = no limit. */
typedef double (*limit_fn)(const char *folder);

/* A limited resource, and how to read its limit in both versions of control groups. */
typedef struct resource {
    const char *controller; /* name of the resource in version 1 of control groups */
    limit_fn v2, v1;
} resource;

/* ---- files of a group ------------------------------------------------------------- */

/* Reads at most 2 numbers at the start of a file. Returns how many were read. */
static int read_numbers(const char *folder, const char *name, double number[2])
{
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const int found = fscanf(file, "%lf %lf", &number[0], &number[1]);
    fclose(file);
    return found;
}

static double cores_of(double quota, double period)
{
    return quota > 0 && period > 0 && quota / period <= CORES_MOST ? quota / period : 0;
}

/* cpu.max has "150000 100000", or "max 100000" for no limit. */
static double cores_v2(const char *folder)
{
    double number[2];

    return read_numbers(folder, "cpu.max", number) == 2 ? cores_of(number[0], number[1])
                                                        : 0;
}

/* A quota of -1 means no limit. */
static double cores_v1(const char *folder)
{
    double quota[2], period[2];

    if (read_numbers(folder, "cpu.cfs_quota_us", quota) < 1 ||
        read_numbers(folder, "cpu.cfs_period_us", period) < 1)
        return 0;
    return cores_of(quota[0], period[0]);
}

/* Version 1 expresses "no limit" by a number larger than any memory. */
static double bytes_of(const char *folder, const char *name)
{
    double number[2];

    return read_numbers(folder, name, number) >= 1 && number[0] > 0 && number[0] < 0x1p62
               ? number[0]
               : 0;
}

/* memory.max has "1073741824", or "max" for no limit. */
static double memory_v2(const char *folder)
{
    return bytes_of(folder, "memory.max");
}

static double memory_v1(const char *folder)
{
    return bytes_of(folder, "memory.limit_in_bytes");
}

static const resource cpu    = {"cpu", cores_v2, cores_v1};
static const resource memory = {"memory", memory_v2, memory_v1};

/* ---- groups of the process ------------------------------------------------------- */

static double lower_limit(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Returns the lowest limit of a group and of the groups above it. Shortens `group` on the
   way up. */
static double group_limit(const char *mount, char *group, limit_fn read)
{
    char folder[PATH_BYTES];
    double limit = 0;

    for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
        *end = '\0';
        snprintf(folder, sizeof folder, "%s%s", mount, group);
        limit = lower_limit(limit, read(folder));
    }
    return limit;
}

static int has_word(char *controllers, const char *word)
{
    char *rest = NULL;

    for (char *c = strtok_r(controllers, ",", &rest); c; c = strtok_r(NULL, ",", &rest))
        if (strcmp(c, word) == 0)
            return 1;
    return 0;
}

/* Returns the limit of the group in a line of /proc/self/cgroup: "0::/group" in version
   2, "4:cpu,cpuacct:/group" in version 1. */
static double line_limit(const char *root, char *line, const resource *r)
{
    char *controllers = strchr(line, ':');
    char *group       = controllers ? strchr(controllers + 1, ':') : NULL;
    char mount[PATH_BYTES / 2];

    if (!group)
        return 0;
    *controllers++ = *group++ = '\0';
    const int v2              = *controllers == '\0';
    if (!v2 && !has_word(controllers, r->controller))
        return 0;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s%s", root, v2 ? "" : "/",
             v2 ? "" : r->controller);
    return group_limit(mount, group, v2 ? r->v2 : r->v1);
}

static double read_limit(const char *root, const resource *r)
{
    char path[PATH_BYTES], line[PATH_BYTES / 2];
    double limit = 0;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        limit                     = lower_limit(limit, line_limit(root, line, r));
    }
    fclose(file);
    return limit;
}

int hy_cgroup_cores(const char *root)
{
    const double quota = read_limit(root, &cpu);
    const int cores    = (int)quota;

    return cores < quota ? cores + 1 : cores;
}

int64_t hy_cgroup_memory(const char *root)
{
    return (int64_t)read_limit(root, &memory);
}

int64_t hy_machine_memory(void)
{
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? pages * page : 0;
}

int64_t hy_resident_memory(void)
{
    FILE *file  = fopen("/proc/self/statm", "re");
    long long n = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%*s %lld", &n) != 1)
        n = 0;
    fclose(file);
    return (int64_t)n * sysconf(_SC_PAGESIZE);
}

int64_t hy_memory_limit(int64_t times)
{
    return (int64_t)lower_limit((double)times * (double)hy_machine_memory(),
                                (double)hy_cgroup_memory(""));
}
