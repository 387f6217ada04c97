#include "tools/simulate/scenario_read.h"
#include "state/base/memory.h"
#include "tools/simulate/scenario_allocation.h"
#include "tools/simulate/scenario_pool.h"
#include <stdio.h>
#include <stdlib.h>

#define PATH_BYTES 64u
// Largest count of a task group, on each node or in all: a daemon refuses more, so a scenario does, too.
#define COUNT_MOST 1000000

struct loading {
	struct scenario *scenario;
	struct json_report *report;
	const char *prefix; // "Input.", or "" when the file holds only the input
};

static void path_of(
	char path[static PATH_BYTES], const struct loading *l, const char *list, size_t i)
{
	snprintf(path, PATH_BYTES, "%s%s[%zu]", l->prefix, list, i);
}

// A list, or NULL when it is missing.
static json_t *list_at(const struct loading *l, json_t *input, const char *name)
{
	json_t *list = json_object_get(input, name);
	if (!list || json_is_null(list) || json_is_array(list))
		return json_is_array(list) ? list : NULL;
	json_sentence(&l->report->errors, "%s%s: expected a list", l->prefix, name);
	return NULL;
}

static void note_index(struct scenario *s, uint64_t index)
{
	if (index > s->index)
		s->index = index;
}

static void default_text(char **text, const char *value)
{
	if (*text && **text)
		return;
	free(*text);
	*text = text_copy(text_of(value));
}

static void need(const struct loading *l, const char *path, const char *field, const char *value)
{
	if (!value || !*value)
		json_sentence(&l->report->errors, "%s.%s: is missing", path, field);
}

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static void check_group(const struct loading *l, const char *path, struct job *job, uint32_t g)
{
	const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, g);
	char at[PATH_BYTES + 64];
	snprintf(at, sizeof at, "%s.TaskGroups[%u]", path, g);
	need(l, at, "Name", group->name);
	if (group->name && job_group_index(job, text_of(group->name)) != (int)g)
		json_sentence(
			&l->report->errors, "%s.Name: \"%.128s\" is given twice", at, group->name);
	if (group->count < 0 || group->count > COUNT_MOST)
		json_sentence(&l->report->errors, "%s.Count: must be from 0 to %d, not %lld", at,
			COUNT_MOST, (long long)group->count);
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		snprintf(at, sizeof at, "%s.TaskGroups[%u].Tasks[%u]", path, g, i);
		need(l, at, "Name", task->name);
		need(l, at, "Driver", task->driver);
		for (uint32_t k = 0; k < i && task->name; k++)
			if (same_text(ARRAY_AT(&group->tasks, struct task, k)->name, task->name))
				json_sentence(&l->report->errors,
					"%s.Name: \"%.128s\" is given twice", at, task->name);
	}
}

static void check_job(const struct loading *l, const char *path, struct job *job)
{
	uint32_t before = l->report->errors.count;
	need(l, path, "ID", job->id);
	default_text(&job->id, "");
	default_text(&job->name, job->id);
	default_text(&job->namespace_name, "default");
	default_text(&job->node_pool, "default");
	for (uint32_t i = 0; i < job->task_groups.count; i++)
		check_group(l, path, job, i);
	if (job->task_groups.count > JOB_GROUPS_MAX)
		json_sentence(&l->report->errors, "%s.TaskGroups: %u groups; a job may have %u",
			path, job->task_groups.count, JOB_GROUPS_MAX);
	if (l->report->errors.count == before && !job_derive(job))
		json_sentence(&l->report->errors,
			"%s: what a group asks for is negative or too much, or it asks for more "
			"than "
			"%u device groups",
			path, NODE_DEVICE_GROUPS_MAX);
}

// The index at which a version was stored identifies it.
static void check_index(const struct loading *l, const char *path, const struct job *job)
{
	const struct scenario *s = l->scenario;
	if (job->record.modify_index == 0)
		json_sentence(&l->report->errors,
			"%s.ModifyIndex: is missing; give each version one of its own", path);
	for (uint32_t i = 0; i < s->job_count; i++)
		if (s->jobs[i]->record.modify_index == job->record.modify_index &&
			same_text(s->jobs[i]->id, job->id) &&
			same_text(s->jobs[i]->namespace_name, job->namespace_name))
			json_sentence(&l->report->errors,
				"%s.ModifyIndex: is that of another version of the job, too", path);
}

static struct job *read_job(const struct loading *l, const char *path, json_t *value)
{
	struct scenario *s = l->scenario;
	struct job *job = memory_take(sizeof *job);
	json_read_exact(&job_type_description, job, value, path, l->report);
	check_job(l, path, job);
	check_index(l, path, job);
	s->jobs = memory_resize(s->jobs, (s->job_count + 1) * sizeof(struct job *));
	s->jobs[s->job_count++] = job;
	note_index(s, job->record.modify_index);
	return job;
}

// Returns the last job; NULL when the list is empty.
static struct job *read_jobs(const struct loading *l, json_t *input, const char *name)
{
	char path[PATH_BYTES];
	struct job *last = NULL;
	size_t i;
	json_t *value;
	json_array_foreach(list_at(l, input, name), i, value)
	{
		path_of(path, l, name, i);
		last = read_job(l, path, value);
	}
	return last;
}

static void read_subject(const struct loading *l, json_t *input)
{
	struct scenario *s = l->scenario;
	bool in_state = false;
	json_read_bool(input, "JobInState", &in_state, l->report);
	s->current_last = read_jobs(l, input, "JobVersions");
	s->job = in_state ? s->current_last : NULL;
	if (in_state && !s->job)
		json_sentence(&l->report->errors,
			"%sJobVersions: is empty although JobInState is true; give the versions, "
			"oldest "
			"first",
			l->prefix);
	read_jobs(l, input, "OtherJobs");
}

struct by_id {
	struct uuid id;
	uint32_t at;
};

static int by_id_compare(const void *a, const void *b)
{
	const struct by_id *x = a, *y = b;
	return uuid_compare(&x->id, &y->id);
}

// Sorts numbers by their ids; duplicate ids are mistakes.
static uint32_t *sort_ids(
	const struct loading *l, const char *list, struct by_id *ids, uint32_t count)
{
	uint32_t *sorted = memory_take_array(count + 1, sizeof *sorted);
	if (count > 1)
		qsort(ids, count, sizeof *ids, by_id_compare);
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = ids[i].at;
		if (i > 0 && uuid_equal(&ids[i - 1].id, &ids[i].id))
			json_sentence(&l->report->errors, "%s%s[%u].ID: is that of %s[%u], too",
				l->prefix, list, ids[i].at, list, ids[i - 1].at);
	}
	free(ids);
	return sorted;
}

struct class_key {
	uint64_t hash;
	uint32_t slot;
};

static int by_hash(const void *a, const void *b)
{
	const struct class_key *x = a, *y = b;
	return x->hash == y->hash ? 0 : x->hash < y->hash ? -1 : 1;
}

// "v1:<number>" is the class itself; other texts are hashed.
static uint64_t class_hash(const char *computed_class, const struct uuid *node)
{
	uint64_t hash = 14695981039346656037ull;
	char *end;
	if (!computed_class || !*computed_class)
		return uuid_hash(node);
	if (strncmp(computed_class, "v1:", 3) == 0) {
		hash = strtoull(computed_class + 3, &end, 10);
		if (end != computed_class + 3 && !*end)
			return hash;
	}
	for (const char *c = computed_class; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
	return hash;
}

// Nodes of one computed class share the results of its checks, even if they differ. A node without a computed class is
// alone in its class.
static void number_classes(struct scenario *s)
{
	struct class_key *keys = memory_take_array(s->node_count + 1, sizeof *keys);
	for (uint32_t i = 0; i < s->node_count; i++)
		keys[i] = (struct class_key){
			class_hash(s->nodes[i].given.computed_class, &s->nodes[i].record.id), i};
	if (s->node_count > 1)
		qsort(keys, s->node_count, sizeof *keys, by_hash);
	for (uint32_t i = 0, id = 0; i < s->node_count; i++) {
		struct node_class *c = &s->nodes[keys[i].slot].node_class;
		id += i > 0 && keys[i].hash != keys[i - 1].hash;
		c->hash = keys[i].hash;
		c->id = id;
		c->serial = id + 1ull;
		c->nodes = 1;
	}
	free(keys);
}

static void read_nodes(const struct loading *l, json_t *input)
{
	struct scenario *s = l->scenario;
	json_t *list = list_at(l, input, "Nodes"), *value;
	uint32_t count = (uint32_t)json_array_size(list);
	struct by_id *ids = memory_take_array(count + 1, sizeof *ids);
	char path[PATH_BYTES];
	size_t i;
	s->nodes = memory_take_array(count + 1, sizeof *s->nodes);
	json_array_foreach(list, i, value)
	{
		path_of(path, l, "Nodes", i);
		scenario_node_read(&s->nodes[i], value, path, l->report);
		s->nodes[i].record.slot = (uint32_t)i;
		ids[i] = (struct by_id){s->nodes[i].record.id, (uint32_t)i};
		note_index(s, s->nodes[i].record.record.modify_index);
	}
	s->node_count = count;
	s->nodes_by_id = sort_ids(l, "Nodes", ids, count);
	number_classes(s);
}

// Later sums must not overflow, however much a node's allocations hold.
static void check_sums(const struct loading *l)
{
	const struct scenario *s = l->scenario;
	for (uint32_t i = 0; i < s->node_count; i++) {
		uint64_t cpu = 0, memory = 0, disk = 0;
		const struct scenario_allocation *a = s->nodes[i].allocations;
		for (; a; a = a->next_on_node) {
			cpu += a->record.resources.cpu_mhz;
			memory += a->record.resources.memory_mb;
			disk += a->record.resources.disk_mb;
		}
		if (cpu > ASK_MAX || memory > ASK_MAX || disk > ASK_MAX)
			json_sentence(&l->report->errors,
				"%sNodes[%u]: its allocations hold more than %d of something",
				l->prefix, i, ASK_MAX);
	}
}

static void read_allocations(const struct loading *l, json_t *input)
{
	struct scenario *s = l->scenario;
	json_t *list = list_at(l, input, "Allocs"), *value;
	uint32_t count = (uint32_t)json_array_size(list);
	struct by_id *ids = memory_take_array(count + 1, sizeof *ids);
	char path[PATH_BYTES];
	size_t i;
	s->allocations = memory_take_array(count + 1, sizeof *s->allocations);
	s->allocation_count = count;
	json_array_foreach(list, i, value)
	{
		struct scenario_allocation *a = &s->allocations[i];
		path_of(path, l, "Allocs", i);
		scenario_allocation_read(s, a, value, path, l->report);
		ids[i] = (struct by_id){a->record.id, (uint32_t)i};
		note_index(s, a->record.record.modify_index);
		if (a->record.node_slot == NODE_SLOT_NONE)
			continue;
		a->next_on_node = s->nodes[a->record.node_slot].allocations;
		s->nodes[a->record.node_slot].allocations = a;
	}
	s->allocations_by_id = sort_ids(l, "Allocs", ids, count);
	check_sums(l);
	for (uint32_t k = 0; k < count && !l->report->errors.count; k++)
		scenario_quota_use(&s->quotas, &s->allocations[k].record);
}

static struct deployment *read_deployment(const struct loading *l, const char *path, json_t *value)
{
	struct deployment *d = deployment_create();
	json_read_exact(&deployment_description, d, value, path, l->report);
	if (uuid_is_zero(&d->id))
		json_sentence(&l->report->errors, "%s.ID: is missing; give it a UUID", path);
	need(l, path, "JobID", d->job_id);
	default_text(&d->namespace_name, "default");
	default_text(&d->status_description, "");
	note_index(l->scenario, d->record.modify_index);
	return d;
}

static int newest_first(const void *a, const void *b)
{
	const struct deployment *x = *(const struct deployment *const *)a;
	const struct deployment *y = *(const struct deployment *const *)b;
	return (x->record.create_index < y->record.create_index) -
	       (x->record.create_index > y->record.create_index);
}

static void read_deployments(const struct loading *l, json_t *input)
{
	struct scenario *s = l->scenario;
	json_t *list = list_at(l, input, "Deployments"), *value;
	char path[PATH_BYTES];
	size_t i;
	s->deployments = memory_take_array(json_array_size(list) + 1, sizeof *s->deployments);
	json_array_foreach(list, i, value)
	{
		path_of(path, l, "Deployments", i);
		s->deployments[s->deployment_count++] = read_deployment(l, path, value);
	}
	if (s->deployment_count > 1)
		qsort(s->deployments, s->deployment_count, sizeof *s->deployments, newest_first);
}

static void read_config(const struct loading *l, json_t *input)
{
	char path[PATH_BYTES];
	json_t *value = json_object_get(input, "SchedulerConfig");
	snprintf(path, sizeof path, "%sSchedulerConfig", l->prefix);
	if (value && !json_is_null(value))
		json_read_exact(&scheduler_config_description, &l->scenario->config, value, path,
			l->report);
	else
		record_init(&scheduler_config_description, &l->scenario->config);
}

typedef void read_item(
	struct scenario *, json_t *value, const char *path, struct json_report *report);

static void read_each(const struct loading *l, json_t *input, const char *name, read_item *read)
{
	json_t *value;
	char path[PATH_BYTES];
	size_t i;
	json_array_foreach(list_at(l, input, name), i, value)
	{
		path_of(path, l, name, i);
		read(l->scenario, value, path, l->report);
	}
}

static void read_pool(
	struct scenario *s, json_t *value, const char *path, struct json_report *report)
{
	struct node_pool *pool = array_append(&s->pools, sizeof(struct node_pool));
	scenario_pool_read(pool, value, path, report);
}

static void read_quota(
	struct scenario *s, json_t *value, const char *path, struct json_report *report)
{
	scenario_quota_read(&s->quotas, value, path, report);
}

static void read_namespace(
	struct scenario *s, json_t *value, const char *path, struct json_report *report)
{
	scenario_namespace_read(&s->quotas, value, path, report);
}

// Keeps a trigger that no scheduler knows: the scheduler refuses it (row A3).
static void take_unknown_trigger(struct scenario *s, json_t *eval)
{
	const char *given = json_string_value(json_object_get(eval, "TriggeredBy"));
	for (int i = 0; given && *given && i < EVAL_TRIGGERS; i++)
		if (strcmp(given, eval_trigger_names[i]) == 0)
			return;
	if (!given || !*given)
		return;
	s->unknown_trigger = text_copy(text_of(given));
	json_object_del(eval, "TriggeredBy");
}

static void read_eval(const struct loading *l, json_t *input)
{
	struct scenario *s = l->scenario;
	char path[PATH_BYTES];
	json_t *value = json_object_get(input, "Eval");
	snprintf(path, sizeof path, "%sEval", l->prefix);
	s->eval = evaluation_create();
	if (!value || json_is_null(value)) {
		json_sentence(&l->report->errors,
			"%s: is missing; give the evaluation that is to be worked off", path);
		return;
	}
	take_unknown_trigger(s, value);
	json_read_exact(&evaluation_description, s->eval, value, path, l->report);
	if (s->unknown_trigger)
		s->eval->triggered_by = EVAL_TRIGGERS;
	need(l, path, "JobID", s->eval->job_id);
	default_text(&s->eval->namespace_name, "default");
	note_index(s, s->eval->record.modify_index);
}

static void read_now(const struct loading *l, json_t *input)
{
	json_t *now = json_object_get(input, "Now");
	if (json_is_integer(now))
		l->scenario->now_ns = json_integer_value(now);
	else if (now && !json_is_null(now))
		json_sentence(&l->report->errors,
			"%sNow: expected a number, of nanoseconds since 1970", l->prefix);
}

struct scenario *scenario_read(const char *text, size_t size, struct json_report *report)
{
	char message[256];
	json_t *root = json_parse(text, size, message, sizeof message);
	if (!root) {
		json_sentence(&report->errors, "%s", message);
		return NULL;
	}
	struct scenario *scenario = scenario_read_json(root, report);
	json_decref(root);
	return scenario;
}

struct scenario *scenario_read_json(json_t *root, struct json_report *report)
{
	json_t *wrapped = json_object_get(root, "Input");
	json_t *input = json_is_object(wrapped) ? wrapped : root;
	struct loading l = {memory_take(sizeof *l.scenario), report, input == root ? "" : "Input."};
	l.scenario->supports_disconnect = true;
	read_now(&l, input);
	read_config(&l, input);
	read_each(&l, input, "NodePools", read_pool);
	read_each(&l, input, "Quotas", read_quota);
	read_each(&l, input, "Namespaces", read_namespace);
	read_subject(&l, input);
	read_nodes(&l, input);
	if (!report->errors.count) // allocations refer to jobs and nodes
		read_allocations(&l, input);
	read_deployments(&l, input);
	read_eval(&l, input);
	if (!report->errors.count)
		return l.scenario;
	scenario_free(l.scenario);
	return NULL;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->allocation_count; i++)
		scenario_allocation_release(&s->allocations[i]);
	for (uint32_t i = 0; i < s->node_count; i++)
		scenario_node_release(&s->nodes[i]);
	for (uint32_t i = 0; i < s->job_count; i++)
		job_free(s->jobs[i]);
	for (uint32_t i = 0; i < s->deployment_count; i++)
		deployment_free(s->deployments[i]);
	evaluation_free(s->eval);
	scenario_pools_release(&s->pools);
	scenario_quotas_release(&s->quotas);
	free(s->unknown_trigger);
	free(s->deployments);
	free(s->allocations);
	free(s->allocations_by_id);
	free(s->nodes);
	free(s->nodes_by_id);
	free(s->jobs);
	free(s);
}
