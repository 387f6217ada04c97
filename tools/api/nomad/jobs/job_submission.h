// Reads jobs from the bodies of requests, and answers with their mistakes.
#pragma once
#include "tools/api/server/request.h"
#include "tools/forms/job_body.h"

// Reads the body into the request's context; NULL with a reply when it is no JSON of a job.
struct job_body *job_submission_read(struct request *, struct reply *);
// Adds mistakes by the rules for a new version of a stored job.
void job_submission_check_update(const struct request *, struct job_body *);
// Whether evaluations may have this priority (0: the job's own); false with a reply.
bool eval_priority_fits(int64_t priority, struct reply *);
// False, with all mistakes in the reply, when the job may not be registered; without_id: what is said when the body has
// no id.
bool job_submission_is_valid(
	struct request *, const struct job_body *, const char *without_id, struct reply *);
// Member "Warnings".
void job_warnings_json(struct json_writer *, const struct json_sentences *);
