/* cli/options/kinds.c - kinds of option values. */
#include "cli/options/kinds.h"

#include "cli/options/types.h"
#include "cli/output/progress.h"

/* ---- reading ---------------------------------------------------------------------- */

static int read_flag(const cli_kind *kind, const char *text, void *field)
{
    (void)kind, (void)text;
    *(int *)field = 1;
    return 1;
}

static int read_text(const cli_kind *kind, const char *text, void *field)
{
    (void)kind;
    *(const char **)field = text;
    return 1;
}

static int read_name(const cli_kind *kind, const char *text, void *field)
{
    return read_text(kind, text, field) && text[0];
}

static int read_word(const cli_kind *kind, const char *text, void *field)
{
    return cli_parse_word(text, kind->words, field);
}

static int read_whole(const cli_kind *kind, const char *text, void *field)
{
    return cli_parse_int(text, kind->least, kind->most, field);
}

static int read_devices(const cli_kind *kind, const char *text, void *field)
{
    cli_devices *devices = field;

    (void)kind;
    return cli_parse_ints(text, 65535, CLI_DEVICES, devices->numbers, &devices->count);
}

static int read_seed(const cli_kind *kind, const char *text, void *field)
{
    (void)kind;
    return cli_parse_seed(text, field);
}

static int read_size(const cli_kind *kind, const char *text, void *field)
{
    (void)kind;
    return cli_parse_size(text, field);
}

static int read_split(const cli_kind *kind, const char *text, void *field)
{
    cli_split *split = field;
    int how          = HYBRID_SPLIT_SHARE;

    if (!cli_parse_word(text, kind->words, &how) &&
        !cli_parse_share(text, &split->host_share))
        return 0;
    split->how = (hybrid_split)how;
    return 1;
}

static int read_range(const cli_kind *kind, const char *text, void *field)
{
    cli_range *range = field;

    (void)kind;
    return cli_parse_range(text, &range->begin, &range->end);
}

/* ---- words ------------------------------------------------------------------------ */

static const cli_word formats[] = {{"mtx", CLI_FORMAT_MTX}, {"npy", CLI_FORMAT_NPY}, {0}};
static const cli_word bits[]    = {{"32", HYBRID_I32}, {"64", HYBRID_I64}, {0}};
static const cli_word packings[] = {
    {"none", HYBRID_STORED}, {"deflate", HYBRID_DEFLATE}, {"zstd", HYBRID_ZSTD}, {0}};
static const cli_word backends[] = {
    {"auto", HYBRID_AUTO}, {"host", HYBRID_HOST}, {"cuda", HYBRID_CUDA}, {0}};
static const cli_word splits[] = {{"auto", HYBRID_SPLIT_AUTO},
                                  {"gpu", HYBRID_SPLIT_GPU},
                                  {"host", HYBRID_SPLIT_HOST},
                                  {0}};
static const cli_word times[]  = {{"auto", CLI_PROGRESS_AUTO},
                                  {"always", CLI_PROGRESS_ALWAYS},
                                  {"never", CLI_PROGRESS_NEVER},
                                  {0}};

/* ---- kinds ------------------------------------------------------------------------ */

const cli_kind cli_kind_flag   = {.read = read_flag};
const cli_kind cli_kind_file   = {.placeholder = "FILE",
                                  .rule        = "a name",
                                  .read        = read_name,
                                  .completion  = CLI_COMPLETES_FILES};
const cli_kind cli_kind_folder = {.placeholder = "DIR",
                                  .rule        = "a name",
                                  .read        = read_name,
                                  .completion  = CLI_COMPLETES_FILES};
const cli_kind cli_kind_rates  = {
     .placeholder = "FILE", .read = read_text, .completion = CLI_COMPLETES_FILES};
const cli_kind cli_kind_variant = {.placeholder = "NAME",
                                   .rule        = "a name",
                                   .read        = read_name,
                                   .completion  = CLI_COMPLETES_VARIANTS};
const cli_kind cli_kind_columns = {.placeholder = "N",
                                   .rule        = "a whole number from 1 to 2147483647",
                                   .read        = read_whole,
                                   .least       = 1,
                                   .most        = INT32_MAX};
const cli_kind cli_kind_rows    = {.placeholder = "N",
                                   .rule        = "a whole number above 0",
                                   .read        = read_whole,
                                   .least       = 1,
                                   .most        = INT64_MAX};
const cli_kind cli_kind_threads = {.placeholder = "N",
                                   .rule        = "a whole number from 1 to 65536",
                                   .read        = read_whole,
                                   .least       = 1,
                                   .most        = 65536};
const cli_kind cli_kind_calls   = {.placeholder = "N",
                                   .rule        = "a whole number from 1 to 1000000",
                                   .read        = read_whole,
                                   .least       = 1,
                                   .most        = 1000000};
const cli_kind cli_kind_device  = {.placeholder = "N",
                                   .rule        = "the number of a CUDA device",
                                   .read        = read_whole,
                                   .most        = 65535};
const cli_kind cli_kind_devices = {.placeholder = "N,N...",
                                   .rule = "numbers of up to 16 CUDA devices such as 0,1",
                                   .read = read_devices};
const cli_kind cli_kind_seed    = {
       .placeholder = "S", .rule = "a whole number from 0 to 2^64-1", .read = read_seed};
const cli_kind cli_kind_size   = {.placeholder = "SIZE",
                                  .rule = "a size above 0 such as 1000000, 64MB, 512MiB "
                                            "or 0.5G",
                                  .read = read_size};
const cli_kind cli_kind_split  = {.placeholder = "HOW",
                                  .rule = "auto, gpu, host or the CPU's share from 0 to 1",
                                  .read = read_split,
                                  .words = splits};
const cli_kind cli_kind_type   = {.placeholder = "f32|f64",
                                  .rule        = "f32 or f64",
                                  .read        = read_word,
                                  .words       = cli_types};
const cli_kind cli_kind_format = {
    .placeholder = "mtx|npy", .rule = "mtx or npy", .read = read_word, .words = formats};
const cli_kind cli_kind_range = {.placeholder = "A:B",
                                 .rule = "a range of at least one row such as 0:1000",
                                 .read = read_range};
const cli_kind cli_kind_index = {
    .placeholder = "32|64", .rule = "32 or 64", .read = read_word, .words = bits};
const cli_kind cli_kind_compress = {.placeholder = "HOW",
                                    .rule        = "none, deflate or zstd",
                                    .read        = read_word,
                                    .words       = packings};
const cli_kind cli_kind_backend  = {.placeholder = "WHERE",
                                    .rule        = "auto, host or cuda",
                                    .read        = read_word,
                                    .words       = backends};
const cli_kind cli_kind_progress = {.placeholder = "WHEN",
                                    .rule        = "auto, always or never",
                                    .read        = read_word,
                                    .words       = times};
