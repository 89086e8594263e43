/* cli/pages/main.c - writes manual pages and completions into a folder, with the layout
   of share/. The folders must exist. Usage: hybrid_spmm_pages FOLDER YYYY-MM-DD */
#include <errno.h>
#include <string.h>

#include "cli/pages/page.h"
#include "cli/output/say.h"

static const struct {
    const char *path;
    void (*write)(FILE *to);
} completions[] = {{"bash-completion/completions/hybrid_spmm", page_bash},
                   {"zsh/site-functions/_hybrid_spmm", page_zsh},
                   {"fish/vendor_completions.d/hybrid_spmm.fish", page_fish}};

static FILE *open_page(const char *folder, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (!file)
        cli_fail(CLI_FILE, "cannot write '%s': %s", path, strerror(errno));
    return file;
}

static int close_page(FILE *file)
{
    const int failed = ferror(file) != 0;

    if (fclose(file) != 0 || failed)
        return cli_fail(CLI_FILE, "cannot write a page: %s", strerror(errno));
    return CLI_DONE;
}

static int write_man(const char *folder, const cli_command *command, const char *date)
{
    char name[64];

    snprintf(name, sizeof name, "man/man1/hybrid_spmm%s%s.1", command->name[0] ? "-" : "",
             command->name);
    FILE *file = open_page(folder, name);
    if (!file)
        return CLI_FILE;
    page_man(file, command, date);
    return close_page(file);
}

static int write_completion(const char *folder, size_t i)
{
    FILE *file = open_page(folder, completions[i].path);

    if (!file)
        return CLI_FILE;
    completions[i].write(file);
    return close_page(file);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return cli_fail(CLI_USAGE, "usage: hybrid_spmm_pages FOLDER YYYY-MM-DD");
    int code = write_man(argv[1], &cli_program, argv[2]);
    for (const cli_command *c = cli_commands; c->name && code == CLI_DONE; c++)
        code = write_man(argv[1], c, argv[2]);
    for (size_t i = 0; i < sizeof completions / sizeof *completions && code == CLI_DONE;
         i++)
        code = write_completion(argv[1], i);
    return code;
}
