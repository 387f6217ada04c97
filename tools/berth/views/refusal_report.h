// Why nothing could be placed, for people: how many nodes failed at what.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/client/client.h"

// Prints the report on standard error; constraints are named when the job can be looked up over
// HTTP.
enum exit_status refusal_report(
	struct session *, const struct wire_place *, const struct wire_refused *);
enum exit_status refusal_report_json(const struct wire_refused *);
// The job over HTTP, looked up once; NULL when it cannot be. Owned here.
json_t *refusal_report_job(struct session *, const char *id);
void refusal_report_forget(void);
