// Explains for people why nothing could be placed: how many nodes failed which check.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/client/client.h"

// Prints the report on standard error; it names constraints if HTTP gives the job.
enum exit_status refusal_report(
	struct session *, const struct wire_place *, const struct wire_refused *);
enum exit_status refusal_report_json(const struct wire_refused *);
// The job, asked once over HTTP; NULL when that fails. Owned here.
json_t *refusal_report_job(struct session *, const char *id);
void refusal_report_forget(void);
