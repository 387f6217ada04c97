#include "placement/direct/feasibility.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

struct device_constraints {
	uint32_t count;
	struct compiled_constraint *items[JOB_CONSTRAINTS_MAX];
};

struct feasibility {
	const struct job *job;
	const struct group_ask *ask;
	uint32_t constraint_count;
	struct compiled_constraint *constraints[JOB_CONSTRAINTS_MAX]; // NULL: no node meets it
	uint64_t node_unique;                                         // bits of constraints
	struct device_constraints devices[NODE_DEVICE_GROUPS_MAX];    // by ask
};

static struct compiled_constraint *compile_constraints(
	const struct job *job, const struct constraint *c)
{
	struct constraint_error error;
	char reason[CONSTRAINT_ERROR_BYTES];
	struct compiled_constraint *compiled =
		constraint_compile(c->l_target, c->r_target, c->operand, &error);
	if (compiled && constraint_searches(compiled)) {
		constraint_free(compiled);
		compiled = constraint_refuse(&error, "direct jobs may not search by a pattern");
	}
	if (!compiled)
		log_warn("constraint-unusable", "job=%s error=%s", job->id,
			log_quote(error.text, reason, sizeof reason));
	return compiled;
}

static void add_constraints(struct feasibility *f, const struct array *constraints)
{
	for (uint32_t i = 0; i < constraints->count; i++) {
		CHECK(f->constraint_count < JOB_CONSTRAINTS_MAX);
		struct compiled_constraint *c =
			compile_constraints(f->job, ARRAY_AT(constraints, struct constraint, i));
		if (c && constraint_is_node_unique(c))
			f->node_unique |= 1ull << f->constraint_count;
		f->constraints[f->constraint_count++] = c;
	}
}

static void add_device_constraints(struct feasibility *f, const struct device_ask *device)
{
	uint32_t i = 0;
	while (i < f->ask->device_count && strcmp(f->ask->devices[i].name, device->name) != 0)
		i++;
	CHECK(i < f->ask->device_count);
	struct device_constraints *own = &f->devices[i];
	for (uint32_t j = 0; j < device->constraints.count; j++) {
		CHECK(own->count < JOB_CONSTRAINTS_MAX);
		own->items[own->count++] = compile_constraints(
			f->job, ARRAY_AT(&device->constraints, struct constraint, j));
	}
}

struct feasibility *feasibility_create(const struct job *job, uint32_t group)
{
	struct feasibility *f = memory_take(sizeof *f);
	const struct task_group *g = ARRAY_AT(&job->task_groups, struct task_group, group);
	f->job = job;
	f->ask = ARRAY_AT(&job->asks, struct group_ask, group);
	add_constraints(f, &job->constraints);
	add_constraints(f, &g->constraints);
	for (uint32_t i = 0; i < g->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&g->tasks, struct task, i);
		add_constraints(f, &task->constraints);
		for (uint32_t j = 0; j < task->resources.devices.count; j++)
			add_device_constraints(
				f, ARRAY_AT(&task->resources.devices, struct device_ask, j));
	}
	return f;
}

void feasibility_destroy(struct feasibility *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->constraint_count; i++)
		constraint_free(f->constraints[i]);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		for (uint32_t j = 0; j < f->devices[i].count; j++)
			constraint_free(f->devices[i].items[j]);
	free(f);
}

const struct group_ask *feasibility_ask(const struct feasibility *f)
{
	return f->ask;
}

uint32_t feasibility_constraints(const struct feasibility *f)
{
	return f->constraint_count;
}

bool feasibility_is_node_unique(const struct feasibility *f)
{
	return f->node_unique != 0;
}

bool device_is_named(const struct device_group *d, const char *name)
{
	const char *parts[3];
	uint32_t sizes[3], count = 0;
	for (const char *at = name; count < 3; at += sizes[count - 1] + 1) {
		const char *slash = count < 2 ? strchr(at, '/') : NULL;
		parts[count] = at;
		sizes[count] = slash ? (uint32_t)(slash - at) : (uint32_t)strlen(at);
		count++;
		if (!slash)
			break;
	}
	const char *own[3] = {d->vendor, d->type, d->name};
	uint32_t first = count == 1 ? 1 : 0; // a single part is the type
	for (uint32_t i = 0; i < count; i++)
		if (!text_equal((struct text){parts[i], sizes[i]}, text_of(own[first + i])))
			return false;
	return true;
}

static bool device_serves(const struct feasibility *f, uint32_t ask,
	const struct node_class *node_class, const struct device_group *d)
{
	if (d->instances < f->ask->devices[ask].count ||
		!device_is_named(d, f->ask->devices[ask].name))
		return false;
	for (uint32_t i = 0; i < f->devices[ask].count; i++)
		if (!f->devices[ask].items[i] ||
			!constraint_matches_device(f->devices[ask].items[i], node_class, d))
			return false;
	return true;
}

// Gives each ask from `ask` on a group; several asks may share a group with enough instances.
static bool assign_devices(const struct group_ask *asks, const struct device_matches *matches,
	uint8_t free[NODE_DEVICE_GROUPS_MAX], uint32_t ask,
	uint8_t group_of[NODE_DEVICE_GROUPS_MAX])
{
	if (ask == asks->device_count || ask == NODE_DEVICE_GROUPS_MAX)
		return true;
	uint32_t count = asks->devices[ask].count;
	for (uint8_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++) {
		if (!(matches->groups[ask] >> i & 1) || free[i] < count)
			continue;
		free[i] = (uint8_t)(free[i] - count);
		group_of[ask] = i;
		bool done = assign_devices(asks, matches, free, ask + 1, group_of);
		free[i] = (uint8_t)(free[i] + count);
		if (done)
			return true;
	}
	return false;
}

bool devices_suffice(const struct group_ask *asks, const struct device_matches *matches,
	const uint8_t free[NODE_DEVICE_GROUPS_MAX])
{
	uint8_t left[NODE_DEVICE_GROUPS_MAX], group_of[NODE_DEVICE_GROUPS_MAX];
	memcpy(left, free, sizeof left);
	return assign_devices(asks, matches, left, 0, group_of);
}

bool devices_choose(const struct group_ask *asks, const struct device_matches *matches,
	const struct device_set *free, struct device_set *chosen)
{
	uint8_t left[NODE_DEVICE_GROUPS_MAX], group_of[NODE_DEVICE_GROUPS_MAX];
	struct device_set rest = *free;
	*chosen = (struct device_set){0};
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		left[i] = (uint8_t)__builtin_popcountll(free->groups[i]);
	if (!assign_devices(asks, matches, left, 0, group_of))
		return false;
	for (uint32_t i = 0; i < asks->device_count; i++)
		for (uint32_t j = 0; j < asks->devices[i].count; j++) {
			uint64_t *from = &rest.groups[group_of[i]];
			chosen->groups[group_of[i]] |= *from & -*from;
			*from &= *from - 1;
		}
	return true;
}

static bool match_devices(const struct feasibility *f, const struct node_class *node_class,
	struct device_matches *matches)
{
	uint8_t all[NODE_DEVICE_GROUPS_MAX] = {0};
	*matches = (struct device_matches){0};
	for (uint32_t i = 0; i < node_class->device_count && i < NODE_DEVICE_GROUPS_MAX; i++) {
		const struct device_group *d = &node_class->devices[i];
		all[i] = d->instances;
		for (uint32_t ask = 0; ask < f->ask->device_count; ask++)
			if (device_serves(f, ask, node_class, d))
				matches->groups[ask] |= (uint8_t)(1u << i);
	}
	return devices_suffice(f->ask, matches, all);
}

uint8_t feasibility_of_class(const struct feasibility *f, const struct node_class *node_class,
	struct device_matches *matches)
{
	if (!job_takes_datacenter(f->job, node_class->datacenter))
		return VERDICT_DATACENTER;
	if (!job_takes_pool(f->job, node_class->pool))
		return VERDICT_POOL;
	for (uint32_t i = 0; i < f->constraint_count; i++)
		if (!(f->node_unique >> i & 1) &&
			(!f->constraints[i] ||
				!constraint_matches_class(f->constraints[i], node_class)))
			return (uint8_t)(VERDICT_CONSTRAINT + i);
	return match_devices(f, node_class, matches) ? VERDICT_PASS : VERDICT_DEVICE;
}

uint8_t feasibility_of_node(const struct feasibility *f, const struct node *n, uint8_t of_class)
{
	if (of_class == VERDICT_DATACENTER || of_class == VERDICT_POOL)
		return of_class;
	// The constraint that fails first counts: of_class already decides those before it that test the class.
	uint32_t end = of_class >= VERDICT_CONSTRAINT ? (uint32_t)of_class - VERDICT_CONSTRAINT
						      : f->constraint_count;
	for (uint64_t left = f->node_unique; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		if (i >= end)
			break;
		if (!constraint_matches_node(f->constraints[i], n))
			return (uint8_t)(VERDICT_CONSTRAINT + i);
	}
	return of_class;
}
