// PUT /v1/search: completes ids, for Nomad's `status` command.
// PUT /v1/search/fuzzy: finds names by a part of them.
#include "state/records/deployment.h"
#include "state/records/evaluation.h"
#include "state/records/variable.h"
#include "state/tables/id_order.h"
#include "tools/api/lists/record_walk.h"
#include "tools/api/nomad/namespaces/namespaces.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/body.h"
#include "tools/api/server/request.h"
#include "tools/forms/eval_made_json.h"
#include "tools/forms/scaling_policy.h"
#include <stdlib.h>
#include <strings.h>

// Matches of one kind in an answer; it only says that there are more.
#define MATCHES_MAX 20u
#define STEPS_PER_SECTION 4096u
// Least length of a part of a name.
#define FUZZY_BYTES_MIN 2u

struct search {
	const struct request *request;
	struct state *state;
	struct json_writer *writer;
	const char *text, *namespace_name; // namespace "*" is all
	bool fuzzy;
	const char *context; // the member of Matches
	struct name_set names;
	bool names_are_scopes; // of a fuzzy match
	uint64_t cursor;
	uint32_t found;
};

// Visits one record and writes it if it fits; false at the end. Under read lock.
typedef bool search_step(struct search *);

// Opens the list at the first match. True when there is room for one more match.
static bool begin_match(struct search *s)
{
	if (s->found++ == 0)
		json_open_array(s->writer, s->context);
	return s->found <= MATCHES_MAX;
}

// Its name and the names of what it is in, up to the first that is NULL.
struct scope {
	const char *names[4];
};

// Writes a fuzzy match and its place, if it has one: {"ID": "web", "Scope": ["default", "web"]}.
static void match_part(struct search *s, const char *name, struct scope scope)
{
	struct json_writer *w = s->writer;
	if (!name || !strcasestr(name, s->text) || !begin_match(s))
		return;
	json_begin_object(w);
	json_put_string(w, "ID", name);
	if (scope.names[0]) {
		json_open_array(w, "Scope");
		for (uint32_t i = 0; i < 4 && scope.names[i]; i++)
			json_write_string(w, scope.names[i]);
		json_end_array(w);
	}
	json_end_object(w);
}

static void match_id(
	struct search *s, const struct uuid *id, const char *name, const char *namespace_name)
{
	char text[UUID_TEXT_BYTES];
	uuid_format(id, text);
	if (s->fuzzy && namespace_name) {
		match_part(s, name, (struct scope){{namespace_name, text}});
	} else if (s->fuzzy) {
		match_part(s, name, (struct scope){{text}});
	} else if (strncasecmp(text, s->text, strlen(s->text)) == 0 && begin_match(s)) {
		json_write_string(s->writer, text);
	}
}

static bool shows(const struct search *s, const char *namespace_name)
{
	return (strcmp(s->namespace_name, "*") == 0 ||
		       strcmp(s->namespace_name, namespace_name) == 0) &&
	       request_may(s->request, namespace_name, ACL_READ_JOB);
}

// Matches one record that has an id.
typedef void search_match(struct search *, const void *record);

static void match_node(struct search *s, const void *record)
{
	const struct node *node = record;
	match_id(s, &node->id, node->name, NULL);
}

static void match_allocation(struct search *s, const void *record)
{
	const struct allocation *a = record;
	char name[2 * NAME_BYTES_MAX + 32];
	if (shows(s, a->job->namespace_name))
		match_id(s, &a->id, s->fuzzy ? allocation_name(a, name, sizeof name) : NULL,
			a->job->namespace_name);
}

static void match_evaluation(struct search *s, const void *record)
{
	const struct evaluation *e = record;
	if (shows(s, e->namespace_name))
		match_id(s, &e->id, NULL, e->namespace_name);
}

static void match_deployment(struct search *s, const void *record)
{
	const struct deployment *d = record;
	if (shows(s, d->namespace_name))
		match_id(s, &d->id, NULL, d->namespace_name);
}

static bool step_nodes(struct search *s)
{
	if (s->cursor >= state_node_slots(s->state))
		return false;
	const struct node *node = state_node_at(s->state, (uint32_t)s->cursor++);
	if (node)
		match_node(s, node);
	return true;
}

static bool step_allocations(struct search *s)
{
	const struct allocation *a = state_next(s->state, STATE_ALLOCATIONS, &s->cursor);
	if (a)
		match_allocation(s, a);
	return a != NULL;
}

static bool step_jobs(struct search *s)
{
	const struct job *job = state_next(s->state, STATE_JOBS, &s->cursor);
	if (!job || !shows(s, job->namespace_name))
		return job != NULL;
	if (s->fuzzy) {
		match_part(s, job->name, (struct scope){{job->namespace_name, job->id}});
	} else if (strncmp(job->id, s->text, strlen(s->text)) == 0 && begin_match(s)) {
		json_write_string(s->writer, job->id);
	}
	return true;
}

static struct scope scope_of(
	const struct job *job, const struct task_group *group, const struct task *task)
{
	return (struct scope){{job->namespace_name, job->id, group ? group->name : NULL,
		task ? task->name : NULL}};
}

typedef void match_in_group(
	struct search *, const struct job *, const struct task_group *, const struct task *);

// Calls match for the group itself, with no task, and for each of its tasks.
static bool step_parts(struct search *s, match_in_group *match)
{
	const struct job *job = state_next(s->state, STATE_JOBS, &s->cursor);
	if (!job || !shows(s, job->namespace_name))
		return job != NULL;
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		match(s, job, group, NULL);
		for (uint32_t k = 0; k < group->tasks.count; k++)
			match(s, job, group, ARRAY_AT(&group->tasks, struct task, k));
	}
	return true;
}

static void match_group(struct search *s, const struct job *job, const struct task_group *group,
	const struct task *task)
{
	if (!task)
		match_part(s, group->name, scope_of(job, NULL, NULL));
}

static void match_task(struct search *s, const struct job *job, const struct task_group *group,
	const struct task *task)
{
	if (task)
		match_part(s, task->name, scope_of(job, group, NULL));
}

static void match_service(struct search *s, const struct job *job, const struct task_group *group,
	const struct task *task)
{
	const char *json = task ? task->services : group->services;
	json_t *services = json ? json_loads(json, 0, NULL) : NULL, *service;
	size_t i;
	json_array_foreach(services, i, service)
	{
		match_part(s, json_string_value(json_object_get(service, "Name")),
			scope_of(job, group, task));
	}
	json_decref(services);
}

static void match_setting(struct search *s, const char *setting, const struct job *job,
	const struct task_group *group, const struct task *task)
{
	json_t *config = task && task->config ? json_loads(task->config, 0, NULL) : NULL;
	match_part(
		s, json_string_value(json_object_get(config, setting)), scope_of(job, group, task));
	json_decref(config);
}

static void match_command(struct search *s, const struct job *job, const struct task_group *group,
	const struct task *task)
{
	match_setting(s, "command", job, group, task);
}

static void match_image(struct search *s, const struct job *job, const struct task_group *group,
	const struct task *task)
{
	match_setting(s, "image", job, group, task);
}

static bool step_policies(struct search *s)
{
	const struct job *job = state_next(s->state, STATE_JOBS, &s->cursor);
	if (!job || job->stop || !shows(s, job->namespace_name))
		return job != NULL;
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		struct uuid id = scaling_policy_id(job, group);
		if (group->scaling && strcmp(group->scaling, "null") != 0)
			match_id(s, &id, NULL, job->namespace_name);
	}
	return true;
}

static bool step_names(struct search *s)
{
	if (s->cursor >= s->names.names.count)
		return false;
	const char *name = *ARRAY_AT(&s->names.names, char *, s->cursor++);
	if (s->fuzzy) {
		match_part(s, name, (struct scope){{s->names_are_scopes ? name : NULL}});
	} else if (strncmp(name, s->text, strlen(s->text)) == 0 && begin_match(s)) {
		json_write_string(s->writer, name);
	}
	return true;
}

// Paths, but only of variables that a list would show.
static bool step_variables(struct search *s)
{
	const struct variable *variable = state_next(s->state, STATE_VARIABLES, &s->cursor);
	if (!variable)
		return false;
	const struct acl *acl = request_acl(s->request);
	const char *path = variable_path(variable->name);
	char *space = text_copy(variable_namespace(variable->name));
	bool is_asked =
		strcmp(s->namespace_name, "*") == 0 || strcmp(s->namespace_name, space) == 0;
	bool may = is_asked && (!acl || acl_allows_variable(acl, space, path, ACL_VARIABLE_LIST));
	if (may && s->fuzzy)
		match_part(s, path, (struct scope){{space, path}});
	else if (may && strncmp(path, s->text, strlen(s->text)) == 0 && begin_match(s))
		json_write_string(s->writer, path);
	free(space);
	return true;
}

// Kinds that Berth does not have.
static bool step_nothing(struct search *s)
{
	return false;
}

// What is a part of jobs cannot be asked for by itself, and is only found by a part of its name.
static const struct context {
	const char *name;
	search_step *step;
	match_in_group *part;   // of jobs, instead of a step
	search_match *match;    // of what has ids, which a prefix that is none does not ask for
	enum state_table table; // the same
	bool has_no_names;      // parts of names find nothing, which is said
	bool names_are_scopes;
	enum right right; // what it takes to look for it; of collected names, that there are some
	// Collects the names that the request may see; NULL: no set of names.
	void (*collect)(const struct request *, struct name_set *);
} contexts[] = {
	{"jobs", step_jobs, .right = RIGHT_LIST_OF_JOBS},
	{"groups", .part = match_group, .right = RIGHT_LIST_OF_JOBS},
	{"tasks", .part = match_task, .right = RIGHT_LIST_OF_JOBS},
	{"services", .part = match_service, .right = RIGHT_LIST_OF_JOBS},
	{"commands", .part = match_command, .right = RIGHT_LIST_OF_JOBS},
	{"images", .part = match_image, .right = RIGHT_LIST_OF_JOBS},
	{"nodes", step_nodes, .match = match_node, .table = STATE_NODES, .right = RIGHT_NODE_READ},
	{"allocs", step_allocations, .match = match_allocation, .table = STATE_ALLOCATIONS,
		.right = RIGHT_LIST_OF_JOBS},
	{"evals", step_nothing, .has_no_names = true, .match = match_evaluation,
		.table = STATE_EVALUATIONS, .right = RIGHT_LIST_OF_JOBS},
	{"deployment", step_nothing, .has_no_names = true, .match = match_deployment,
		.table = STATE_DEPLOYMENTS, .right = RIGHT_LIST_OF_JOBS},
	{"volumes", step_nothing, .has_no_names = true, .right = RIGHT_FIND_VOLUMES},
	{"plugins", step_nothing, .right = RIGHT_PLUGIN_LIST},
	{"scaling_policy", step_policies, .has_no_names = true, .right = RIGHT_LIST_OF_JOBS},
	{"namespaces", step_names, .collect = namespaces_collect_visible},
	{"node_pools", step_names, .collect = node_pools_collect_visible, .names_are_scopes = true},
	{"vars", step_variables, .right = RIGHT_FIND_VARIABLES},
};
#define CONTEXTS (sizeof contexts / sizeof contexts[0])

static void walk_records(struct search *s, const struct context *context)
{
	bool goes_on = true;
	while (goes_on && s->found <= MATCHES_MAX) {
		state_read_begin();
		for (uint32_t i = 0; i < STEPS_PER_SECTION && goes_on; i++)
			goes_on = context->part ? step_parts(s, context->part) : context->step(s);
		state_read_end();
	}
}

// The ids that begin with the text are next to each other.
static void walk_ids(struct search *s, const struct context *context)
{
	struct record_walk ids = {.state = s->state, .table = context->table, .by_id = true};
	if (!uuid_bounds(s->text, (uint32_t)strlen(s->text), &ids.first, &ids.last))
		return;
	state_ids_settle(s->state, context->table);
	struct record_place place = record_walk_start(&ids), at;
	while (s->found <= MATCHES_MAX && record_walk_prepare(&ids, &place)) {
		const void *record;
		state_read_begin();
		while (s->found <= MATCHES_MAX && record_walk_step(&ids, &place, &record, &at))
			if (record)
				context->match(s, record);
		state_read_end();
	}
}

static void walk(struct search *s, const struct context *context)
{
	if (context->collect)
		context->collect(s->request, &s->names);
	if (context->match && !s->fuzzy)
		walk_ids(s, context);
	else
		walk_records(s, context);
	name_set_free(&s->names);
	if (!s->found && s->fuzzy && context->has_no_names)
		json_open_array(s->writer, s->context);
	if (s->found || (s->fuzzy && context->has_no_names))
		json_end_array(s->writer);
	else if (!s->fuzzy)
		json_put_null(s->writer, s->context);
}

static bool is_beginning_of_id(const char *text)
{
	return strlen(text) < UUID_TEXT_BYTES &&
	       text[strspn(text, "0123456789abcdefABCDEF-")] == '\0';
}

static bool is_asked(size_t context, const char *asked, const char *text, bool fuzzy)
{
	const struct context *c = &contexts[context];
	const char *name = c->part ? "jobs" : c->name;
	if (!fuzzy && (c->part || (c->match && !is_beginning_of_id(text))))
		return false;
	return strcmp(asked, "all") == 0 || strcmp(asked, name) == 0;
}

static bool context_is_known(const char *asked)
{
	for (size_t i = 0; i < CONTEXTS; i++)
		if (!contexts[i].part && strcmp(contexts[i].name, asked) == 0)
			return true;
	return strcmp(asked, "all") == 0;
}

// Whether the request may look for it.
static bool may_look(const struct request *request, const struct context *context)
{
	const struct acl *acl = request_acl(request);
	const char *namespace_name = request_namespace(request);
	struct name_set names = {0};
	if (!acl)
		return true;
	if (!context->collect)
		return right_allows(context->right, acl,
			strcmp(namespace_name, "*") == 0 ? NULL : namespace_name);
	context->collect(request, &names);
	bool may = names.names.count > 0;
	name_set_free(&names);
	return may;
}

// Who asks for one thing and may not look for it is told so; of all only what is allowed is looked for.
static bool may_ask(const struct request *request, const char *asked)
{
	for (size_t i = 0; i < CONTEXTS; i++)
		if (strcmp(asked, contexts[i].name) == 0)
			return may_look(request, &contexts[i]);
	return true;
}

static void answer_search(struct request *request, struct reply *reply, const char *text,
	const char *asked, bool fuzzy)
{
	struct state *state = request->api->settings.state;
	bool truncated[CONTEXTS] = {false}, said[CONTEXTS] = {false};
	uint64_t index = state_index(state);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_object(w, "Matches");
	for (size_t i = 0; i < CONTEXTS; i++) {
		if (!is_asked(i, asked, text, fuzzy) || !may_look(request, &contexts[i]))
			continue;
		struct search search = {.request = request,
			.state = state,
			.writer = w,
			.text = text,
			.namespace_name = request_namespace(request),
			.fuzzy = fuzzy,
			.context = contexts[i].name,
			.names_are_scopes = contexts[i].names_are_scopes};
		walk(&search, &contexts[i]);
		truncated[i] = search.found > MATCHES_MAX;
		said[i] = search.found || !contexts[i].part;
	}
	json_end_object(w);
	json_open_object(w, "Truncations");
	for (size_t i = 0; i < CONTEXTS; i++)
		if (said[i])
			json_put_bool(w, contexts[i].name, truncated[i]);
	json_end_object(w);
	read_meta_json(w, index);
	json_end_object(w);
	reply->is_read = true;
	reply_index(reply, index);
}

static void search_for(struct request *request, struct reply *reply, bool fuzzy)
{
	const char *member = fuzzy ? "Text" : "Prefix";
	json_t *body = body_read_some(request, reply);
	const char *text = json_string_value(json_object_get(body, member));
	const char *context = json_string_value(json_object_get(body, "Context"));
	if (body && !text)
		reply_mistake(reply, "%s: a string is expected", member);
	else if (body && fuzzy && strlen(text) < FUZZY_BYTES_MIN)
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"fuzzy search query must be at least %u characters, got %zu",
			FUZZY_BYTES_MIN, strlen(text));
	else if (body && !context_is_known(context ? context : ""))
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"context must be one of [allocs jobs nodes node_pools evals deployment "
			"plugins "
			"volumes scaling_policy vars namespaces] or 'all' for all contexts; got "
			"\"%.64s\"",
			context ? context : "");
	else if (body && !may_ask(request, context))
		reply_denied(reply);
	else if (body)
		answer_search(request, reply, text, context ? context : "", fuzzy);
	json_decref(body);
}

void search(struct request *request, struct reply *reply)
{
	if (list_begins_in_background(request, reply, search))
		return;
	search_for(request, reply, false);
}

void search_fuzzy(struct request *request, struct reply *reply)
{
	if (list_begins_in_background(request, reply, search_fuzzy))
		return;
	search_for(request, reply, true);
}
