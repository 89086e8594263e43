/* cli/commands/cmd_doctor.c - hybrid_spmm doctor: what the library finds on this machine,
   which problems there are, and how to solve them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/gpus.h"
#include "cli/commands/job.h"
#include "cli/output/say.h"
#include "cli/output/text.h"

enum { MOST_GPUS = 16, MESSAGE = 1024 };

typedef struct examination {
    const cli_options *options;
    cli_gpus gpus;
    hybrid_engine *engine;  /* engine on the host; NULL if it cannot be opened */
    hybrid_machine machine; /* description of the engine's machine */
    int problems;
} examination;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* Prints a problem and its remedy, and counts the problem in the examination. */
__attribute__((format(printf, 3, 4))) static void
problem(examination *e, const char *remedy, const char *format, ...)
{
    va_list args;

    printf("  PROBLEM  ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n  REMEDY   %s\n", remedy);
    e->problems++;
}

static const char *with(int has)
{
    return has ? "with" : "without";
}

/* ---- the engine on the host ------------------------------------------------------ */

static hybrid_status open_with(const char *rates, hybrid_backend backend, int device,
                               char *message, hybrid_engine **engine)
{
    hybrid_engine_options wanted = HYBRID_ENGINE_OPTIONS_INIT;

    message[0]          = '\0';
    wanted.backend      = backend;
    wanted.device       = device;
    wanted.rates_path   = rates;
    wanted.message      = message;
    wanted.message_size = MESSAGE;
    return hybrid_engine_create(&wanted, engine);
}

/* Opens the engine on the host. If its file of rates cannot be read, opens it again
   without one, so that the rest of the machine is examined. */
static int open_host(examination *e)
{
    char message[MESSAGE], again[MESSAGE];
    hybrid_status status = open_with(NULL, HYBRID_HOST, 0, message, &e->engine);
    const int bad_rates  = status == HYBRID_BAD_FILE || status == HYBRID_IO_FAILED;

    put("library    %s", cli_version().s);
    if (bad_rates)
        status = open_with("", HYBRID_HOST, 0, again, &e->engine);
    if (status != HYBRID_OK)
        return cli_fail_status(status, message);
    e->machine                    = (hybrid_machine)HYBRID_MACHINE_INIT;
    const hybrid_status described = hybrid_engine_machine(e->engine, &e->machine);
    if (described != HYBRID_OK)
        return cli_fail_status(described, "");
    put("built      %s CUDA, %s HDF5 files, %s zstd", with(e->machine.with_cuda),
        with(e->machine.with_hdf5), with(e->machine.with_zstd));
    if (bad_rates)
        problem(e, "remove the file, or measure again with 'hybrid_spmm calibrate'", "%s",
                message);
    return CLI_DONE;
}

/* ---- GPUs ------------------------------------------------------------------------ */

/* Prints which file of rates the engine uses, or that its rates are built in. An engine
   on the host reads another file than one on a GPU. */
static void tell_rates(const hybrid_engine *engine)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;

    if (hybrid_engine_machine(engine, &machine) != HYBRID_OK)
        return;
    if (machine.rates_date[0])
        put("  rates    measured on %s: %s", machine.rates_date, machine.rates_path);
    else if (machine.rates_path[0])
        put("  rates    built in; %s has the format of another version: run 'hybrid_spmm "
            "calibrate'",
            machine.rates_path);
    else
        put("  rates    built in, of another machine; 'hybrid_spmm calibrate' measures "
            "them");
}

/* Prints what each GPU is, and returns the number of GPUs that can be used. `message`
   receives the reason why the device after these cannot be used. */
static int tell_gpus(examination *e, char *message)
{
    int count = 0;

    for (; count < MOST_GPUS; count++) {
        hybrid_engine *engine = NULL;
        hybrid_status status  = open_with(NULL, HYBRID_CUDA, count, message, &engine);
        if (status == HYBRID_BAD_FILE || status == HYBRID_IO_FAILED) {
            problem(e, "remove the file, or measure again with 'hybrid_spmm calibrate'",
                    "%s", message);
            status = open_with("", HYBRID_CUDA, count, message, &engine);
        }
        if (status != HYBRID_OK)
            break;
        put("GPU %d      %s", count, hybrid_engine_device(engine));
        tell_rates(engine);
        hybrid_engine_destroy(engine);
    }
    return count;
}

static void tell_no_gpu(examination *e, const char *message)
{
    const cli_gpus *gpus = &e->gpus;

    put("GPU        none: %s",
        strncmp(message, "no GPU: ", 8) == 0 ? message + 8 : message);
    if (gpus->hidden && (gpus->nodes > 0 || gpus->on_bus > 0))
        put("  note     CUDA_VISIBLE_DEVICES='%s' hides all GPUs",
            getenv("CUDA_VISIBLE_DEVICES"));
    if (!cli_gpus_present(gpus))
        return;
    if (!gpus->driver[0])
        problem(e, "install the NVIDIA driver, and restart the machine",
                "there is an NVIDIA GPU, but no NVIDIA driver is loaded");
    else if (!e->machine.with_cuda)
        problem(e, "build the library where nvcc is found: cmake -DHYBRID_CUDA=ON",
                "there is an NVIDIA GPU, but the library was built without CUDA");
    else
        problem(e,
                "update the NVIDIA driver to one that supports the CUDA version of the "
                "library; in a container, start it with --gpus all",
                "there is an NVIDIA GPU, but CUDA cannot use it");
}

static void examine_gpus(examination *e)
{
    char message[MESSAGE];

    e->gpus = cli_gpus_find("");
    put("driver     %s",
        e->gpus.driver[0] ? e->gpus.driver : "no NVIDIA driver is loaded");
    if (tell_gpus(e, message) == 0)
        tell_no_gpu(e, message);
}

/* ---- cores, memory, rates -------------------------------------------------------- */

static void examine_cores(examination *e)
{
    const hybrid_machine *m = &e->machine;

    put("CPU        %s", hybrid_engine_device(e->engine));
    put("  cores    %d for this process, of %d logical processors of the machine",
        m->cores, m->processors);
    tell_rates(e->engine);
}

static void examine_memory(examination *e)
{
    /* MiB: the command reports a problem if the budget of host memory is smaller */
    enum { LEAST = 256 };
    const hybrid_machine *m = &e->machine;

    put("memory     %s in the machine",
        m->memory_bytes > 0 ? cli_bytes(m->memory_bytes).s : "unknown");
    if (m->group_bytes > 0)
        put("  limit    %s by the control group of this process",
            cli_bytes(m->group_bytes).s);
    else
        put("  limit    none by a control group");
    put("  budget   %s, unless --host-memory says less",
        m->host_bytes > 0 ? cli_bytes(m->host_bytes).s : "none");
    if (m->host_bytes > 0 && m->host_bytes < (int64_t)LEAST << 20)
        problem(e, "raise the memory limit of the container or the control group",
                "only %s of memory may be used, and sparse products need %d MiB or more",
                cli_bytes(m->host_bytes).s, LEAST);
}

/* Reports a problem if the environment names no cache folder, to which calibrate writes.
   Does not examine the folder itself. */
static void examine_cache(examination *e)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if ((cache && cache[0] == '/') || (home && home[0] == '/'))
        return;
    problem(e, "set HOME, or name the file with 'hybrid_spmm calibrate -o FILE'",
            "neither XDG_CACHE_HOME nor HOME names a folder for measured rates");
}

int cli_doctor(const cli_options *options)
{
    examination e  = {.options = options};
    const int code = open_host(&e);

    if (code == CLI_DONE) {
        examine_gpus(&e);
        examine_cores(&e);
        examine_memory(&e);
        examine_cache(&e);
        if (e.problems == 0)
            put("no problems found");
        else
            put("%d problem%s found", e.problems, e.problems == 1 ? "" : "s");
    }
    hybrid_engine_destroy(e.engine);
    return code == CLI_DONE && e.problems > 0 ? CLI_FAILED : code;
}
