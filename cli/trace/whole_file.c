/* cli/trace/whole_file.c - reads a file as a whole. */
#include "cli/trace/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operands/operand.h"
#include "cli/output/say.h"

enum { FIRST_ROOM = 1 << 16 };

int cli_whole_stream(FILE *file, const char *name, char **text, size_t *bytes)
{
    size_t room = FIRST_ROOM, used = 0;
    char *all = malloc(room);

    errno = 0;
    while (all && (used += fread(all + used, 1, room - 1 - used, file)) == room - 1) {
        char *more = room > SIZE_MAX / 2 ? NULL : realloc(all, room *= 2);
        if (!more)
            free(all);
        all = more;
    }
    if (!all)
        return cli_fail(CLI_MEMORY,
                        "there is no memory for the text of '%s'; free memory of the "
                        "machine",
                        cli_operand_title(name).s);
    if (ferror(file)) {
        const int code = cli_fail(CLI_FILE, "cannot read '%s': %s",
                                  cli_operand_title(name).s, strerror(errno));
        free(all);
        return code;
    }
    all[used] = '\0';
    *text     = all;
    *bytes    = used;
    return CLI_DONE;
}

int cli_whole_file(const char *name, char **text, size_t *bytes)
{
    const int standard = cli_operand_is_standard_input(name);
    FILE *file         = standard ? stdin : fopen(name, "re");

    if (!file)
        return cli_fail(CLI_FILE, "cannot open '%s': %s", cli_operand_title(name).s,
                        strerror(errno));
    const int code = cli_whole_stream(file, name, text, bytes);
    if (!standard)
        fclose(file);
    return code;
}
