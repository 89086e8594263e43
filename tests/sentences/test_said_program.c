/* tests/sentences/test_said_program.c - commands of the program on a machine that lacks
   memory, has another GPU, or computes wrong results.

   The linker replaces functions that the commands call. sentences.py compares the lines
   that this program prints with sentences.txt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/command.h"
#include "cli/commands/gpus.h"
#include "cli/options/arguments.h"
#include "cli/output/say.h"
#include "hybrid_spmm.h"
#include "support/engines/io_fixture.h"

/* ---- replaced functions ---- */

static int no_calloc, no_malloc, no_realloc, no_text, no_strdup, no_sigaction, no_machine;
static int no_memfd, wrong, with_cuda, little;
static cli_gpus gpus;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return no_calloc && size == sizeof(double) ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return no_malloc ? NULL : __real_malloc(bytes);
}

void *__real_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes)
{
    return no_realloc ? NULL : __real_realloc(block, bytes);
}

int __real_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags);
int __wrap_memfd_create(const char *name, unsigned flags)
{
    errno = ENOMEM;
    return no_memfd ? -1 : __real_memfd_create(name, flags);
}

/* With no_text set, the next allocation fails, which is that of an array for the text of
   a plan. */
size_t __real_hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity);
size_t __wrap_hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity);
size_t __wrap_hybrid_plan_explain(const hybrid_plan *plan, char *text, size_t capacity)
{
    const size_t length = __real_hybrid_plan_explain(plan, text, capacity);

    no_malloc = no_text;
    return length;
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    errno = ENOMEM;
    return no_strdup ? NULL : __real_strdup(text);
}

int __real_sigaction(int number, const struct sigaction *now, struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *now, struct sigaction *before);
int __wrap_sigaction(int number, const struct sigaction *now, struct sigaction *before)
{
    return no_sigaction && now ? -1 : __real_sigaction(number, now, before);
}

cli_gpus __wrap_cli_gpus_find(const char *root);
cli_gpus __wrap_cli_gpus_find(const char *root)
{
    (void)root;
    return gpus;
}

hybrid_status __real_hybrid_engine_machine(const hybrid_engine *engine,
                                           hybrid_machine *out);
hybrid_status __wrap_hybrid_engine_machine(const hybrid_engine *engine,
                                           hybrid_machine *out);
hybrid_status __wrap_hybrid_engine_machine(const hybrid_engine *engine,
                                           hybrid_machine *out)
{
    const hybrid_status status =
        no_machine ? HYBRID_BAD_STATE : __real_hybrid_engine_machine(engine, out);

    out->with_cuda = with_cuda;
    if (little)
        out->host_bytes = (int64_t)100 << 20;
    return status;
}

hybrid_status __wrap_hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                          const hybrid_csr *B, const hybrid_csr *C,
                                          int trials, uint64_t seed, int64_t *row);
hybrid_status __real_hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                          const hybrid_csr *B, const hybrid_csr *C,
                                          int trials, uint64_t seed, int64_t *row);
hybrid_status __wrap_hybrid_verify_spgemm(hybrid_engine *engine, const hybrid_csr *A,
                                          const hybrid_csr *B, const hybrid_csr *C,
                                          int trials, uint64_t seed, int64_t *row)
{
    const hybrid_status status =
        __real_hybrid_verify_spgemm(engine, A, B, C, trials, seed, row);

    *row = wrong ? 7 : *row;
    return status;
}

/* ---- commands ---- */

enum { MOST_WORDS = 8 };

/* Runs a command of the program. `line` has its name and arguments, separated by one
   space. Returns the exit code. */
static int run(const char *line)
{
    char words[256], *argv[MOST_WORDS], *rest = words;
    cli_options options;
    int argc = 0;

    snprintf(words, sizeof words, "%s", line);
    for (char *word; (word = strtok_r(rest, " ", &rest)) && argc < MOST_WORDS - 1;)
        argv[argc++] = word;
    argv[argc]                 = NULL;
    const cli_command *command = cli_command_find(argv[0]);
    assert_non_null(command);
    assert_int_equal(cli_arguments_read(command, argc, argv, &options), CLI_DONE);
    return command->run(&options);
}

static void memory(void **state)
{
    (void)state;
    no_calloc = 1;
    assert_int_equal(run("multiply gen:band:9,1 -q --repeat 5 --backend host"),
                     CLI_MEMORY);
    no_calloc = 0;
    no_text   = 1;
    assert_int_equal(run("explain gen:band:9,1 --backend host"), CLI_MEMORY);
    no_text = no_malloc = 0;
    no_strdup           = 1;
    assert_int_equal(run("multiply gen:band:9,1 -q -o C.mtx"), CLI_MEMORY);
    no_strdup = 0;
}

static void traces(void **state)
{
    const char *page = io_temp("x.html");
    char line[256];

    (void)state;
    snprintf(line, sizeof line, "multiply gen:band:9,1 -q --backend host --trace %s",
             page);
    assert_int_equal(chdir(getenv("TEST_DATA")), 0);
    no_malloc = 1;
    assert_int_equal(run("trace device.trace"), CLI_MEMORY);
    no_malloc  = 0;
    no_realloc = 1;
    assert_int_equal(run("trace device.trace"), CLI_MEMORY);
    no_realloc = 0;
    no_memfd   = 1;
    assert_int_equal(run(line), CLI_MEMORY);
    no_memfd = 0;
    assert_int_equal(access(page, F_OK), -1);
}

static void machines(void **state)
{
    (void)state;
    no_sigaction = 1;
    assert_int_equal(run("multiply gen:band:9,1 -q --backend host"), CLI_FAILED);
    no_sigaction = 0;
    no_machine   = 1;
    assert_int_equal(run("explain gen:band:9,1 --json --backend host"), CLI_FAILED);
    no_machine = 0;
    wrong      = 1;
    assert_int_equal(run("multiply gen:band:9,1 -q --verify --backend host"), CLI_FAILED);
    wrong = 0;
}

/* Runs the command doctor on simulated machines with a GPU: without a driver, with a
   library without CUDA, and where CUDA cannot use the GPU. */
static void doctor(void **state)
{
    (void)state;
    gpus = (cli_gpus){.on_bus = 1};
    run("doctor");
    gpus = (cli_gpus){.on_bus = 1, .nodes = 1, .driver = "a driver"};
    run("doctor");
    with_cuda = 1;
    run("doctor");
    gpus   = (cli_gpus){.hidden = 1, .on_bus = 1, .nodes = 1};
    little = 1;
    run("doctor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory),
        cmocka_unit_test(traces),
        cmocka_unit_test(machines),
        cmocka_unit_test(doctor),
    };
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    return cmocka_run_group_tests(tests, NULL, io_group_remove);
}
