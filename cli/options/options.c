/* cli/options/options.c - the table of options. */
#include "cli/options/options.h"

#include <stddef.h>
#include <string.h>

enum {
    PRODUCT  = CLI_MULTIPLY | CLI_EXPLAIN,
    COMPUTES = PRODUCT | CLI_INFO | CLI_GENERATE | CLI_CONVERT,
    WRITES =
        CLI_MULTIPLY | CLI_CONVERT,  /* commands that write matrices in many formats */
    OPENS = PRODUCT | CLI_CALIBRATE, /* the commands that take --backend */
    ALL   = COMPUTES | CLI_CALIBRATE | CLI_LIST | CLI_DOCTOR | CLI_TRACE
};

/* Offset of a field of cli_options. It compiles only if the field has the given type. */
#define FIELD(type, name)                                                                \
    offsetof(cli_options, name) + 0 * sizeof(_Generic(((cli_options *)0)->name, type : 0))

/* Rows of an option whose help text depends on the command: one for each command or group
   of commands. */
#define OUTPUT(commands, help)                                                           \
    {                                                                                    \
        "output", 'o', commands, &cli_kind_file, FIELD(const char *, output), help       \
    }
#define TYPE(commands, help)                                                             \
    {                                                                                    \
        "type", 0, commands, &cli_kind_type, FIELD(hybrid_type, type), help              \
    }

const cli_option cli_option_table[] = {
    OUTPUT(CLI_MULTIPLY, "Write the result to FILE. Its ending selects the format: .mtx, "
                         ".npz, .h5, .petsc or .json if it is sparse, .npy or .json if "
                         "it is dense. - is standard output."),
    OUTPUT(
        CLI_GENERATE,
        "Write the matrix to FILE, whose ending selects the format as for multiply. - is "
        "standard output."),
    OUTPUT(CLI_EXPLAIN, "Predict what writing the result to FILE takes: memory, disk and "
                        "time. FILE does not change."),
    {"format", 0, CLI_MULTIPLY | CLI_GENERATE, &cli_kind_format,
     FIELD(cli_format, format),
     "Format of the result, whatever the name ends in: mtx if it is sparse, npy if it is "
     "dense."},
    OUTPUT(CLI_CALIBRATE,
           "Write the rates to FILE, which --rates reads, or to standard output if FILE "
           "is -. The default is a file in $XDG_CACHE_HOME/hybrid_spmm, or "
           "$HOME/.cache/hybrid_spmm, that is named after the device."),
    OUTPUT(CLI_TRACE, "Write a page to FILE.html, or to standard output if FILE is -."),
    {"rows", 0, CLI_CONVERT, &cli_kind_range, FIELD(cli_range, rows),
     "Copy rows A to B - 1 only, counted from 0. A or B may be left out."},
    {"transpose", 0, CLI_CONVERT, &cli_kind_flag, FIELD(int, transpose),
     "Write the transpose, whose rows --rows selects."},
    {"index-bits", 0, CLI_CONVERT, &cli_kind_index, FIELD(hybrid_index, index_bits),
     "Bits of offsets and column indices, in formats that have a choice."},
    {"compress", 0, WRITES, &cli_kind_compress, FIELD(hybrid_compression, compression),
     "Compress the numbers of the file, in formats that can: none (the default), deflate "
     "or zstd."},
    {"part-rows", 0, WRITES, &cli_kind_rows, FIELD(int64_t, part_rows),
     "Write a .json result in parts of N rows, in a folder beside it, FILE.rows without "
     "the ending of FILE. Each part is a matrix of its own."},
    {"resume", 0, WRITES, &cli_kind_flag, FIELD(int, resume),
     "Keep finished parts of the result in a folder beside it, FILE.parts, and continue "
     "after the parts that an earlier run of the same command left there."},
    {"dense-cols", 0, PRODUCT, &cli_kind_columns, FIELD(int64_t, dense_cols),
     "Multiply by a random dense matrix of N columns instead of B."},
    {"transpose-a", 0, PRODUCT, &cli_kind_flag, FIELD(int, transpose_a),
     "Multiply the transpose of A."},
    {"transpose-b", 0, PRODUCT, &cli_kind_flag, FIELD(int, transpose_b),
     "Multiply by the transpose of B, or of A if there is no B."},
    TYPE(CLI_GENERATE, "Type of the values. The default is f64."),
    TYPE(CLI_CONVERT,
         "Type of the values in the new file. The default is the type in the "
         "old file."),
    TYPE(PRODUCT | CLI_INFO, "Type of the values. The default is the type of operands in "
                             "files that have one, or f64."),
    {"seed", 0, COMPUTES, &cli_kind_seed, FIELD(uint64_t, seed),
     "Seed of all random numbers. The default is 1."},
    {"backend", 0, OPENS, &cli_kind_backend, FIELD(hybrid_backend, backend),
     "Use the CPU (host), the GPU (cuda), or a GPU if one answers (auto, the default)."},
    {"device", 0, OPENS, &cli_kind_device, FIELD(int64_t, device),
     "Number of the CUDA device. The default is 0."},
    {"devices", 0, OPENS, &cli_kind_devices, FIELD(cli_devices, devices),
     "Several CUDA devices, which compute together."},
    {"devices-optional", 0, PRODUCT, &cli_kind_flag, FIELD(int, devices_optional),
     "Compute without those devices of --devices that do not work."},
    {"variant", 0, PRODUCT, &cli_kind_variant, FIELD(const char *, variant),
     "Algorithm, or the beginning of its name, or its name with parameters, as in "
     "NAME:R=8,c=2. 'hybrid_spmm list' prints both."},
    {"split", 0, PRODUCT, &cli_kind_split, FIELD(cli_split, split),
     "How CPU and GPU divide the work: auto, gpu, host, or the CPU's share of A*X from 0 "
     "to 1."},
    {"threads", 0, COMPUTES | CLI_CALIBRATE, &cli_kind_threads, FIELD(int64_t, threads),
     "Number of CPU workers. The default is one per core, or fewer beside a GPU."},
    {"device-memory", 0, PRODUCT, &cli_kind_size, FIELD(size_t, device_bytes),
     "Use at most SIZE of a GPU's memory. KB, MB and GB are powers of 1000; K, M, G, "
     "KiB, MiB and GiB are powers of 1024."},
    {"host-memory", 0, COMPUTES, &cli_kind_size, FIELD(size_t, host_bytes),
     "Use at most SIZE of host memory, results included. The default is the memory of "
     "the machine or its control group."},
    {"spill", 0, COMPUTES, &cli_kind_folder, FIELD(const char *, spill),
     "Keep temporary files in DIR. The default is $TMPDIR, or /tmp."},
    {"chunk-rows", 0, PRODUCT, &cli_kind_rows, FIELD(int64_t, chunk_rows),
     "Rows of the result per chunk. The default depends on the work and the memory."},
    {"rates", 0, PRODUCT, &cli_kind_rates, FIELD(const char *, rates),
     "Plan with the rates in FILE, which 'hybrid_spmm calibrate' wrote. An empty name "
     "selects the built-in rates. The default is calibrate's default file."},
    {"deterministic", 0, PRODUCT, &cli_kind_flag, FIELD(int, deterministic),
     "Compute the same bits in every run."},
    {"allow-tf32", 0, PRODUCT, &cli_kind_flag, FIELD(int, allow_tf32),
     "Allow that f32 operands of a dense result are rounded to TF32."},
    {"verify", 0, CLI_MULTIPLY, &cli_kind_flag, FIELD(int, verify),
     "Check the result by Freivalds' method."},
    {"repeat", 0, CLI_MULTIPLY, &cli_kind_calls, FIELD(int64_t, repeat),
     "Compute the product N times, and print the time of each call. The result and the "
     "report are those of the last call."},
    {"trace", 0, CLI_MULTIPLY, &cli_kind_file, FIELD(const char *, trace),
     "Write a timeline to FILE, or to standard output if FILE is -. FILE.html is a page "
     "for a browser; any other name gets JSON, which 'hybrid_spmm trace' and "
     "ui.perfetto.dev open."},
    {"report", 0, CLI_MULTIPLY, &cli_kind_file, FIELD(const char *, report),
     "Write sizes, times and bytes as JSON to FILE, or to standard output if FILE is -."},
    {"progress", 0, COMPUTES | CLI_CALIBRATE, &cli_kind_progress,
     FIELD(cli_progress_mode, progress),
     "Show progress on a terminal (auto, the default), always or never."},
    {"json", 0, CLI_EXPLAIN | CLI_INFO | CLI_LIST, &cli_kind_flag, FIELD(int, json),
     "Print JSON instead of words."},
    {"verbose", 0, CLI_EXPLAIN, &cli_kind_flag, FIELD(int, verbose),
     "Print the numbers behind the plan too, in the terms of docs/design.md."},
    {"quiet", 'q', OPENS | CLI_GENERATE | CLI_CONVERT, &cli_kind_flag, FIELD(int, quiet),
     "Print no notes and no summary on standard error."},
    {"help", 'h', ALL | CLI_PROGRAM, &cli_kind_flag, FIELD(int, help), "Print help."},
    {"version", 'V', CLI_PROGRAM, &cli_kind_flag, FIELD(int, version),
     "Print the version."},
    {0}};

_Static_assert(sizeof cli_option_table / sizeof *cli_option_table <= CLI_OPTIONS_MOST,
               "CLI_OPTIONS_MOST is too small");

const cli_option *cli_option_of(const cli_command *command, const cli_option *option)
{
    while (option->name && !(option->commands & command->bit))
        option++;
    return option->name ? option : NULL;
}

int cli_ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}
