// An allocation as Nomad's API shows it. Under read lock.
#pragma once
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

// The short form of lists.
void allocation_json_stub(
	struct json_writer *, const struct state *, const struct allocation *, bool resources);
void allocation_json(struct json_writer *, const struct state *, const struct allocation *);
// The form for events, without the job.
void allocation_json_without_job(
	struct json_writer *, const struct state *, const struct allocation *);
