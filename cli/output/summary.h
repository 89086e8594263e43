/* cli/output/summary.h - prints the summary of a finished product. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "cli/commands/job.h"

/* Prints shapes, times, bytes and memory of a finished product in a few lines on
   stderr. */
void cli_summary_print(const cli_job *job);

#endif /* CLI_SUMMARY_H */
