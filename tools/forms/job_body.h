// Reads a job from the body of a request.
#pragma once
#include "state/records/job.h"
#include "tools/json/json_reader.h"

struct job_body {
	struct job *job; // read, canonical and checked; NULL on failure
	bool enforce_index, preserve_counts;
	uint64_t job_modify_index;
	uint64_t eval_priority;        // 0: the job's
	bool diff;                     // of a plan
	struct json_report report;     // warnings, and mistakes of form
	struct json_sentences invalid; // mistakes that validation found
};

// Reads {"Job": {…}, …}. A namespace that is not NULL or empty is the job's, whatever the body says. False, and a
// sentence, when the body is no such JSON; true otherwise, also when the report has errors. Free in any case.
bool job_body_read(const char *body, size_t size, const char *namespace_name, struct job_body *,
	char *message, size_t message_size);
void job_body_free(struct job_body *);
// True when there is no mistake of either kind: the job may be registered.
bool job_body_is_valid(const struct job_body *);
