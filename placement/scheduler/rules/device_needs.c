#include "placement/scheduler/rules/device_needs.h"
#include "placement/direct/feasibility.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Conditions are written into the room behind all needs.
static uint8_t *compile_need(
	struct device_need *need, const struct device_ask *ask, uint32_t task, uint8_t *room)
{
	CHECK(ask);
	struct constraint_error ignored; // validation has refused what does not compile
	*need = (struct device_need){.ask = ask,
		.task = task,
		.affinities = (void *)room,
		.constraints = (void *)(room + ask->affinities.count * sizeof *need->affinities)};
	for (uint32_t i = 0; i < ask->constraints.count; i++) {
		const struct constraint *c = ARRAY_AT(&ask->constraints, struct constraint, i);
		need->constraints[i] =
			constraint_compile(c->l_target, c->r_target, c->operand, &ignored);
	}
	for (uint32_t i = 0; i < ask->affinities.count; i++) {
		const struct affinity *a = ARRAY_AT(&ask->affinities, struct affinity, i);
		need->affinities[i].condition =
			constraint_compile(a->l_target, a->r_target, a->operand, &ignored);
		need->affinities[i].weight = a->weight;
		need->weights += fabs((double)a->weight);
	}
	return (uint8_t *)(need->constraints + ask->constraints.count);
}

// Counts the needs of a task; returns what their conditions take.
static size_t count_needs(struct device_needs *needs, const struct task *task)
{
	const struct array *asks = &task->resources.devices;
	size_t bytes = 0;

	for (uint32_t i = 0; i < asks->count; i++) {
		const struct device_ask *ask = ARRAY_AT(asks, struct device_ask, i);
		bytes += ask->affinities.count * sizeof(struct device_affinity) +
			 ask->constraints.count * sizeof(struct compiled_constraint *);
	}
	needs->count += asks->count;
	return bytes;
}

void device_needs_compile(struct device_needs *needs, const struct task_group *group)
{
	size_t bytes = 0;
	*needs = (struct device_needs){0};
	for (uint32_t i = 0; i < group->tasks.count; i++)
		bytes += count_needs(needs, ARRAY_AT(&group->tasks, struct task, i));
	if (needs->count == 0)
		return;
	needs->items = memory_take(needs->count * sizeof *needs->items + bytes);
	uint8_t *room = (uint8_t *)(needs->items + needs->count);
	uint32_t at = 0;
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct array *asks =
			&ARRAY_AT(&group->tasks, struct task, i)->resources.devices;
		for (uint32_t j = 0; j < asks->count; j++) {
			struct device_need *need = &needs->items[at++];
			room = compile_need(need, ARRAY_AT(asks, struct device_ask, j), i, room);
			needs->weights += need->weights;
		}
	}
	CHECK(at == needs->count);
}

void device_needs_release(struct device_needs *needs)
{
	for (uint32_t i = 0; i < needs->count; i++) {
		struct device_need *need = &needs->items[i];
		for (uint32_t j = 0; j < need->ask->constraints.count; j++)
			constraint_free(need->constraints[j]);
		for (uint32_t j = 0; j < need->ask->affinities.count; j++)
			constraint_free(need->affinities[j].condition);
	}
	free(needs->items);
	*needs = (struct device_needs){0};
}

bool device_need_matches(const struct device_need *need, const struct node_class *c, uint32_t group)
{
	CHECK(group < c->device_count);
	const struct device_group *device = &c->devices[group];
	if (!device_is_named(device, need->ask->name))
		return false;
	for (uint32_t i = 0; i < need->ask->constraints.count; i++)
		if (!need->constraints[i] ||
			!constraint_matches_device(need->constraints[i], c, device))
			return false;
	return true;
}

static double matched_weights(
	const struct device_need *need, const struct node_class *c, uint32_t group)
{
	CHECK(group < c->device_count);
	double sum = 0;
	for (uint32_t i = 0; i < need->ask->affinities.count; i++)
		if (need->affinities[i].condition &&
			constraint_matches_device(
				need->affinities[i].condition, c, &c->devices[group]))
			sum += (double)need->affinities[i].weight;
	return sum;
}

static uint32_t device_groups(const struct node_class *c)
{
	return c->device_count < NODE_DEVICE_GROUPS_MAX ? c->device_count : NODE_DEVICE_GROUPS_MAX;
}

struct device_set device_set_of_class(const struct node_class *c)
{
	struct device_set all = {0};
	for (uint32_t i = 0; i < device_groups(c); i++) {
		uint8_t instances = c->devices[i].instances;
		all.groups[i] = instances >= NODE_DEVICES_MAX ? ~0ull : (1ull << instances) - 1;
	}
	return all;
}

// Bounds a search that may try every way: needs that compete for groups are usually few, but nobody promises it.
#define STEPS_MAX 4096u

struct search {
	const struct device_needs *needs;
	const struct node_class *node_class;
	uint32_t left[NODE_DEVICE_GROUPS_MAX]; // free instances
	struct device_choice *choice;
	uint32_t steps;
};

// Orders the device groups that can serve a need, by its affinities, then by their place in the class.
static uint32_t order_groups(const struct search *s, const struct device_need *need,
	uint8_t order[NODE_DEVICE_GROUPS_MAX], double weights[NODE_DEVICE_GROUPS_MAX])
{
	uint32_t count = 0;
	for (uint8_t group = 0; group < device_groups(s->node_class); group++) {
		if (s->left[group] < need->ask->count ||
			!device_need_matches(need, s->node_class, group))
			continue;
		double weight = matched_weights(need, s->node_class, group);
		uint32_t at = count++;
		for (; at > 0 && weights[at - 1] < weight; at--) {
			order[at] = order[at - 1];
			weights[at] = weights[at - 1];
		}
		order[at] = group;
		weights[at] = weight;
	}
	CHECK(count <= NODE_DEVICE_GROUPS_MAX);
	return count;
}

static bool choose_groups(struct search *s, uint32_t at)
{
	CHECK(at <= s->needs->count);
	uint8_t order[NODE_DEVICE_GROUPS_MAX];
	double weights[NODE_DEVICE_GROUPS_MAX];
	if (at == s->needs->count)
		return true;
	const struct device_need *need = &s->needs->items[at];
	uint32_t count = order_groups(s, need, order, weights);
	for (uint32_t i = 0; i < count && s->steps < STEPS_MAX; i++) {
		s->steps++;
		s->left[order[i]] -= (uint32_t)need->ask->count;
		s->choice->groups[at] = order[i];
		s->choice->matched += weights[i];
		if (choose_groups(s, at + 1))
			return true;
		s->left[order[i]] += (uint32_t)need->ask->count;
		s->choice->matched -= weights[i];
	}
	return false;
}

bool device_needs_choose(const struct device_needs *needs, const struct node_class *c,
	const struct device_set *free_set, struct device_choice *choice)
{
	CHECK(needs->count == 0 || needs->items);
	struct search s = {.needs = needs, .node_class = c, .choice = choice};
	if (needs->count > DEVICE_NEEDS_MAX)
		return false;
	choice->matched = 0;
	for (uint32_t i = 0; i < device_groups(c); i++)
		s.left[i] = (uint32_t)__builtin_popcountll(free_set->groups[i]);
	return choose_groups(&s, 0);
}

bool device_needs_score(const struct device_needs *needs, const struct node_class *c,
	const struct device_set *free_set, double *score)
{
	struct device_choice choice;
	bool served = device_needs_choose(needs, c, free_set, &choice);

	CHECK(needs->weights >= 0);
	*score = served && needs->weights > 0 ? choice.matched / needs->weights : 0;
	return served;
}

_Static_assert(NODE_DEVICE_GROUPS_MAX <= 10 && NODE_DEVICES_MAX <= 100,
	"the id of an instance has three digits at most");

// Its id is "group-instance".
static char *instance_id(struct task_room *room, uint32_t group, uint32_t instance)
{
	CHECK(group < NODE_DEVICE_GROUPS_MAX && instance < NODE_DEVICES_MAX);
	char id[5] = {(char)('0' + group), '-'}, *at = id + 2;
	if (instance >= 10)
		*at++ = (char)('0' + instance / 10);
	*at = (char)('0' + instance % 10);
	return task_room_text(room, (struct text){id, (uint32_t)(at + 1 - id)});
}

static struct allocated_device *device_entry(struct task_room *room, const struct task *task,
	const struct device_group *from, int64_t count)
{
	struct array *devices = &task_room_entry(room, task->name)->devices;
	uint32_t asks = task->resources.devices.count;

	CHECK(devices->count < asks);
	if (devices->count == 0)
		devices->items = task_room_items(room, asks * sizeof(struct allocated_device));
	struct allocated_device *device =
		ARRAY_AT(devices, struct allocated_device, devices->count++);
	device->vendor = task_room_text(room, text_of(from->vendor));
	device->type = task_room_text(room, text_of(from->type));
	device->name = task_room_text(room, text_of(from->name));
	device->device_ids.items = task_room_items(room, (size_t)count * sizeof(char *));
	return device;
}

void device_needs_assign(const struct device_needs *needs, const struct task_group *group,
	const struct node_class *c, const struct device_set *free_set,
	const struct device_choice *choice, struct device_set *taken, struct task_room *room)
{
	CHECK(needs->count <= DEVICE_NEEDS_MAX);
	struct device_set left = *free_set;
	*taken = (struct device_set){0};
	for (uint32_t i = 0; i < needs->count; i++) {
		const struct device_need *need = &needs->items[i];
		const struct task *task = ARRAY_AT(&group->tasks, struct task, need->task);
		uint32_t from = choice->groups[i];
		CHECK(from < c->device_count);
		struct allocated_device *device =
			device_entry(room, task, &c->devices[from], need->ask->count);
		char **ids = device->device_ids.items;
		for (int64_t n = 0; n < need->ask->count; n++) {
			CHECK(left.groups[from]);
			uint32_t instance = (uint32_t)__builtin_ctzll(left.groups[from]);
			left.groups[from] &= left.groups[from] - 1;
			taken->groups[from] |= 1ull << instance;
			ids[device->device_ids.count++] = instance_id(room, from, instance);
		}
	}
}
