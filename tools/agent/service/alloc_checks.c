// What the checks of an allocation's services say.
#include "tools/agent/check/checks.h"
#include "tools/agent/runner.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/task/spec.h"
#include <stdlib.h>
#include <string.h>

struct checks_question {
	struct uuid id;
	char *text; // the answer; NULL: there is no such allocation
};

static void look_at_checks(struct runner *r, void *context)
{
	struct checks_question *question = context;
	const struct alloc_run *a = r->allocs;
	while (a && !uuid_equal(&a->id, &question->id))
		a = a->next;
	if (!a || !a->spec)
		return;
	json_t *all = checks_json(a);
	question->text = spec_dump(all);
	json_decref(all);
}

struct MHD_Response *alloc_checks(struct service_request *request, unsigned *status)
{
	struct checks_question question = {0};
	int error = 0;
	if (uuid_parse(request->id, &question.id))
		error = ask_runner(
			request->settings->ask, look_at_checks, &question, ASK_RUNNER_WAIT_MS);
	if (error)
		return service_say(status, MHD_HTTP_SERVICE_UNAVAILABLE,
			"the agent has no time to answer; try again");
	if (!question.text)
		return service_say(
			status, MHD_HTTP_NOT_FOUND, "Unknown allocation \"%s\"", request->id);
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(question.text), question.text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(question.text);
		return NULL;
	}
	*status = MHD_HTTP_OK;
	service_put_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, SERVICE_JSON);
	return response;
}
