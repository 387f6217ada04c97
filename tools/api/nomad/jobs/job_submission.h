// Jobs in the bodies of requests: reads one, and answers with its mistakes.
#pragma once
#include "tools/api/server/request.h"
#include "tools/forms/job_body.h"

// The body, read into the request's context; NULL with a reply when it is no such JSON.
struct job_body *job_submission_read(struct request *, struct reply *);
// Adds what the rules for a new version of a stored job say.
void job_submission_check_update(const struct request *, struct job_body *);
// Whether evaluations may have this priority, 0 being the job's own; else the reply says so.
bool eval_priority_fits(int64_t priority, struct reply *);
// False, with all mistakes in the reply, when the job may not be registered; path_names: the path
// must have the job's id.
bool job_submission_is_valid(struct request *, const struct job_body *, struct reply *);
// Member "Warnings".
void job_warnings_json(struct json_writer *, const struct json_sentences *);
