/* cli/command.h - the commands of hybrid_spmm. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

typedef struct cli_options cli_options;

/* Which commands an option applies to. */
enum {
    CLI_MULTIPLY = 1u << 0,
    CLI_EXPLAIN  = 1u << 1,
    CLI_INFO     = 1u << 2,
    CLI_LIST     = 1u << 3,
    CLI_GENERATE = 1u << 4,
    CLI_CALIBRATE = 1u << 5
};

typedef struct cli_command {
    const char *name;
    int (*run)(const cli_options *options); /* returns the exit code */
    const char *summary;
    const char *arguments; /* "A [B]" */
    int least, most;       /* how many */
    unsigned bit;
    const char *details; /* of its help */
} cli_command;

int cli_multiply(const cli_options *options);
int cli_explain(const cli_options *options);
int cli_info(const cli_options *options);
int cli_list(const cli_options *options);
int cli_generate(const cli_options *options);
int cli_calibrate(const cli_options *options);

#endif /* CLI_COMMAND_H */
