/* cli/options.c - the command line, read by a table of options. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/parse.h"
#include "cli/say.h"

/* ---- what an option does: NULL, or what its value should have been ---------------- */

#define SET_TEXT(field)                                                                  \
    static const char *set_##field(cli_options *o, const char *value)                    \
    {                                                                                    \
        o->field = value;                                                                \
        return value[0] ? NULL : "a name";                                               \
    }
SET_TEXT(output)
SET_TEXT(trace)
SET_TEXT(report)
SET_TEXT(variant)

/* "" is no file. */
static const char *set_rates(cli_options *o, const char *value)
{
    o->rates = value;
    return NULL;
}

#define SET_FLAG(field)                                                                  \
    static const char *set_##field(cli_options *o, const char *value)                    \
    {                                                                                    \
        (void)value;                                                                     \
        o->field = 1;                                                                    \
        return NULL;                                                                     \
    }
SET_FLAG(transpose_b)
SET_FLAG(deterministic)
SET_FLAG(allow_tf32)
SET_FLAG(verify)
SET_FLAG(quiet)
SET_FLAG(help)

static const char *set_dense_cols(cli_options *o, const char *value)
{
    return cli_parse_int(value, 1, INT32_MAX, &o->dense_cols)
               ? NULL
               : "a whole number from 1 to 2147483647";
}

static const char *set_chunk_rows(cli_options *o, const char *value)
{
    return cli_parse_int(value, 1, INT64_MAX, &o->chunk_rows) ? NULL
                                                              : "a whole number above 0";
}

static const char *set_seed(cli_options *o, const char *value)
{
    return cli_parse_seed(value, &o->seed) ? NULL : "a whole number from 0 to 2^64-1";
}

static const char *set_threads(cli_options *o, const char *value)
{
    int64_t n;

    if (!cli_parse_int(value, 1, 65536, &n))
        return "a whole number from 1 to 65536";
    o->threads = (int)n;
    return NULL;
}

static const char *set_device(cli_options *o, const char *value)
{
    int64_t n;

    if (!cli_parse_int(value, 0, 65535, &n))
        return "the number of a CUDA device";
    o->device = (int)n;
    return NULL;
}

static const char *set_devices(cli_options *o, const char *value)
{
    return cli_parse_ints(value, 65535, CLI_DEVICES, o->devices, &o->device_count)
               ? NULL
               : "numbers of up to 16 CUDA devices such as 0,1";
}

#define SIZE_RULE "a size above 0 such as 1000000, 512MiB or 4G"

static const char *set_device_memory(cli_options *o, const char *value)
{
    return cli_parse_size(value, &o->device_bytes) ? NULL : SIZE_RULE;
}

static const char *set_host_memory(cli_options *o, const char *value)
{
    return cli_parse_size(value, &o->host_bytes) ? NULL : SIZE_RULE;
}

static const char *set_type(cli_options *o, const char *value)
{
    static const cli_word words[] = {{"f32", HYBRID_F32}, {"f64", HYBRID_F64}, {0}};
    int found;

    if (!cli_parse_word(value, words, &found))
        return "f32 or f64";
    o->type = (hybrid_type)found;
    return NULL;
}

static const char *set_backend(cli_options *o, const char *value)
{
    static const cli_word words[] = {
        {"auto", HYBRID_AUTO}, {"host", HYBRID_HOST}, {"cuda", HYBRID_CUDA}, {0}};
    int found;

    if (!cli_parse_word(value, words, &found))
        return "auto, host or cuda";
    o->backend = (hybrid_backend)found;
    return NULL;
}

static const char *set_split(cli_options *o, const char *value)
{
    static const cli_word words[] = {{"auto", HYBRID_SPLIT_AUTO},
                                     {"gpu", HYBRID_SPLIT_GPU},
                                     {"host", HYBRID_SPLIT_HOST},
                                     {0}};
    int found                     = HYBRID_SPLIT_SHARE;

    if (!cli_parse_word(value, words, &found) && !cli_parse_share(value, &o->host_share))
        return "auto, gpu, host or the CPU's share from 0 to 1";
    o->split = (hybrid_split)found;
    return NULL;
}

static const char *set_progress(cli_options *o, const char *value)
{
    static const cli_word words[] = {{"auto", CLI_PROGRESS_AUTO},
                                     {"always", CLI_PROGRESS_ALWAYS},
                                     {"never", CLI_PROGRESS_NEVER},
                                     {0}};
    int found;

    if (!cli_parse_word(value, words, &found))
        return "auto, always or never";
    o->progress = (cli_progress_mode)found;
    return NULL;
}

/* ---- the table ------------------------------------------------------------------------
 */

enum {
    PRODUCT  = CLI_MULTIPLY | CLI_EXPLAIN,
    COMPUTES = PRODUCT | CLI_INFO | CLI_GENERATE,
    OPENS    = PRODUCT | CLI_CALIBRATE, /* a backend of the user's choice */
    ALL      = COMPUTES | CLI_CALIBRATE | CLI_LIST
};

typedef struct option_row {
    const char *name;
    char letter;       /* 0 = none */
    const char *value; /* NULL = takes none */
    unsigned commands;
    const char *(*set)(cli_options *o, const char *value);
    const char *help;
} option_row;

static const option_row rows[] = {
    {"output", 'o', "FILE", CLI_MULTIPLY | CLI_GENERATE, set_output,
     "write the result: .mtx, or .npy when it is dense"},
    {"output", 'o', "FILE", CLI_CALIBRATE, set_output,
     "write the rates there, for --rates"},
    {"dense-cols", 0, "N", PRODUCT, set_dense_cols,
     "multiply by a random dense matrix of N columns"},
    {"transpose-b", 0, NULL, PRODUCT, set_transpose_b,
     "multiply by the transpose of B (of A without B)"},
    {"type", 0, "f32|f64", COMPUTES, set_type, "type of values (f64)"},
    {"seed", 0, "S", COMPUTES, set_seed, "seed of everything random (1)"},
    {"backend", 0, "WHERE", OPENS, set_backend,
     "auto, host or cuda (auto: a GPU if one answers)"},
    {"device", 0, "N", OPENS, set_device, "number of the CUDA device (0)"},
    {"devices", 0, "N,N...", PRODUCT, set_devices,
     "several CUDA devices, which compute together"},
    {"variant", 0, "NAME", PRODUCT, set_variant,
     "algorithm, or beginning of its name; see list"},
    {"split", 0, "HOW", PRODUCT, set_split,
     "auto, gpu, host, or the CPU's share of A*X: 0 to 1"},
    {"threads", 0, "N", COMPUTES | CLI_CALIBRATE, set_threads,
     "CPU workers (one a core; three fewer beside a GPU)"},
    {"device-memory", 0, "SIZE", PRODUCT, set_device_memory,
     "most memory of a device to use: 1000000, 512MiB, 4G"},
    {"host-memory", 0, "SIZE", COMPUTES, set_host_memory,
     "most host memory, results included (the machine's or cgroup's)"},
    {"chunk-rows", 0, "N", PRODUCT, set_chunk_rows,
     "rows a chunk (from the work and memory found)"},
    {"rates", 0, "FILE", PRODUCT, set_rates,
     "speeds by calibrate (from the cache folder); '' is built in"},
    {"deterministic", 0, NULL, PRODUCT, set_deterministic, "same bits on every run"},
    {"allow-tf32", 0, NULL, PRODUCT, set_allow_tf32,
     "dense f32 operands may be rounded to TF32"},
    {"verify", 0, NULL, CLI_MULTIPLY, set_verify,
     "check the result by Freivalds' method"},
    {"trace", 0, "FILE", CLI_MULTIPLY, set_trace, "write a timeline for ui.perfetto.dev"},
    {"report", 0, "FILE", CLI_MULTIPLY, set_report,
     "write sizes, times and bytes as JSON; - is stdout"},
    {"progress", 0, "WHEN", CLI_MULTIPLY | CLI_CALIBRATE, set_progress,
     "auto (on a terminal), always or never"},
    {"quiet", 'q', NULL, OPENS | CLI_GENERATE, set_quiet,
     "no notes and no summary on stderr"},
    {"help", 'h', NULL, ALL, set_help, "this text"},
};

enum { ROWS = (int)(sizeof rows / sizeof *rows), FIRST_CODE = 256 };

void cli_options_print(const cli_command *command)
{
    for (int i = 0; i < ROWS; i++) {
        char left[40];
        if (!(rows[i].commands & command->bit))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
                 rows[i].value ? rows[i].value : "");
        printf("  %c%c%c %-22s %s\n", rows[i].letter ? '-' : ' ',
               rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ',' : ' ', left,
               rows[i].help);
    }
}

/* ---- reading
 * ---------------------------------------------------------------------------- */

/* The tables that getopt_long() wants: row i is known by FIRST_CODE + i. */
static void make_tables(const cli_command *command, struct option *longs, char *shorts)
{
    *shorts++ = ':';
    for (int i = 0; i < ROWS; i++) {
        if (!(rows[i].commands & command->bit))
            continue;
        *longs++ =
            (struct option){rows[i].name, rows[i].value != NULL, NULL, FIRST_CODE + i};
        if (rows[i].letter) {
            *shorts++ = rows[i].letter;
            if (rows[i].value)
                *shorts++ = ':';
        }
    }
    *longs  = (struct option){0};
    *shorts = '\0';
}

static const option_row *find_row(int code)
{
    for (int i = 0; i < ROWS; i++)
        if (code == FIRST_CODE + i || code == rows[i].letter)
            return &rows[i];
    return NULL;
}

/* `code` is '?' or ':' after an option that is unknown or incomplete. */
static int fail_option(const cli_command *command, int code, char **argv)
{
    const char *word    = argv[optind - 1];
    const char letter[] = {'-', (char)optopt, '\0'};

    if (strncmp(word, "--", 2) != 0 && optopt > 0 && optopt < FIRST_CODE)
        word = letter; /* one of several in a word */
    if (code == ':')
        return cli_fail(CLI_USAGE, "%s needs a value; see 'hybrid_spmm %s --help'", word,
                        command->name);
    return cli_fail(CLI_USAGE,
                    "%s does not know the option %s; see 'hybrid_spmm %s --help'",
                    command->name, word, command->name);
}

static int take_inputs(const cli_command *command, int count, char **words,
                       cli_options *out)
{
    if (count < command->least || count > command->most)
        return cli_fail(CLI_USAGE, "usage: hybrid_spmm %s%s%s [OPTIONS]; see --help",
                        command->name, command->most ? " " : "", command->arguments);
    for (int i = 0; i < count; i++)
        out->input[i] = words[i];
    return CLI_DONE;
}

int cli_options_parse(const cli_command *command, int argc, char **argv, cli_options *out)
{
    struct option longs[ROWS + 1];
    char shorts[2 * ROWS + 2];
    int code;

    *out   = (cli_options){.seed = 1, .type = HYBRID_F64};
    optind = 1;
    opterr = 0;
    make_tables(command, longs, shorts);
    while ((code = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const option_row *row = find_row(code);
        if (!row)
            return fail_option(command, code, argv);
        const char *rule = row->set(out, optarg);
        if (rule)
            return cli_fail(CLI_USAGE, "--%s takes %s, not '%s'", row->name, rule,
                            optarg);
    }
    if (out->help)
        return CLI_DONE;
    return take_inputs(command, argc - optind, argv + optind, out);
}

int cli_ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}
