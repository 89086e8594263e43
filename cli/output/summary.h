/* cli/output/summary.h - prints a finished product in a few lines. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/commands/job.h"

/* Prints the summary of a finished product on stderr. */
void cli_summary_print(const cli_job *job);

#endif /* CLI_SUMMARY_H */
