// Fields that are not compared here (counts, constraints, services, restart policies, …) change without replacing the
// instance.
#include "placement/scheduler/common/tasks_updated.h"
#include "state/base/check.h"

static bool text_differs(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") != 0;
}

// JSON that is kept as text, with sorted keys. null, {} and [] all say nothing.
static const char *json_value(const char *json)
{
	bool empty = !json || strcmp(json, "null") == 0 || strcmp(json, "{}") == 0 ||
		     strcmp(json, "[]") == 0;
	return empty ? "" : json;
}

static bool json_differs(const char *a, const char *b)
{
	return strcmp(json_value(a), json_value(b)) != 0;
}

static bool map_differs(const struct array *a, const struct array *b)
{
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct string_pair *pair = ARRAY_AT(a, struct string_pair, i);
		const char *other = map_get(b, pair->name);
		if (!other || text_differs(pair->value, other))
			return true;
	}
	return false;
}

static bool records_differ(
	const struct record_type *type, const struct array *a, const struct array *b)
{
	CHECK(type->size > 0);
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++)
		if (!record_equal(type, (const char *)a->items + i * type->size,
			    (const char *)b->items + i * type->size))
			return true;
	return false;
}

static bool port_is_in(const struct array *ports, const struct port *port, bool fixed)
{
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct port *other = ARRAY_AT(ports, struct port, i);
		if (!text_differs(port->label, other->label) && port->to == other->to &&
			!text_differs(port->host_network, other->host_network) &&
			(!fixed || port->value == other->value))
			return true;
	}
	return false;
}

// fixed: compares the numbers of ports too. Numbers of dynamic ports are chosen on each node.
static bool ports_differ(const struct array *a, const struct array *b, bool fixed)
{
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++)
		if (!port_is_in(b, ARRAY_AT(a, struct port, i), fixed))
			return true;
	return false;
}

static bool networks_differ(const struct array *a, const struct array *b)
{
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct network_ask *x = ARRAY_AT(a, struct network_ask, i);
		const struct network_ask *y = ARRAY_AT(b, struct network_ask, i);
		if (text_differs(x->mode, y->mode) || x->mbits != y->mbits ||
			text_differs(x->hostname, y->hostname) || json_differs(x->dns, y->dns) ||
			ports_differ(&x->reserved_ports, &y->reserved_ports, true) ||
			ports_differ(&x->dynamic_ports, &y->dynamic_ports, false))
			return true;
	}
	return false;
}

static bool volumes_differ(const struct array *a, const struct array *b)
{
	if (a->count != b->count)
		return true;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct volume_ask *x = ARRAY_AT(a, struct volume_ask, i);
		const struct volume_ask *y = ARRAY_AT(b, struct volume_ask, i);
		if (text_differs(x->name, y->name) || text_differs(x->type, y->type) ||
			text_differs(x->source, y->source) || x->read_only != y->read_only ||
			x->per_alloc != y->per_alloc)
			return true;
	}
	return false;
}

// Returns the affinities of one level: the job, the group, then its tasks by number; NULL after the last. All of them
// are compared together.
static const struct array *affinities_at(
	const struct job *job, const struct task_group *group, uint32_t level)
{
	if (level < 2)
		return level == 0 ? &job->affinities : &group->affinities;
	return level - 2 < group->tasks.count
		       ? &ARRAY_AT(&group->tasks, struct task, level - 2)->affinities
		       : NULL;
}

static uint32_t affinity_count(
	const struct job *job, const struct task_group *group, const struct affinity *wanted)
{
	uint32_t count = 0;
	const struct array *list;
	for (uint32_t level = 0; (list = affinities_at(job, group, level)); level++)
		for (uint32_t i = 0; i < list->count; i++)
			count += !wanted || record_equal(&affinity_description, wanted,
						    ARRAY_AT(list, struct affinity, i));
	return count;
}

static bool affinities_differ(const struct job *before, const struct task_group *b,
	const struct job *after, const struct task_group *a)
{
	const struct array *list;
	if (affinity_count(before, b, NULL) != affinity_count(after, a, NULL))
		return true;
	for (uint32_t level = 0; (list = affinities_at(before, b, level)); level++)
		for (uint32_t i = 0; i < list->count; i++) {
			const struct affinity *wanted = ARRAY_AT(list, struct affinity, i);
			if (affinity_count(before, b, wanted) != affinity_count(after, a, wanted))
				return true;
		}
	return false;
}

// Numbers the job's spreads, then the group's, as one list.
static const struct spread *spread_at(
	const struct job *job, const struct task_group *group, uint32_t i)
{
	CHECK(i < job->spreads.count + group->spreads.count);
	return i < job->spreads.count
		       ? ARRAY_AT(&job->spreads, struct spread, i)
		       : ARRAY_AT(&group->spreads, struct spread, i - job->spreads.count);
}

static bool spreads_differ(const struct job *before, const struct task_group *b,
	const struct job *after, const struct task_group *a)
{
	uint32_t count = before->spreads.count + b->spreads.count;
	if (count != after->spreads.count + a->spreads.count)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (!record_equal(
			    &spread_description, spread_at(before, b, i), spread_at(after, a, i)))
			return true;
	return false;
}

// The value that a task sees: its own, else its group's, else its job's.
static const char *meta_of(const struct job *job, const struct task_group *group,
	const struct task *task, const char *name)
{
	CHECK(name);
	const char *value = map_get(&task->meta, name);
	if (!value)
		value = map_get(&group->meta, name);
	return value ? value : map_get(&job->meta, name);
}

struct task_in { // a task with its group and job
	const struct job *job;
	const struct task_group *group;
	const struct task *task;
};

// True when one of these names has different values on the two sides, or a value on one side only.
static bool names_differ(
	const struct array *names, const struct task_in *a, const struct task_in *b)
{
	CHECK(a->task && b->task);
	for (uint32_t i = 0; i < names->count; i++) {
		const char *name = ARRAY_AT(names, struct string_pair, i)->name;
		const char *x = meta_of(a->job, a->group, a->task, name);
		const char *y = meta_of(b->job, b->group, b->task, name);
		if (!x != !y || text_differs(x, y))
			return true;
	}
	return false;
}

static bool meta_differs(const struct task_in *a, const struct task_in *b)
{
	return names_differ(&a->job->meta, a, b) || names_differ(&a->group->meta, a, b) ||
	       names_differ(&a->task->meta, a, b) || names_differ(&b->job->meta, a, b) ||
	       names_differ(&b->group->meta, a, b) || names_differ(&b->task->meta, a, b);
}

// The text is compact and its keys are sorted, and quotes inside of strings are escaped.
static bool collects_no_logs(const struct task *task)
{
	return task->log_config && strstr(task->log_config, "\"Disabled\":true");
}

static bool resources_differ(const struct task_resources *a, const struct task_resources *b)
{
	return a->cpu != b->cpu || a->cores != b->cores || a->memory_mb != b->memory_mb ||
	       a->memory_max_mb != b->memory_max_mb ||
	       networks_differ(&a->networks, &b->networks) ||
	       records_differ(&device_ask_description, &a->devices, &b->devices);
}

static bool renders_templates(const struct restart_policy *policy)
{
	return policy && policy->render_templates;
}

static bool task_differs(const struct task *a, const struct task *b)
{
	return text_differs(a->driver, b->driver) || text_differs(a->user, b->user) ||
	       json_differs(a->config, b->config) || map_differs(&a->env, &b->env) ||
	       json_differs(a->artifacts, b->artifacts) || json_differs(a->vault, b->vault) ||
	       json_differs(a->templates, b->templates) ||
	       json_differs(a->volume_mounts, b->volume_mounts) ||
	       json_differs(a->identity, b->identity) ||
	       collects_no_logs(a) != collects_no_logs(b) ||
	       renders_templates(a->restart) != renders_templates(b->restart) ||
	       resources_differ(&a->resources, &b->resources);
}

static const struct task *task_find(const struct task_group *group, const char *name)
{
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		if (!text_differs(task->name, name))
			return task;
	}
	return NULL;
}

static bool tasks_differ(const struct job *before, const struct task_group *b,
	const struct job *after, const struct task_group *a)
{
	if (b->tasks.count != a->tasks.count)
		return true;
	for (uint32_t i = 0; i < b->tasks.count; i++) {
		const struct task *x = ARRAY_AT(&b->tasks, struct task, i);
		const struct task *y = task_find(a, x->name);
		struct task_in x_in = {before, b, x}, y_in = {after, a, y};
		if (!y || task_differs(x, y) || meta_differs(&x_in, &y_in))
			return true;
	}
	return false;
}

bool tasks_updated(const struct job *before, const struct job *after, const char *group)
{
	CHECK(group);
	int x = job_group_index(before, text_of(group)), y = job_group_index(after, text_of(group));
	if (x < 0 || y < 0)
		return true;
	const struct task_group *b = ARRAY_AT(&before->task_groups, struct task_group, x);
	const struct task_group *a = ARRAY_AT(&after->task_groups, struct task_group, y);
	CHECK((uint32_t)x < before->task_groups.count);
	CHECK((uint32_t)y < after->task_groups.count);
	return b->disk.sticky != a->disk.sticky || b->disk.migrate != a->disk.migrate ||
	       b->disk.size_mb != a->disk.size_mb || networks_differ(&b->networks, &a->networks) ||
	       volumes_differ(&b->volumes, &a->volumes) || text_differs(b->snapshot, a->snapshot) ||
	       renders_templates(b->restart) != renders_templates(a->restart) ||
	       affinities_differ(before, b, after, a) || spreads_differ(before, b, after, a) ||
	       tasks_differ(before, b, after, a);
}
