/* cli/options/kinds.h - kinds of option values: how to read and complete them. */
#ifndef CLI_KINDS_H
#define CLI_KINDS_H

#include <stddef.h>

#include "cli/options/parse.h"
#include "hybrid_spmm.h"

enum { CLI_DEVICES = 16 };

/* Value of --split: whether CPU or GPU computes, and the share of the CPU. */
typedef struct cli_split {
    hybrid_split how;
    double host_share; /* share of the CPU, 0 to 1, if `how` is HYBRID_SPLIT_SHARE */
} cli_split;

typedef struct cli_devices {
    int numbers[CLI_DEVICES];
    int count; /* number of devices; 0 if --devices was not given */
} cli_devices;

/* Value of --rows: rows [begin, end). end 0 stands for all rows from `begin` on. */
typedef struct cli_range {
    int64_t begin, end;
} cli_range;

/* Value of --format; 0 if it was not given. */
typedef enum cli_format {
    CLI_FORMAT_MTX = 1, /* Matrix Market, for sparse results */
    CLI_FORMAT_NPY      /* NumPy, for dense results */
} cli_format;

typedef enum cli_completion {
    CLI_COMPLETES_WORDS, /* the value is completed to a word of cli_kind.words, or not if
                            there are none */
    CLI_COMPLETES_FILES,
    CLI_COMPLETES_VARIANTS /* the value is completed to a name of hybrid_variant_at() */
} cli_completion;

typedef struct cli_kind {
    const char *placeholder; /* name of the value in help: "FILE"; NULL for a flag */
    const char *rule; /* end of the sentence "--type takes ..."; NULL if every text is
                         valid */

    /* Parses `text` and stores the value in *field, a field of cli_options with the type
       below. Returns 0 if `text` breaks the rule. */
    int (*read)(const struct cli_kind *kind, const char *text, void *field);

    const cli_word *words; /* the valid words with their values; NULL if the value is no
                              word of a list */
    cli_completion completion;
    int64_t least, most; /* range of values that are whole numbers */
} cli_kind;

/* Kinds of values, each with the type of the field of cli_options in which the value is
   stored. A word is stored as its cli_word.value. */
extern const cli_kind cli_kind_flag;     /* field: int */
extern const cli_kind cli_kind_file;     /* field: const char *, not empty */
extern const cli_kind cli_kind_folder;   /* field: const char *, not empty */
extern const cli_kind cli_kind_rates;    /* field: const char *; "" means no file */
extern const cli_kind cli_kind_variant;  /* field: const char * */
extern const cli_kind cli_kind_columns;  /* field: int64_t, 1 to 2^31-1 */
extern const cli_kind cli_kind_rows;     /* field: int64_t, 1 to 2^63-1 */
extern const cli_kind cli_kind_threads;  /* field: int64_t, 1 to 65536 */
extern const cli_kind cli_kind_calls;    /* field: int64_t, 1 to 1000000 */
extern const cli_kind cli_kind_device;   /* field: int64_t, 0 to 65535 */
extern const cli_kind cli_kind_devices;  /* field: cli_devices */
extern const cli_kind cli_kind_seed;     /* field: uint64_t */
extern const cli_kind cli_kind_size;     /* field: size_t, bytes above 0 */
extern const cli_kind cli_kind_split;    /* field: cli_split */
extern const cli_kind cli_kind_type;     /* field: hybrid_type */
extern const cli_kind cli_kind_format;   /* field: cli_format */
extern const cli_kind cli_kind_range;    /* field: cli_range */
extern const cli_kind cli_kind_index;    /* field: hybrid_index */
extern const cli_kind cli_kind_compress; /* field: hybrid_compression */
extern const cli_kind cli_kind_backend;  /* field: hybrid_backend */
extern const cli_kind cli_kind_progress; /* field: cli_progress_mode */

#endif /* CLI_KINDS_H */
