/* cli/operands/operand.c - an operand that the user names: its kind, its type, and its
   numbers. */
#include "cli/operands/operand.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/operands/peek.h"
#include "cli/options/types.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"

/* An operand is large if it takes more than 1 / WHOLE_PART of the free memory;
   hybrid_spgemm_files() reads smaller ones completely. */
enum { WHOLE_PART = 4 };

const char *cli_operand_spec(const char *name)
{
    return strncmp(name, "gen:", 4) == 0 ? name + 4 : NULL;
}

int cli_operand_is_standard_input(const char *name)
{
    return strcmp(name, "-") == 0;
}

const char *cli_operand_path(const char *name)
{
    return cli_operand_is_standard_input(name) ? "/dev/stdin" : name;
}

cli_title cli_operand_title(const char *name)
{
    return cli_title_of(name, "standard input");
}

/* Returns 1 if `text` begins with "%%MatrixMarket matrix array". Changes `text`. */
static int has_array_banner(char *text)
{
    static const char *const words[] = {"%%MatrixMarket", "matrix", "array"};
    char *rest                       = text;

    text[strcspn(text, "\r\n")] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = strtok_r(rest, " \t", &rest);
        if (!word || strcasecmp(word, words[i]) != 0)
            return 0;
    }
    return 1;
}

/* First bytes of a .npy file. Its dictionary begins at byte 10 or 12. */
static const char npy_magic[] = "\x93NUMPY";
enum { NPY_DICTIONARY = 12 };

static int is_npy(const char *text, size_t bytes)
{
    return bytes > NPY_DICTIONARY && memcmp(text, npy_magic, sizeof npy_magic - 1) == 0;
}

int cli_operand_is_json(const char *name)
{
    return !cli_operand_spec(name) && cli_ends_in(name, ".json");
}

/* Returns the text after "::" of a name that is not itself that of a file; NULL: it has
   none. */
static const char *member_of(const char *name)
{
    const char *mark = strstr(name, "::");

    return mark && !cli_operand_spec(name) && access(name, F_OK) != 0 ? mark + 2 : NULL;
}

/* Returns 1 and fills *st if the name, without a member after "::", is a regular file. */
static int is_regular(const char *name, struct stat *st)
{
    char path[PATH_MAX];
    const char *member = member_of(name);
    const int length   = member ? (int)(member - name) - 2 : (int)strlen(name);

    if (cli_operand_spec(name) || cli_operand_is_standard_input(name))
        return 0;
    snprintf(path, sizeof path, "%.*s", length, name);
    return stat(path, st) == 0 && S_ISREG(st->st_mode);
}

int cli_operand_is_stored(hybrid_engine *engine, const char *name)
{
    /* these formats are read by other functions; a JSON file ("raw") is recognised above
     */
    static const char *const others[] = {"raw", "Matrix Market", "npy"};
    const char *format;
    struct stat st = {.st_mode = 0};

    if (cli_operand_is_json(name) || member_of(name))
        return 1; /* only hybrid_file_open() takes a name with a member */
    if (!is_regular(name, &st) ||
        hybrid_file_recognise(engine, name, &format) != HYBRID_OK)
        return 0; /* reading the file will report the error */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(format, others[i]) == 0)
            return 0;
    return 1;
}

int cli_operand_is_array_text(const char *name)
{
    char text[CLI_PEEK_BYTES];

    cli_peek(name, text);
    return !cli_operand_spec(name) && has_array_banner(text);
}

int cli_operand_is_big_file(hybrid_engine *engine, const char *name)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;
    struct stat st         = {.st_mode = 0};

    return is_regular(name, &st) && !cli_operand_is_array_text(name) &&
           hybrid_engine_machine(engine, &machine) == HYBRID_OK &&
           machine.host_bytes > 0 &&
           st.st_size > (machine.host_bytes - machine.host_bytes_used) / WHOLE_PART;
}

int cli_operand_is_dense(const char *name)
{
    char text[CLI_PEEK_BYTES];

    if (cli_operand_spec(name))
        return 0;
    const size_t bytes = cli_peek(name, text);
    if (cli_operand_is_json(name)) /* a file that describes a dense matrix names the
                                      format "hybrid-dense" */
        return strstr(text, "\"hybrid-dense\"") != NULL;
    return cli_ends_in(name, ".npy") || is_npy(text, bytes) || has_array_banner(text);
}

void cli_operand_type(const char *name, hybrid_type *type)
{
    char text[CLI_PEEK_BYTES];

    *type = (hybrid_type)0;
    if (cli_operand_spec(name))
        return;
    if (is_npy(text, cli_peek(name, text)))
        *type = strstr(text + NPY_DICTIONARY, "<f4") ? HYBRID_F32 : HYBRID_F64;
}

int cli_operand_check_type(const char *name, hybrid_type is, hybrid_type wanted)
{
    const char *word = cli_type_name(is);

    if (is == wanted)
        return CLI_DONE;
    return cli_fail(
        CLI_USAGE,
        "'%s' holds %s values, which are not converted; give --type %s, or leave "
        "out --type",
        name, word, word);
}

/* Returns 1 if the file is text, whose values are read in the type that is asked for. */
static int is_text(hybrid_engine *engine, const char *name)
{
    struct stat st;
    const char *format;

    return is_regular(name, &st) &&
           hybrid_file_recognise(engine, name, &format) == HYBRID_OK &&
           (strcmp(format, "list") == 0 || strcmp(format, "Matrix Market") == 0);
}

/* Returns the value of the option "type=" in the text after "::" of a name; NULL: it has
   none. */
static const char *type_option(const char *member)
{
    while (member && strncmp(member, "type=", 5) != 0)
        member = (member = strchr(member, ',')) ? member + 1 : NULL;
    return member ? member + 5 : NULL;
}

int cli_operand_has_type(hybrid_engine *engine, const char *name)
{
    return cli_operand_is_stored(engine, name) &&
           (type_option(member_of(name)) || !is_text(engine, name));
}

/* Returns the name under which the library reads the values of the operand in `type`:
   `name`, or in `typed` with an option, which only text without one takes. */
static const char *typed_name(hybrid_engine *engine, const char *name, hybrid_type type,
                              char typed[static PATH_MAX])
{
    const char *member = member_of(name);

    if (!type || type_option(member) || !is_text(engine, name) ||
        snprintf(typed, PATH_MAX, "%s%stype=%s", name,
                 member ? "," : "::", cli_type_name(type)) >= PATH_MAX)
        return name;
    return typed;
}

hybrid_status cli_operand_open(hybrid_engine *engine, const char *name, hybrid_type type,
                               hybrid_file **file)
{
    char typed[PATH_MAX];

    return hybrid_file_open(engine, typed_name(engine, name, type, typed), file);
}

static int read_stored(hybrid_engine *engine, const char *name, hybrid_type type,
                       hybrid_csr *sparse)
{
    char typed[PATH_MAX];
    const hybrid_status status =
        hybrid_read_csr(engine, typed_name(engine, name, type, typed), sparse);

    if (status != HYBRID_OK)
        return cli_fail_engine(engine, status);
    return type ? cli_operand_check_type(name, sparse->type, type) : CLI_DONE;
}

int cli_operand_read(hybrid_engine *engine, const char *name, hybrid_type type,
                     uint64_t seed, hybrid_csr *sparse, hybrid_dense *dense,
                     int *is_dense)
{
    const char *spec = cli_operand_spec(name), *path = cli_operand_path(name);
    hybrid_status status;

    if (spec)
        cli_progress_phase("making", name);
    else
        cli_progress_file("reading", cli_operand_title(name).s);
    *is_dense = 0;
    if (cli_operand_is_stored(engine, name))
        return read_stored(engine, name, type, sparse);
    if (!type)
        type = CLI_DEFAULT_TYPE;
    *is_dense = dense && cli_operand_is_dense(name);
    if (*is_dense)
        status = hybrid_read_dense(engine, path, type, dense);
    else if (spec)
        status = hybrid_generate(engine, spec, type, seed, sparse);
    else
        status = hybrid_read_mtx(engine, path, type, sparse);
    return status == HYBRID_OK ? CLI_DONE : cli_fail_engine(engine, status);
}

int cli_operand_is_large(hybrid_engine *engine, const char *name)
{
    hybrid_machine machine = HYBRID_MACHINE_INIT;
    hybrid_file *file;

    if (hybrid_engine_machine(engine, &machine) != HYBRID_OK || machine.host_bytes == 0 ||
        hybrid_file_open(engine, name, &file) != HYBRID_OK)
        return 0; /* reading the file will report the error */
    const hybrid_csr A  = hybrid_file_csr(file);
    const int64_t value = cli_type_bytes(A.type);
    const int64_t bytes = A.rows * 8 + A.nnz * (4 + value);
    hybrid_file_close(file);
    return bytes > (machine.host_bytes - machine.host_bytes_used) / WHOLE_PART;
}
