// Jobs that are scheduled, for tests: registering them, and waiting for their evaluations.
// All of it talks to the server of the group.
#pragma once
#include "tests/tools/api/server.h"

const char *member_text(json_t *object, const char *name); // "" when there is none
json_int_t member_number(json_t *object, const char *name);
// An asterisk in the pattern of a path stands for the id.
json_t *api_get(const char *pattern, const char *id);
json_t *api_put(const char *pattern, const char *id, const char *body);
// A request with a job of one group "g" with one task of 100 MHz. Valid until the next call.
const char *job_body(const char *id, const char *type, const char *env, int memory_mb);
// The evaluation once it is worked off.
json_t *await_evaluation(const char *id);
// Registers and waits; returns the evaluation, which must be complete.
json_t *run_job(const char *body);
// Fails unless the answer has the status and, somewhere in its body, the text.
void expect_answer(
	const char *method, const char *path, const char *body, long status, const char *part);
