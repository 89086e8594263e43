/* cli/operand.c - a matrix that the user names. */
#include "cli/operand.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/say.h"

const char *cli_operand_spec(const char *name)
{
    return strncmp(name, "gen:", 4) == 0 ? name + 4 : NULL;
}

/* "%%MatrixMarket matrix array ..." */
static int has_array_banner(const char *path)
{
    char object[32], format[32], line[256];
    int found  = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        return 0; /* who reads it will say why it cannot be read */
    if (fgets(line, sizeof line, file))
        found = sscanf(line, "%%%%MatrixMarket %31s %31s", object, format) == 2 &&
                strcasecmp(format, "array") == 0;
    fclose(file);
    return found;
}

int cli_operand_is_dense(const char *name)
{
    if (cli_operand_spec(name))
        return 0;
    return cli_ends_in(name, ".npy") || has_array_banner(name);
}

int cli_operand_read(hybrid_engine *engine, const char *name, hybrid_type type,
                     uint64_t seed, hybrid_csr *sparse, hybrid_dense *dense,
                     int *is_dense)
{
    const char *spec = cli_operand_spec(name);
    hybrid_status status;

    cli_progress_phase(spec ? "making" : "reading", name);
    *is_dense = dense && cli_operand_is_dense(name);
    if (*is_dense)
        status = hybrid_read_dense(engine, name, type, dense);
    else if (spec)
        status = hybrid_generate(engine, spec, type, seed, sparse);
    else
        status = hybrid_read_mtx(engine, name, type, sparse);
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
}
