/* cli/operand.c - a matrix that the user names. */
#include "cli/operand.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/say.h"

const char *cli_operand_spec(const char *name)
{
    return strncmp(name, "gen:", 4) == 0 ? name + 4 : NULL;
}

/* The beginning of a file, inflated. 0 bytes if it cannot be read: who reads it will say
   why; and of a pipe, from which nobody could read it again. */
static void peek(const char *path, char *text, unsigned bytes)
{
    struct stat st;
    int got = 0;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        gzFile file = gzopen(path, "re");
        got         = file ? gzread(file, text, bytes - 1) : 0;
        gzclose(file);
    }
    text[got > 0 ? got : 0] = '\0';
}

/* "%%MatrixMarket matrix array ..." */
static int has_array_banner(const char *path)
{
    static const char *const words[] = {"%%MatrixMarket", "matrix", "array"};
    char text[1024], *rest = text;

    peek(path, text, sizeof text);
    text[strcspn(text, "\r\n")] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = strtok_r(rest, " \t", &rest);
        if (!word || strcasecmp(word, words[i]) != 0)
            return 0;
    }
    return 1;
}

int cli_operand_is_json(const char *name)
{
    return !cli_operand_spec(name) && cli_ends_in(name, ".json");
}

/* {"format": "hybrid-dense", ... */
static int is_dense_json(const char *name)
{
    char text[1024];

    if (!cli_operand_is_json(name))
        return 0;
    peek(name, text, sizeof text);
    return strstr(text, "\"hybrid-dense\"") != NULL;
}

int cli_operand_is_dense(const char *name)
{
    if (cli_operand_spec(name))
        return 0;
    return cli_ends_in(name, ".npy") || is_dense_json(name) || has_array_banner(name);
}

int cli_operand_check_type(const char *name, hybrid_type is, hybrid_type wanted)
{
    const char *word = is == HYBRID_F64 ? "f64" : "f32";

    if (is == wanted)
        return CLI_DONE;
    return cli_fail(CLI_USAGE, "'%s' holds %s, which is not converted: give --type %s",
                    name, word, word);
}

static int read_json(hybrid_engine *engine, const char *name, hybrid_type type,
                     hybrid_csr *sparse)
{
    const hybrid_status status = hybrid_read_csr(engine, name, sparse);

    return status == HYBRID_OK ? cli_operand_check_type(name, sparse->type, type)
                               : cli_fail_engine(engine, status);
}

int cli_operand_read(hybrid_engine *engine, const char *name, hybrid_type type,
                     uint64_t seed, hybrid_csr *sparse, hybrid_dense *dense,
                     int *is_dense)
{
    const char *spec = cli_operand_spec(name);
    hybrid_status status;

    cli_progress_phase(spec ? "making" : "reading", name);
    *is_dense = 0;
    if (cli_operand_is_json(name))
        return read_json(engine, name, type, sparse);
    *is_dense = dense && cli_operand_is_dense(name);
    if (*is_dense)
        status = hybrid_read_dense(engine, name, type, dense);
    else if (spec)
        status = hybrid_generate(engine, spec, type, seed, sparse);
    else
        status = hybrid_read_mtx(engine, name, type, sparse);
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
}
