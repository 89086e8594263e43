/* tests/cli/test_cli_gpus.c - when a GPU counts as present.

   The test makes folders that resemble /dev, /proc and /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands/gpus.h"

static char root[PATH_MAX];

static void store(const char *folder, const char *name, const char *text)
{
    char command[PATH_MAX], path[PATH_MAX];

    snprintf(command, sizeof command, "mkdir -p '%.1000s%.500s'", root, folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%.1000s%.500s/%.100s", root, folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int present(void)
{
    const cli_gpus gpus = cli_gpus_find(root);
    return cli_gpus_present(&gpus);
}

static int open_root(void **state)
{
    (void)state;
    unsetenv("CUDA_VISIBLE_DEVICES");
    snprintf(root, sizeof root, "/tmp/hybrid_gpus_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int close_root(void **state)
{
    char command[PATH_MAX];

    (void)state;
    snprintf(command, sizeof command, "rm -r '%.1000s'", root);
    return system(command);
}

static void put_on_bus(const char *vendor, const char *class)
{
    store("/sys/bus/pci/devices/0000:01:00.0", "vendor", vendor);
    store("/sys/bus/pci/devices/0000:01:00.0", "class", class);
}

static void put_driver(void)
{
    store("/proc/driver/nvidia", "version", "NVRM version: 550.54\nGCC version: 12\n");
}

static void a_machine_without_a_gpu(void **state)
{
    (void)state;
    assert_false(present());
    put_on_bus("0x8086\n", "0x030000\n"); /* a display controller of another vendor */
    assert_false(present());
    put_on_bus("0x10de\n", "0x020000\n"); /* a network card of NVIDIA, not a GPU */
    assert_false(present());
    store("/dev", "nvidiactl", "");
    assert_false(present());
}

static void a_gpu_without_a_driver(void **state)
{
    (void)state;
    put_on_bus("0x10de\n", "0x030200\n");
    assert_true(present());
    assert_string_equal(cli_gpus_find(root).driver, "");
    assert_int_equal(cli_gpus_find(root).on_bus, 1);
}

/* In a container without a GPU, /sys shows the machine's GPU and driver, but /dev has no
   device file: no GPU counts as present. */
static void a_container_without_the_gpu_of_its_machine(void **state)
{
    (void)state;
    put_on_bus("0x10de\n", "0x030200\n");
    put_driver();
    assert_false(present());
}

static void a_gpu_with_a_driver(void **state)
{
    (void)state;
    put_on_bus("0x10de\n", "0x030200\n");
    put_driver();
    store("/dev", "nvidia0", "");
    assert_true(present());
    assert_int_equal(cli_gpus_find(root).nodes, 1);
    assert_string_equal(cli_gpus_find(root).driver, "NVRM version: 550.54");
    setenv("CUDA_VISIBLE_DEVICES", "", 1); /* the user hides all GPUs */
    assert_false(present());
    setenv("CUDA_VISIBLE_DEVICES", "0", 1);
    assert_true(present());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_machine_without_a_gpu, open_root, close_root),
        cmocka_unit_test_setup_teardown(a_gpu_without_a_driver, open_root, close_root),
        cmocka_unit_test_setup_teardown(a_container_without_the_gpu_of_its_machine,
                                        open_root, close_root),
        cmocka_unit_test_setup_teardown(a_gpu_with_a_driver, open_root, close_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
