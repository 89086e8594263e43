/* cli/options/kinds.h - kinds of option values: how to read and complete them. */
#ifndef CLI_KINDS_H
#define CLI_KINDS_H

#include <stddef.h>

#include "cli/options/parse.h"
#include "hybrid_spmm.h"

enum { CLI_DEVICES = 16 };

/* Values of --split and --devices. */
typedef struct cli_split {
    hybrid_split how;
    double host_share; /* the share of the CPU, 0 to 1, with HYBRID_SPLIT_SHARE */
} cli_split;

typedef struct cli_devices {
    int numbers[CLI_DEVICES];
    int count; /* 0 if --devices was not given */
} cli_devices;

/* Values of --format; 0 if it was not given. */
typedef enum cli_format {
    CLI_FORMAT_MTX = 1, /* Matrix Market, for sparse results */
    CLI_FORMAT_NPY      /* NumPy, for dense results */
} cli_format;

typedef enum cli_completion {
    CLI_COMPLETES_WORDS, /* cli_kind.words, if there are any */
    CLI_COMPLETES_FILES,
    CLI_COMPLETES_VARIANTS /* names of hybrid_variant_at() */
} cli_completion;

typedef struct cli_kind {
    const char *placeholder; /* name of the value in help: "FILE"; NULL for a flag */
    const char *rule; /* the rest of "--type takes ..."; NULL if every text is valid */

    /* Reads `text` into the option's field, whose type depends on the kind. Returns 0 if
       `text` breaks the rule. */
    int (*read)(const struct cli_kind *kind, const char *text, void *field);

    const cli_word *words; /* valid words; or NULL */
    cli_completion completion;
    int64_t least, most; /* range of whole numbers */
} cli_kind;

/* Each kind is listed with the type of its field. A word is stored as its
   cli_word.value. */
extern const cli_kind cli_kind_flag;     /* int */
extern const cli_kind cli_kind_file;     /* const char *, not empty */
extern const cli_kind cli_kind_rates;    /* const char *; "" means no file */
extern const cli_kind cli_kind_variant;  /* const char * */
extern const cli_kind cli_kind_columns;  /* int64_t, 1 to 2^31-1 */
extern const cli_kind cli_kind_rows;     /* int64_t, 1 to 2^63-1 */
extern const cli_kind cli_kind_threads;  /* int64_t, 1 to 65536 */
extern const cli_kind cli_kind_calls;    /* int64_t, 1 to 1000000 */
extern const cli_kind cli_kind_device;   /* int64_t, 0 to 65535 */
extern const cli_kind cli_kind_devices;  /* cli_devices */
extern const cli_kind cli_kind_seed;     /* uint64_t */
extern const cli_kind cli_kind_size;     /* size_t, bytes above 0 */
extern const cli_kind cli_kind_split;    /* cli_split */
extern const cli_kind cli_kind_type;     /* hybrid_type */
extern const cli_kind cli_kind_format;   /* cli_format */
extern const cli_kind cli_kind_backend;  /* hybrid_backend */
extern const cli_kind cli_kind_progress; /* cli_progress_mode */

#endif /* CLI_KINDS_H */
