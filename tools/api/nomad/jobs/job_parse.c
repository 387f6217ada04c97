// PUT /v1/jobs/parse: what a job file says, as a job; registers nothing. {"JobHCL": …, "Variables": …,
// "Canonicalize": …}.
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/body.h"
#include "tools/jobfile/jobfile.h"
#include <stdlib.h>

static struct text text_member(const json_t *body, const char *member)
{
	const json_t *text = json_object_get(body, member);
	return (struct text){json_string_value(text), (uint32_t)json_string_length(text)};
}

// Whether each member is of its kind. False with a reply.
static bool body_is_fit(const json_t *body, struct reply *reply)
{
	static const char *const texts[] = {"JobHCL", "Variables"};
	static const char *const flags[] = {"Canonicalize", "hclv1"};
	for (uint32_t i = 0; i < 2; i++) {
		const json_t *text = json_object_get(body, texts[i]);
		const json_t *flag = json_object_get(body, flags[i]);
		if (!json_is_absent(text) && !json_is_string(text))
			return reply_mistake(reply, "%s is to be a string", texts[i]);
		if (!json_is_absent(flag) && !json_is_boolean(flag))
			return reply_mistake(reply, "%s is to be true or false", flags[i]);
	}
	if (json_is_true(json_object_get(body, "hclv1")))
		return reply_mistake(reply, "job files of HCL 1 are not read");
	if (!text_member(body, "JobHCL").size)
		return reply_mistake(reply, "Job spec is empty");
	return true;
}

static void put_job(struct request *request, struct reply *reply, const json_t *job)
{
	struct json_writer *w = reply_json(request, reply);
	char *text = json_dumps(job, JSON_COMPACT);
	json_write_raw(w, text ? text_of(text) : TEXT("null"));
	free(text);
}

static void parse_job(struct request *request, struct reply *reply)
{
	static const char *const values_name = "input.hcl";
	json_t *body = body_read_some(request, reply);
	if (!body)
		return;
	if (!body_is_fit(body, reply)) {
		json_decref(body);
		return;
	}
	struct text values = text_member(body, "Variables");
	struct jobfile file = {.name = "input.hcl",
		.text = text_member(body, "JobHCL"),
		.value_files = &values,
		.value_file_names = &values_name,
		.value_file_count = values.size > 0,
		.lenient = true};
	char *message;
	json_t *job = jobfile_read(&file, &message);
	if (!job) {
		reply_mistake(reply, "Failed to parse job: %s", message);
		free(message);
	} else {
		if (json_is_true(json_object_get(body, "Canonicalize")))
			jobfile_canonicalize(job);
		put_job(request, reply, job);
		json_decref(job);
	}
	json_decref(body);
}

// A file that its author made to take long holds up no other connection.
void jobs_parse(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, parse_job);
}
