// PUT /v1/validate/job: reports every mistake of a job; registers nothing.
#include "tools/api/nomad/jobs/job_submission.h"
#include "tools/api/nomad/jobs/routes.h"
#include "tools/api/server/request.h"
#include <stdlib.h>

static void put_sentences(struct json_writer *w, const char *key, const struct json_sentences *s)
{
	if (!json_open_array_if(w, key, s->count > 0))
		return;
	for (uint32_t i = 0; i < s->count && i < JSON_SENTENCES_MAX; i++)
		json_write_string(w, s->texts[i]);
	json_end_array(w);
}

void job_validate(struct request *request, struct reply *reply)
{
	const struct job_body *read = job_submission_read(request, reply);
	if (!read)
		return;
	const struct json_sentences *mistakes =
		read->report.errors.count ? &read->report.errors : &read->invalid;
	char *text = mistakes->count ? json_sentences_text(mistakes, "error") : NULL;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_bool(w, "DriverConfigValidated", true);
	put_sentences(w, "ValidationErrors", mistakes);
	json_put_string(w, "Error", text);
	job_warnings_json(w, &read->report.warnings);
	json_end_object(w);
	free(text);
}
