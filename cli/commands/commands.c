/* cli/commands/commands.c - the table of commands. */
#include "cli/commands/command.h"

#include <stdio.h>
#include <string.h>

/* The program without a command, as in hybrid_spmm --help. No number of arguments is
   valid (at least 2, at most 1), because main() takes a command in the first word
   only. */
const cli_command cli_program = {
    .name        = "",
    .bit         = CLI_PROGRAM,
    .arguments   = "COMMAND ARGUMENTS",
    .least       = 2,
    .most        = 1,
    .summary     = "multiply sparse matrices with CPU and GPU together",
    .description = "Multiplies sparse matrices with CPU and GPU together, within budgets "
                   "of host and device memory."};

static const cli_term multiply_examples[] = {
    {"hybrid_spmm multiply A.mtx B.mtx -o C.mtx", "Write C = A*B."},
    {"hybrid_spmm multiply A.mtx --transpose-a -o C.mtx",
     "Write C = A'*A, where A' is the transpose of A."},
    {"hybrid_spmm multiply A.mtx --dense-cols 128 -o Y.npy",
     "Write Y = A*X for a random X of 128 columns."},
    {"hybrid_spmm multiply A.mtx --device-memory 256MiB --verify --repeat 5",
     "Compute A*A five times with 256 MiB of GPU memory, and check the result."},
    {0}};

static const cli_term explain_examples[] = {
    {"hybrid_spmm explain A.mtx --dense-cols 128",
     "Print how A*X would be computed for an X of 128 columns."},
    {0}};

static const cli_term info_examples[] = {
    {"hybrid_spmm info gen:stencil27:80", "Describe a generated matrix."}, {0}};

static const cli_term generate_kinds[] = {
    {"stencil7:N", "7 points on an N x N x N grid"},
    {"stencil27:N", "27 points on an N x N x N grid"},
    {"fem3:N", "N^3 nodes with 3 unknowns, dense 3 x 3 blocks"},
    {"er:ROWS,PER_ROW", "PER_ROW uniform columns per row"},
    {"wide:ROWS,PER_ROW,COLS", "the same with COLS columns"},
    {"rmat:SCALE,EDGES", "2^SCALE rows, EDGES per row, a power-law graph"},
    {"powerlaw:ROWS,MEAN,MAX", "row lengths of a Pareto distribution"},
    {"road:N", "an N x N grid with a part of its edges"},
    {"band:ROWS,HALF", "a full band of half-width HALF"},
    {"dense:ROWS,COLS", "a full matrix"},
    {0}};

static const cli_term generate_examples[] = {{"hybrid_spmm generate rmat:16,8 -o A.mtx",
                                              "Write a power-law graph of 65 536 rows."},
                                             {0}};

static const cli_term convert_examples[] = {
    {"hybrid_spmm convert gen:rmat:12,8 X.json",
     "Write a generated matrix as raw arrays."},
    {"hybrid_spmm convert A.mtx panel.json --rows 0:2",
     "Write the first two rows as raw arrays."},
    {0}};

static const cli_term trace_examples[] = {
    {"hybrid_spmm multiply A.mtx --trace run.json; hybrid_spmm trace run.json",
     "Compute A*A, and print a chart of the run."},
    {"hybrid_spmm trace run.json -o run.html", "Write a page with the same run."},
    {0}};

static const cli_term calibrate_examples[] = {
    {"hybrid_spmm calibrate", "Measure this machine for all later plans."}, {0}};

const cli_command cli_commands[] = {
    {"multiply", CLI_MULTIPLY, cli_multiply, "A [B]", 1, 2, "compute A*B, A*A or A*X",
     "A is a sparse matrix: FILE.mtx, FILE.tsv, FILE.npz, FILE.h5, FILE.petsc, FILE.json "
     "or gen:KIND:ARGS. B is a sparse matrix too, or a dense matrix X: FILE.npy, a "
     "Matrix "
     "Market array file or FILE.json. Without B, A is multiplied by itself. - is "
     "standard "
     "input. FILE::MEMBER selects one matrix of several.\n"
     "\n"
     "manual.md describes the formats; FILE.json describes raw arrays. Large matrices "
     "stay "
     "in their files and are read in pieces, so they may exceed memory. gen:KIND:ARGS is "
     "a "
     "generated matrix; 'hybrid_spmm generate --help' lists the kinds.\n"
     "\n"
     "Without -o the result is discarded after it was verified and reported.",
     NULL, multiply_examples},
    {"explain", CLI_EXPLAIN, cli_explain, "A [B]", 1, 2,
     "tell how a product would be computed",
     "Reads the operands as multiply does, and prints the size of the result and whether "
     "it "
     "fits memory, who computes, the algorithm and its predicted time, what is copied, "
     "and "
     "the alternatives. Nothing is computed.",
     NULL, explain_examples},
    {"info", CLI_INFO, cli_info, "FILE", 1, 1,
     "read and check a matrix, and tell what is in it",
     "FILE is an operand as for multiply.", NULL, info_examples},
    {"list", CLI_LIST, cli_list, "", 0, 0,
     "list backends, and variants with their sources",
     "A variant is an algorithm for one backend. The option --variant takes the name of "
     "a "
     "variant, or the beginning of a name.",
     NULL, NULL},
    {"generate", CLI_GENERATE, cli_generate, "KIND:ARGS", 1, 1,
     "write a generated matrix to a file",
     "KIND:ARGS, --type and --seed determine the matrix. Its values lie in [0.5, 1.5).",
     generate_kinds, generate_examples},
    {"convert", CLI_CONVERT, cli_convert, "IN OUT", 2, 2,
     "copy a matrix to a file of another format",
     "IN is an operand as for multiply, in any format that is read. The ending of OUT "
     "selects the format that is written; manual.md lists the formats. The matrix may "
     "exceed memory: it is copied in parts within --host-memory.\n"
     "\n"
     "IN::MEMBER selects one matrix of a file that holds several. OUT appears under its "
     "name when it is complete.",
     NULL, convert_examples},
    {"trace", CLI_TRACE, cli_show_trace, "FILE.json", 1, 1,
     "show what a run did, as a chart or a page",
     "FILE.json is a trace that 'multiply --trace' wrote, or - for standard input. The "
     "chart has a line of letters for each thread and each stream of a GPU, the memory "
     "in "
     "use, predicted and measured time, what bound the run, and its three longest "
     "stalls.\n"
     "\n"
     "With -o the same is written as a page for a browser, where bars can be zoomed and "
     "show their facts. The page needs no network.",
     NULL, trace_examples},
    {"calibrate", CLI_CALIBRATE, cli_calibrate, "", 0, 0,
     "measure this machine, for better plans",
     "Measures copies, memory and launches, and times all variants on generated "
     "products, in less than 60 s. Nothing else should run meanwhile. All programs "
     "that use this library read the measured rates from then on.\n"
     "\n"
     "Without a GPU the CPU is measured alone. With another number of threads the CPU "
     "counts as another device; the default file keeps the rates of both. With --devices "
     "the CPU is measured with the threads that serve several GPUs, and the first GPU is "
     "measured for all of its model.",
     NULL, calibrate_examples},
    {"doctor", CLI_DOCTOR, cli_doctor, "", 0, 0,
     "check driver, GPUs, limits and rates of this machine",
     "Prints what the library finds: the NVIDIA driver, GPUs, cores, memory of the "
     "machine "
     "and limits of its control group, the rates by which products are planned, and the "
     "optional parts that were built. For each problem a line says how to mend it, and "
     "the "
     "exit code is 1.",
     NULL, NULL},
    {0}};

const cli_term cli_exit_codes[] = {
    {"0", "The command did what was asked."},
    {"1", "Computing failed, there is no such device, or the result is wrong."},
    {"2", "The program was used in a wrong way."},
    {"3", "Input is malformed, or shapes do not fit together."},
    {"4", "Memory is exhausted, or a budget is too small for one row."},
    {"5", "A file could not be read or written."},
    {"130", "The program was interrupted. Nothing half-written is left."},
    {0}};

const cli_command *cli_command_find(const char *name)
{
    for (const cli_command *command = cli_commands; command->name; command++)
        if (strcmp(name, command->name) == 0)
            return command;
    return NULL;
}

cli_text cli_command_title(const cli_command *command)
{
    cli_text title;

    snprintf(title.s, sizeof title.s, "hybrid_spmm%s%s", command->name[0] ? " " : "",
             command->name);
    return title;
}
