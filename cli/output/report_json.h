/* cli/output/report_json.h - writes the report of a finished product as one JSON
   object. */
#ifndef CLI_REPORT_JSON_H
#define CLI_REPORT_JSON_H

#include <stdio.h>

#include "cli/commands/job.h"
#include "cli/output/json.h"

/* Writes the job with its plan, report and times. `details` is the text of
   hybrid_plan_details(), or NULL if no plan of the job exists. */
void cli_report_write(const cli_job *job, const char *details, FILE *file);

/* Writes how much the run used each resource, as fields of the object `json`. */
void cli_report_usage(cli_json *json, const hybrid_report *report);

#endif /* CLI_REPORT_JSON_H */
