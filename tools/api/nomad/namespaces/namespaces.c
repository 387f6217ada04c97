// Namespaces as they are shown: those that operators described, and the one that is always there.
#include "tools/api/nomad/namespaces/namespaces.h"
#include "tools/api/nomad/namespaces/namespace_json.h"
#include "tools/api/nomad/namespaces/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/blocking_query.h"

static void namespaces_collect(const struct state *state, struct name_set *namespaces)
{
	const struct job_namespace *n;
	uint64_t cursor = 0;
	name_set_add(namespaces, NAMESPACE_DEFAULT);
	state_read_begin();
	while ((n = state_next(state, STATE_NAMESPACES, &cursor)))
		name_set_add(namespaces, n->name);
	state_read_end();
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

// Nothing, when it is gone since the names were collected.
static void put_namespace(struct json_writer *w, const struct request *request, const char *name)
{
	const struct job_namespace *n =
		state_namespace(request->api->settings.state, text_of(name));
	if (n)
		namespace_json(w, n);
	else if (namespace_is_built_in(text_of(name)))
		namespace_json_built_in(w);
}

uint64_t namespaces_watched(const struct request *request)
{
	uint64_t index = table_index(request, STATE_NAMESPACES);
	return index ? index : 1;
}

void namespaces_list(struct request *request, struct reply *reply)
{
	struct name_set namespaces = {0};
	uint64_t index = list_index(request);
	namespaces_collect_visible(request, &namespaces);
	if (name_set_answer(&namespaces, request, reply, put_namespace))
		reply_index(reply, index);
	name_set_free(&namespaces);
}

uint64_t namespace_watched(const struct request *request)
{
	const struct job_namespace *n =
		state_namespace(request->api->settings.state, text_of(request->ids[0]));
	return n ? n->record.modify_index : namespaces_watched(request);
}

void namespace_read(struct request *request, struct reply *reply)
{
	const char *name = request->ids[0];
	if (!may_see(request, name)) {
		reply_denied(reply);
		return;
	}
	state_read_begin();
	if (state_has_namespace(request->api->settings.state, text_of(name)))
		put_namespace(reply_json(request, reply), request, name);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "Namespace not found");
	reply_index(reply, namespace_watched(request));
	state_read_end();
}
