/* cli/main.c - the program hybrid_spmm: which command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"

static const cli_command commands[] = {
    {"multiply", cli_multiply, "compute A*B, A*A or A*X", "A [B]", 1, 2, CLI_MULTIPLY,
     "A is sparse: FILE.mtx, FILE.mtx.gz, FILE.json or gen:KIND:ARGS. B is the same, or\n"
     "dense: FILE.npy, a Matrix Market array file, or FILE.json, which stays where it "
     "is\n"
     "and is read by pieces. Without B, A is multiplied by itself. FILE.json describes\n"
     "raw numbers, as hybrid_spmm.h says.\n"
     "Without -o the result is dropped after it was verified and reported."},
    {"explain", cli_explain, "tell how a product would be computed", "A [B]", 1, 2,
     CLI_EXPLAIN,
     "Operands as of multiply. Reads them, prints features, candidates and chunks,\n"
     "and computes nothing."},
    {"info", cli_info, "read and check a matrix, and tell what is in it", "FILE", 1, 1,
     CLI_INFO, "FILE as A or B of multiply."},
    {"list", cli_list, "backends, and variants with their sources", "", 0, 0, CLI_LIST,
     "A variant's name, or its beginning, is what --variant takes."},
    {"generate", cli_generate, "write a problem as a Matrix Market file", "KIND:ARGS", 1,
     1, CLI_GENERATE,
     "stencil7:N stencil27:N   7 or 27 points on an N x N x N grid\n"
     "fem3:N                   N^3 nodes with 3 unknowns, dense 3 x 3 blocks\n"
     "er:ROWS,PER_ROW          PER_ROW uniform columns a row\n"
     "rmat:SCALE,EDGES         2^SCALE rows, EDGES a row, a power-law graph\n"
     "powerlaw:ROWS,MEAN,MAX   Pareto row lengths\n"
     "road:N                   N x N grid with a part of its edges\n"
     "band:ROWS,HALF           full band"},
    {"calibrate", cli_calibrate, "measure this machine, for better plans", "", 0, 0,
     CLI_CALIBRATE,
     "Measures copies, memory and launches, and times spmm.cuda.rows against\n"
     "spmm.cuda.merge, in less than 30 s; nothing else should run meanwhile. Without\n"
     "-o the file is one in $XDG_CACHE_HOME/hybrid_spmm, or $HOME/.cache/hybrid_spmm,\n"
     "named after the device, and all programs of this library read it from then on.\n"
     "Without a GPU the CPU is measured alone. With another number of threads the CPU\n"
     "counts as another device."},
};

enum { COMMANDS = (int)(sizeof commands / sizeof *commands) };

static void print_usage(FILE *to)
{
    fputs("usage: hybrid_spmm COMMAND ARGUMENTS [OPTIONS]\n"
          "\n"
          "Sparse products computed by the CPU and a GPU together.\n"
          "\n"
          "commands\n",
          to);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-9s %-10s %s\n", commands[i].name, commands[i].arguments,
                commands[i].summary);
    fputs("\n"
          "hybrid_spmm COMMAND --help tells its options, hybrid_spmm --version the "
          "version.\n"
          "\n"
          "exit codes\n"
          "    0  done\n"
          "    1  computing failed, no such device, or the result is wrong\n"
          "    2  wrong use of the program\n"
          "    3  malformed input, or shapes that do not fit together\n"
          "    4  out of memory, or a budget too small for one row\n"
          "    5  a file could not be read or written\n"
          "  130  interrupted; nothing half-written is left\n",
          to);
}

static void print_help(const cli_command *command)
{
    printf("usage: hybrid_spmm %s%s%s [OPTIONS]\n\n%s\n\noptions\n", command->name,
           command->most ? " " : "", command->arguments, command->details);
    cli_options_print(command);
}

static void print_version(void)
{
    const int version = hybrid_version();

    printf("hybrid_spmm %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
}

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_options options;
    const int code = cli_options_parse(command, argc, argv, &options);

    if (code != CLI_DONE)
        return code;
    if (!options.help)
        return command->run(&options);
    print_help(command);
    return CLI_DONE;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argv[1];

    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        print_usage(stdout);
    else if (strcmp(word, "--version") == 0)
        print_version();
    else
        return cli_fail(CLI_USAGE, "there is no command '%s'; see 'hybrid_spmm --help'",
                        word);
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    const int code = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_DONE)
        return cli_fail(CLI_FILE, "cannot write the standard output: %s",
                        strerror(errno));
    return code;
}
