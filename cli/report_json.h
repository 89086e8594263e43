/* cli/report_json.h - a finished product as one JSON object. */
#ifndef CLI_REPORT_JSON_H
#define CLI_REPORT_JSON_H

#include <stdio.h>

#include "cli/job.h"

void cli_report_write(const cli_job *job, FILE *file);

#endif /* CLI_REPORT_JSON_H */
