/* cli/trace/chart.h - prints the run of a trace as a compact Gantt chart of letters. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdio.h>

#include "cli/trace/trace_file.h"

/* Prints the chart, at most `columns` characters wide if names of lanes are short. Each
   lane that the run uses is one line. A capital letter stands for a stage that took at
   least half of its cell's time together with others of the lane, a small letter for
   less, and a dot for a cell without a stage. */
void cli_chart_print(const cli_trace *trace, int columns, FILE *to);

#endif /* CLI_CHART_H */
