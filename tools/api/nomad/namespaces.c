// Namespaces: those of jobs, and the one that always exists.
#include "tools/api/nomad/namespaces.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/request.h"

#define USUAL "default"
// Jobs that one read section visits.
#define JOBS_PER_SECTION 1024u

static void namespaces_collect(const struct state *state, struct name_set *namespaces)
{
	uint64_t cursor = 0;
	const struct job *job;
	name_set_add(namespaces, USUAL);
	do {
		state_read_begin();
		for (uint32_t i = 0; i < JOBS_PER_SECTION; i++) {
			job = state_next(state, STATE_JOBS, &cursor);
			if (!job)
				break;
			name_set_add(namespaces, job->namespace_name);
		}
		state_read_end();
	} while (job);
}

static void put_namespace(struct json_writer *w, const struct request *request, const char *name)
{
	json_begin_object(w);
	json_put_string(w, "Name", name);
	json_put_string(
		w, "Description", strcmp(name, USUAL) == 0 ? "Default shared namespace" : "");
	json_put_string(w, "Quota", "");
	json_put_null(w, "Capabilities");
	json_put_null(w, "NodePoolConfiguration");
	json_put_null(w, "Meta");
	json_put_string(w, "Hash", "");
	json_put_u64(w, "CreateIndex", 1);
	json_put_u64(w, "ModifyIndex", 1);
	json_end_object(w);
}

static bool may_see(const struct request *request, const char *name)
{
	const struct acl *acl = request_acl(request);
	return !acl || acl_shows_namespace(acl, name);
}

void namespaces_collect_visible(const struct request *request, struct name_set *namespaces)
{
	namespaces_collect(request->api->settings.state, namespaces);
	name_set_keep(namespaces, request, may_see);
}

void namespaces_list(struct request *request, struct reply *reply)
{
	struct name_set namespaces = {0};
	uint64_t index = list_index(request);
	namespaces_collect_visible(request, &namespaces);
	if (name_set_answer(&namespaces, request, reply, put_namespace))
		reply_index(reply, index ? index : 1);
	name_set_free(&namespaces);
}

void namespace_read(struct request *request, struct reply *reply)
{
	struct name_set namespaces = {0};
	uint64_t index = state_index(request->api->settings.state);
	namespaces_collect(request->api->settings.state, &namespaces);
	if (!may_see(request, request->ids[0]))
		reply_denied(reply);
	else if (name_set_has(&namespaces, request->ids[0]))
		put_namespace(reply_json(request, reply), request, request->ids[0]);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "Namespace not found");
	name_set_free(&namespaces);
	reply_index(reply, index);
}
