// PUT /v1/search: whole ids from the beginning of one, for Nomad's `status` command.
#include "tools/api/handlers.h"
#include "tools/api/json_reader.h"
#include <strings.h>

// Matches of one kind that are answered; more are only said to exist.
#define MATCHES_MAX 20u
#define STEPS_PER_SECTION 4096u

struct search {
	const struct state *state;
	struct json_writer *writer;
	const char *prefix, *namespace_name;
	uint64_t cursor;
	uint32_t found;
};

// Looks at one record; false at the end. Writes the id when it fits. Under read lock.
typedef bool search_step(struct search *);

static bool id_begins(const struct uuid *id, const char *prefix)
{
	char text[UUID_TEXT_BYTES];
	return strncasecmp(uuid_format(id, text), prefix, strlen(prefix)) == 0;
}

static void found_id(struct search *s, const struct uuid *id)
{
	if (id_begins(id, s->prefix) && s->found++ < MATCHES_MAX)
		json_write_uuid(s->writer, id);
}

static bool step_nodes(struct search *s)
{
	if (s->cursor >= state_node_slots(s->state))
		return false;
	const struct node *node = state_node_at(s->state, (uint32_t)s->cursor++);
	if (node)
		found_id(s, &node->id);
	return true;
}

static bool step_allocations(struct search *s)
{
	const struct allocation *a = state_next_allocation(s->state, &s->cursor);
	if (a && strcmp(a->job->namespace_name, s->namespace_name) == 0)
		found_id(s, &a->id);
	return a != NULL;
}

static bool step_jobs(struct search *s)
{
	const struct job *job = state_next_job(s->state, &s->cursor);
	if (job && strcmp(job->namespace_name, s->namespace_name) == 0 &&
		strncmp(job->id, s->prefix, strlen(s->prefix)) == 0 && s->found++ < MATCHES_MAX)
		json_write_string(s->writer, job->id);
	return job != NULL;
}

static const struct {
	const char *name;
	search_step *step;
} contexts[] = {
	{"jobs", step_jobs},
	{"nodes", step_nodes},
	{"allocs", step_allocations},
};
#define CONTEXTS (sizeof contexts / sizeof contexts[0])

static void walk(struct search *s, search_step *step)
{
	bool goes_on = true;
	while (goes_on && s->found <= MATCHES_MAX) {
		state_read_begin();
		for (uint32_t i = 0; i < STEPS_PER_SECTION && goes_on; i++)
			goes_on = step(s);
		state_read_end();
	}
}

static void answer(
	struct request *request, struct reply *reply, const char *prefix, const char *context)
{
	const struct state *state = request->api->settings.state;
	bool truncated[CONTEXTS] = {false};
	uint64_t index = state_index(state);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_write_key(w, "Matches");
	json_begin_object(w);
	for (size_t i = 0; i < CONTEXTS; i++) {
		if (*context && strcmp(context, "all") != 0 &&
			strcmp(context, contexts[i].name) != 0)
			continue;
		struct search search = {state, w, prefix, request_namespace(request), 0, 0};
		json_write_key(w, contexts[i].name);
		json_begin_array(w);
		walk(&search, contexts[i].step);
		json_end_array(w);
		truncated[i] = search.found > MATCHES_MAX;
	}
	json_end_object(w);
	json_write_key(w, "Truncations");
	json_begin_object(w);
	for (size_t i = 0; i < CONTEXTS; i++)
		json_put_bool(w, contexts[i].name, truncated[i]);
	json_end_object(w);
	json_put_u64(w, "Index", index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", true);
	json_end_object(w);
	reply_index(reply, index);
}

void search(struct request *request, struct reply *reply)
{
	char message[512];
	json_t *root = json_parse(request->body, request->body_size, message, sizeof message);
	const char *prefix = json_string_value(json_object_get(root, "Prefix"));
	const char *context = json_string_value(json_object_get(root, "Context"));
	if (!root)
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s", message);
	else if (!prefix)
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "Prefix: a string is expected");
	else
		answer(request, reply, prefix, context ? context : "");
	json_decref(root);
}
