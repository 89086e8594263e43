/* cli/commands/main.c - the program hybrid_spmm: finds the command, and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/options/arguments.h"
#include "cli/commands/command.h"
#include "cli/options/help.h"
#include "cli/output/say.h"
#include "cli/options/suggest.h"
#include "cli/output/text.h"

static int run_command(const cli_command *command, int argc, char **argv)
{
    cli_options options;
    const int code = cli_arguments_read(command, argc, argv, &options);

    if (code != CLI_DONE)
        return code;
    if (options.help)
        cli_help_print(command, stdout);
    else if (options.version)
        printf("hybrid_spmm %s\n", cli_version().s);
    else
        return command->run(&options);
    return CLI_DONE;
}

static int fail_command(const char *word)
{
    cli_suggestion near = {.typed = word};

    for (const cli_command *command = cli_commands; command->name; command++)
        cli_suggest(&near, command->name);
    if (near.best)
        return cli_fail(CLI_USAGE, "there is no command '%s'; did you mean '%s'?", word,
                        near.best);
    return cli_fail(CLI_USAGE, "there is no command '%s'; see 'hybrid_spmm --help'",
                    word);
}

static int dispatch(int argc, char **argv)
{
    const cli_command *command = cli_command_find(argv[1]);

    if (command)
        return run_command(command, argc - 1, argv + 1);
    return argv[1][0] == '-' ? run_command(&cli_program, argc, argv)
                             : fail_command(argv[1]);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        cli_help_print(&cli_program, stderr);
        return CLI_USAGE;
    }
    const int code = dispatch(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_DONE)
        return cli_fail(CLI_FILE, "cannot write to standard output: %s", strerror(errno));
    return code;
}
