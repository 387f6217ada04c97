// A job and what became of its allocations, as Nomad's API shows them. Under read lock.
#pragma once
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

void job_json(struct json_writer *, const struct job *);
// The short form of lists, with the summary.
// meta: with the metadata of the job.
void job_json_stub(struct json_writer *, const struct state *, const struct job *, bool meta);
void job_json_summary(struct json_writer *, const struct state *, const struct job *);
void job_json_scale(struct json_writer *, const struct state *, const struct job *);
// When the job, or one of its allocations, last changed.
uint64_t job_summary_index(const struct state *, const struct job *);
