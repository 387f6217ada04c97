// PUT /v1/search: completes ids, for Nomad's `status` command.
// PUT /v1/search/fuzzy: finds names by a part of them.
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/request.h"
#include <stdio.h>
#include <strings.h>

// Matches of one kind in an answer; it only says that there are more.
#define MATCHES_MAX 20u
#define STEPS_PER_SECTION 4096u
// Least length of a part of a name.
#define FUZZY_BYTES_MIN 2u

struct search {
	const struct state *state;
	struct json_writer *writer;
	const char *text, *namespace_name; // namespace "*" is all
	bool fuzzy;
	uint64_t cursor;
	uint32_t found;
};

// Visits one record and writes it if it fits; false at the end. Under read lock.
typedef bool search_step(struct search *);

// Opens the list at the first match. True when there is room for one more match.
static bool begin_match(struct search *s)
{
	if (s->found++ == 0)
		json_begin_array(s->writer);
	return s->found <= MATCHES_MAX;
}

// Writes the name of a fuzzy match and its place: {"ID": "web", "Scope": ["default", "web"]}.
static void put_fuzzy(
	struct search *s, const char *name, const char *namespace_name, const char *id)
{
	struct json_writer *w = s->writer;
	json_begin_object(w);
	json_put_string(w, "ID", name);
	json_open_array(w, "Scope");
	if (namespace_name)
		json_write_string(w, namespace_name);
	json_write_string(w, id);
	json_end_array(w);
	json_end_object(w);
}

static void match_id(
	struct search *s, const struct uuid *id, const char *name, const char *namespace_name)
{
	char text[UUID_TEXT_BYTES];
	uuid_format(id, text);
	if (s->fuzzy) {
		if (name && strcasestr(name, s->text) && begin_match(s))
			put_fuzzy(s, name, namespace_name, text);
	} else if (strncasecmp(text, s->text, strlen(s->text)) == 0 && begin_match(s)) {
		json_write_string(s->writer, text);
	}
}

static bool shows(const struct search *s, const char *namespace_name)
{
	return strcmp(s->namespace_name, "*") == 0 ||
	       strcmp(s->namespace_name, namespace_name) == 0;
}

static bool step_nodes(struct search *s)
{
	if (s->cursor >= state_node_slots(s->state))
		return false;
	const struct node *node = state_node_at(s->state, (uint32_t)s->cursor++);
	if (node)
		match_id(s, &node->id, node->name, NULL);
	return true;
}

static bool step_allocations(struct search *s)
{
	const struct allocation *a = state_next_allocation(s->state, &s->cursor);
	char name[2 * NAME_BYTES_MAX + 32];
	if (a && shows(s, a->job->namespace_name))
		match_id(s, &a->id, s->fuzzy ? allocation_name(a, name, sizeof name) : NULL,
			a->job->namespace_name);
	return a != NULL;
}

static bool step_evaluations(struct search *s)
{
	const struct evaluation *e = state_next_evaluation(s->state, &s->cursor);
	if (e && shows(s, e->namespace_name))
		match_id(s, &e->id, NULL, e->namespace_name);
	return e != NULL;
}

static bool step_deployments(struct search *s)
{
	const struct deployment *d = state_next_deployment(s->state, &s->cursor);
	if (d && shows(s, d->namespace_name))
		match_id(s, &d->id, NULL, d->namespace_name);
	return d != NULL;
}

static bool step_jobs(struct search *s)
{
	const struct job *job = state_next_job(s->state, &s->cursor);
	if (!job || !shows(s, job->namespace_name))
		return job != NULL;
	if (s->fuzzy) {
		if (strcasestr(job->name, s->text) && begin_match(s))
			put_fuzzy(s, job->name, job->namespace_name, job->id);
	} else if (strncmp(job->id, s->text, strlen(s->text)) == 0 && begin_match(s)) {
		json_write_string(s->writer, job->id);
	}
	return true;
}

// Kinds that Berth does not have.
static bool step_nothing(struct search *s)
{
	return false;
}

static const struct {
	const char *name;
	search_step *step;
} contexts[] = {
	{"jobs", step_jobs},
	{"nodes", step_nodes},
	{"allocs", step_allocations},
	{"evals", step_evaluations},
	{"deployment", step_deployments},
	{"volumes", step_nothing},
	{"plugins", step_nothing},
	{"scaling_policy", step_nothing},
	{"namespaces", step_nothing},
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
	if (s->found)
		json_end_array(s->writer);
	else
		json_write_null(s->writer);
}

static bool is_asked(size_t context, const char *asked)
{
	return !*asked || strcmp(asked, "all") == 0 || strcmp(asked, contexts[context].name) == 0;
}

static void answer_search(struct request *request, struct reply *reply, const char *text,
	const char *asked, bool fuzzy)
{
	const struct state *state = request->api->settings.state;
	bool truncated[CONTEXTS] = {false};
	uint64_t index = state_index(state);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_object(w, "Matches");
	for (size_t i = 0; i < CONTEXTS; i++) {
		if (!is_asked(i, asked))
			continue;
		struct search search = {state, w, text, request_namespace(request), fuzzy, 0, 0};
		json_write_key(w, contexts[i].name);
		walk(&search, contexts[i].step);
		truncated[i] = search.found > MATCHES_MAX;
	}
	json_end_object(w);
	json_open_object(w, "Truncations");
	for (size_t i = 0; i < CONTEXTS; i++)
		if (is_asked(i, asked))
			json_put_bool(w, contexts[i].name, truncated[i]);
	json_end_object(w);
	json_put_u64(w, "Index", index);
	json_put_u64(w, "LastContact", 0);
	json_put_bool(w, "KnownLeader", true);
	json_end_object(w);
	reply->is_read = true;
	reply_index(reply, index);
}

static void search_for(struct request *request, struct reply *reply, bool fuzzy)
{
	const char *member = fuzzy ? "Text" : "Prefix";
	json_t *body = body_read(request, reply);
	const char *text = json_string_value(json_object_get(body, member));
	const char *context = json_string_value(json_object_get(body, "Context"));
	if (body && !text)
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s: a string is expected", member);
	else if (body && fuzzy && strlen(text) < FUZZY_BYTES_MIN)
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"fuzzy search query must be at least %u characters, got %zu",
			FUZZY_BYTES_MIN, strlen(text));
	else if (body)
		answer_search(request, reply, text, context ? context : "", fuzzy);
	json_decref(body);
}

void search(struct request *request, struct reply *reply)
{
	search_for(request, reply, false);
}

void search_fuzzy(struct request *request, struct reply *reply)
{
	search_for(request, reply, true);
}
