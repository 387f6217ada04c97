// A job and counts of its allocations, in the form of Nomad's API. Under read lock.
#pragma once
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

void job_json(struct json_writer *, const struct job *);
// The short form of lists, with the summary. meta: with the job's metadata.
void job_json_stub(struct json_writer *, const struct state *, const struct job *, bool meta);
void job_json_summary(struct json_writer *, const struct state *, const struct job *);
void job_json_scale(struct json_writer *, const struct state *, const struct job *);
// Index of the last change to the job or one of its allocations.
uint64_t job_summary_index(const struct state *, const struct job *);
