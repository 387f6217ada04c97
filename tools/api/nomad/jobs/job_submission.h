// Jobs in the bodies of requests: reading one, and saying what is wrong with it.
#pragma once
#include "tools/api/server/request.h"
#include "tools/forms/job_request.h"

// The body, read into the request's context; NULL with a reply when it is no such JSON.
struct job_request *job_submission_read(struct request *, struct reply *);
// Adds what the rules for a new version of a stored job say.
void job_submission_check_update(const struct request *, struct job_request *);
// Whether evaluations may have this priority, 0 being the job's own; else the reply says so.
bool eval_priority_fits(int64_t priority, struct reply *);
// False, with all mistakes in the reply, when the job may not be registered; path_names: the path
// must have the job's id.
bool job_submission_is_valid(struct request *, const struct job_request *, struct reply *);
// Member "Warnings".
void job_warnings_json(struct json_writer *, const struct json_sentences *);
