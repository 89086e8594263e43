/* tests/unit/base/test_cgroup.c - limits of control groups, versions 1 and 2, and the
   host memory cap derived from them. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory/cgroup.h"
#include "base/memory/memory.h"
#include "engine/api/engine.h"

/* A file of a simulated file system: its path and what it contains. */
typedef struct text_file {
    const char *path, *text;
} text_file;

enum { FILES = 8 };

static const struct tree {
    text_file files[FILES];
    int cores;
    int64_t memory;
} trees[] = {
    {{{"/proc/self/cgroup", "0::/\n"}}, 0, 0},
    /* control groups of version 2; limits of the process's group and of its parent
       groups */
    {{{"/proc/self/cgroup", "0::/a/b\n"},
      {"/sys/fs/cgroup/a/b/memory.max", "max\n"},
      {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}},
     0,
     0},
    {{{"/proc/self/cgroup", "0::/a/b\n"},
      {"/sys/fs/cgroup/a/b/memory.max", "3221225472\n"},
      {"/sys/fs/cgroup/a/memory.max", "1073741824\n"},
      {"/sys/fs/cgroup/memory.max", "max\n"},
      {"/sys/fs/cgroup/a/b/cpu.max", "250000 100000\n"},
      {"/sys/fs/cgroup/a/cpu.max", "900000 100000\n"}},
     3,
     1073741824},
    /* version 2 in a container: the files of the process's group lie in the root
       folder */
    {{{"/proc/self/cgroup", "0::/\n"},
      {"/sys/fs/cgroup/memory.max", "536870912\n"},
      {"/sys/fs/cgroup/cpu.max", "100000 100000\n"}},
     1,
     536870912},
    /* version 1: memory and cpu have a hierarchy of groups each; the largest number
       means no limit */
    {{{"/proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/c\n0::/\n"},
      {"/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "268435456\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "150000\n"},
      {"/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     2,
     268435456},
    {{{"/proc/self/cgroup", "9:memory:/m\n"},
      {"/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "9223372036854771712\n"}},
     0,
     0},
    /* lines to be skipped: the hierarchy memory_migrate, which is not memory, and
       malformed lines */
    {{{"/proc/self/cgroup", "\n1\n2:\n9:memory_migrate:/m\n"},
      {"/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1\n"}},
     0,
     0},
};

static void must(int condition, const char *what)
{
    if (!condition)
        fail_msg("cannot make %s", what);
}

/* Writes the file below the folder `root`, which stands for /, and creates its
   folders. */
static void store(const char *root, const text_file *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    must(f != NULL, path);
    must(fputs(file->text, f) >= 0, path);
    must(fclose(f) == 0, path);
}

static void the_least_limit_counts(void **state)
{
    char remove[64];
    (void)state;

    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        char root[] = "/tmp/hybrid_cgroup_XXXXXX";
        must(mkdtemp(root) != NULL, root);
        for (int k = 0; k < FILES && trees[i].files[k].path; k++)
            store(root, &trees[i].files[k]);
        const int cores      = hy_cgroup_cores(root);
        const int64_t memory = hy_cgroup_memory(root);
        snprintf(remove, sizeof remove, "rm -r %s", root);
        assert_int_equal(system(remove), 0);
        if (cores != trees[i].cores || memory != trees[i].memory)
            fail_msg("tree %d: %d cores and %lld bytes", (int)i, cores,
                     (long long)memory);
    }
    assert_int_equal(hy_cgroup_cores("/nonexistent"), 0);
    assert_int_equal(hy_cgroup_memory("/nonexistent"), 0);
}

/* An engine without the option host_bytes takes the memory limit of the control group
   (or the machine's memory) as its cap. */
static void memory_is_the_cap(void **state)
{
    const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;
    hybrid_csr A;
    (void)state;

    assert_in_range(hy_memory_limit(1), 1, machine);
    options.backend = HYBRID_HOST;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    const hy_memory *memory = &engine->ctx.memory;
    assert_int_equal(memory->meter.cap, hy_memory_limit(1));
    assert_false(memory->strict);
    engine->ctx.memory.meter.cap = 64 << 20; /* bytes; as on a machine with 64 MiB */
    engine->ctx.memory.limit     = NULL;
    assert_int_equal(hybrid_generate(engine, "er:1000000,20", HYBRID_F64, 1, &A),
                     HYBRID_NO_MEMORY);
    hybrid_engine_destroy(engine);

    options.host_bytes = 1 << 30;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    assert_int_equal(engine->ctx.memory.meter.cap, 1 << 30);
    assert_true(engine->ctx.memory.strict);
    assert_null(engine->ctx.memory.limit);
    hybrid_engine_destroy(engine);
}

/* ---- memory that grows ---- */

/* What the machine and its control group provide now, in bytes; 0: no limit. */
static int64_t machine_now, group_now;

static int64_t limit_now(int64_t times)
{
    const int64_t machine = times * machine_now;
    return group_now > 0 && group_now < machine ? group_now : machine;
}

static hybrid_engine *open_with(int64_t machine, int64_t group)
{
    hybrid_engine_options options = HYBRID_ENGINE_OPTIONS_INIT;
    hybrid_engine *engine;

    options.backend = HYBRID_HOST;
    options.threads = 2;
    assert_int_equal(hybrid_engine_create(&options, &engine), HYBRID_OK);
    machine_now                  = machine;
    group_now                    = group;
    engine->ctx.memory.limit     = limit_now;
    engine->ctx.memory.meter.cap = limit_now(1);
    return engine;
}

/* Generates a matrix of about 100 MB and multiplies it with itself, which takes as much
   again, and frees both. */
static hybrid_status square(hybrid_engine *engine)
{
    hybrid_csr A, C;

    hybrid_status status = hybrid_generate(engine, "band:1000000,5", HYBRID_F32, 1, &A);
    if (status != HYBRID_OK)
        return status;
    status = hybrid_spgemm(engine, &A, &A, &C);
    if (status == HYBRID_OK)
        hybrid_csr_free(engine, &C);
    hybrid_csr_free(engine, &A);
    return status;
}

enum { MB = 1 << 20 };

/* A machine that does not grow refuses what exceeds its memory, and one that has got
   memory since the engine was opened provides it. */
static void the_limit_is_read_again(void **state)
{
    hybrid_engine *engine = open_with(64 * MB, 0);

    (void)state;
    assert_int_equal(square(engine), HYBRID_NO_MEMORY);
    assert_int_equal(engine->ctx.memory.meter.cap, 64 * MB);
    machine_now = (int64_t)1 << 30;
    assert_int_equal(square(engine), HYBRID_OK);
    hybrid_engine_destroy(engine);
}

/* A virtual machine with a balloon, which gets memory as it uses it, shows little more
   than what is used. After it has grown once, it is used beyond the memory that it
   shows. */
static void a_machine_grows_as_it_is_used(void **state)
{
    hybrid_engine *engine = open_with(64 * MB, 0);
    void *one, *two;

    (void)state;
    machine_now = 80 * MB;
    assert_int_equal(hy_array(&engine->ctx, 70 * MB, 1, "an array", &one), HYBRID_OK);
    assert_int_equal(hy_array(&engine->ctx, 80 * MB, 1, "an array", &two), HYBRID_OK);
    hy_array_free(&engine->ctx, one);
    hy_array_free(&engine->ctx, two);
    assert_int_equal(hy_array(&engine->ctx, 200 * MB, 1, "an array", &one),
                     HYBRID_NO_MEMORY);
    hybrid_engine_destroy(engine);
}

/* The limit of a control group may be raised; it is never exceeded. */
static void the_limit_of_a_group_is_kept(void **state)
{
    hybrid_engine *engine = open_with((int64_t)1 << 30, 64 * MB);

    (void)state;
    assert_int_equal(square(engine), HYBRID_NO_MEMORY);
    group_now = 100 * MB;
    assert_int_equal(square(engine), HYBRID_NO_MEMORY);
    assert_int_equal(engine->ctx.memory.meter.cap, 100 * MB);
    group_now = 0;
    assert_int_equal(square(engine), HYBRID_OK);
    hybrid_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_limit_counts),
        cmocka_unit_test(memory_is_the_cap),
        cmocka_unit_test(the_limit_is_read_again),
        cmocka_unit_test(a_machine_grows_as_it_is_used),
        cmocka_unit_test(the_limit_of_a_group_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
