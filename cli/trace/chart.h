/* cli/trace/chart.h - prints the run of a trace as a compact Gantt chart of letters. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include <stdio.h>

#include "cli/trace/trace_file.h"

/* Prints the chart, at most `columns` characters wide if names of lanes are short. Each
   lane that the run uses is one line of cells (characters, each for an equal part of the
   run). A cell has the letter of the stage that took most of its time: a capital letter
   if stages took at least half of it, a small one if less, a dot if none took any. */
void cli_chart_print(const cli_trace *trace, int columns, FILE *to);

#endif /* CLI_CHART_H */
