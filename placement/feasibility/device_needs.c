#include "placement/feasibility/device_needs.h"
#include "placement/feasibility/condition.h"
#include "state/base/check.h"
#include <math.h>
#include <string.h>

static void compile_need(struct device_need *need, const struct job *job,
	const struct device_ask *ask, uint32_t task, struct arena *memory)
{
	CHECK(ask);
	uint32_t constraints = ask->constraints.count, affinities = ask->affinities.count;
	*need = (struct device_need){ask, task, constraints, affinities, NULL, NULL, 0};
	if (constraints > 0)
		need->constraints = arena_room(memory, constraints * sizeof *need->constraints);
	for (uint32_t i = 0; i < constraints; i++) {
		const struct constraint *c = ARRAY_AT(&ask->constraints, struct constraint, i);
		need->constraints[i] = condition_compile(job, c->l_target, c->operand, c->r_target);
	}
	if (affinities > 0)
		need->affinities = arena_room(memory, affinities * sizeof *need->affinities);
	for (uint32_t i = 0; i < affinities; i++) {
		const struct affinity *a = ARRAY_AT(&ask->affinities, struct affinity, i);
		need->affinities[i] = (struct device_affinity){
			condition_compile(job, a->l_target, a->operand, a->r_target), a->weight};
		need->weights += fabs((double)a->weight);
	}
}

void device_needs_compile(struct device_needs *needs, const struct job *job,
	const struct task_group *group, struct arena *memory)
{
	*needs = (struct device_needs){0};
	for (uint32_t i = 0; i < group->tasks.count; i++)
		needs->count += ARRAY_AT(&group->tasks, struct task, i)->resources.devices.count;
	CHECK(needs->count <= DEVICE_NEEDS_MAX); // a job that asks for more is refused
	if (needs->count == 0)
		return;
	needs->items = arena_room(memory, needs->count * sizeof *needs->items);
	uint32_t at = 0;
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct array *asks =
			&ARRAY_AT(&group->tasks, struct task, i)->resources.devices;
		for (uint32_t j = 0; j < asks->count; j++) {
			struct device_need *need = &needs->items[at++];
			compile_need(need, job, ARRAY_AT(asks, struct device_ask, j), i, memory);
			needs->weights += need->weights;
		}
	}
	CHECK(at == needs->count);
}

void device_needs_release(struct device_needs *needs)
{
	for (uint32_t i = 0; i < needs->count; i++) {
		struct device_need *need = &needs->items[i];
		for (uint32_t j = 0; j < need->constraint_count; j++)
			constraint_free(need->constraints[j]);
		for (uint32_t j = 0; j < need->affinity_count; j++)
			constraint_free(need->affinities[j].condition);
	}
	*needs = (struct device_needs){0};
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

bool device_need_matches(const struct device_need *need, const struct node_class *c, uint32_t group)
{
	CHECK(group < c->device_count);
	const struct device_group *device = &c->devices[group];
	if (!device_is_named(device, need->ask->name))
		return false;
	for (uint32_t i = 0; i < need->constraint_count; i++)
		if (!need->constraints[i] ||
			!constraint_matches_device(need->constraints[i], c, device))
			return false;
	return true;
}

static double matched_weights(
	const struct device_need *need, const struct node_class *c, uint32_t group)
{
	double sum = 0;
	for (uint32_t i = 0; c && i < need->affinity_count; i++)
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

void device_needs_match(
	const struct device_needs *needs, const struct node_class *c, uint8_t *matches)
{
	for (uint32_t i = 0; i < needs->count; i++) {
		matches[i] = 0;
		for (uint32_t group = 0; group < device_groups(c); group++)
			if (device_need_matches(&needs->items[i], c, group))
				matches[i] |= (uint8_t)(1u << group);
	}
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

void device_counts(const struct device_set *set, uint8_t counts[NODE_DEVICE_GROUPS_MAX])
{
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		counts[i] = (uint8_t)__builtin_popcountll(set->groups[i]);
}

// Bounds a search that may try every way: needs that compete for groups are usually few, but nobody promises it.
#define STEPS_MAX 4096u

struct search {
	const struct device_needs *needs;
	const struct node_class *node_class;
	const uint8_t *matches;               // device groups by need
	uint8_t left[NODE_DEVICE_GROUPS_MAX]; // free instances
	struct device_choice *choice;
	uint32_t steps;
};

// Orders the device groups that can serve a need, by its affinities, then by their place in the class.
static uint32_t order_groups(const struct search *s, uint32_t at,
	uint8_t order[NODE_DEVICE_GROUPS_MAX], double weights[NODE_DEVICE_GROUPS_MAX])
{
	const struct device_need *need = &s->needs->items[at];
	uint32_t count = 0;
	for (uint8_t bits = s->matches[at]; bits; bits &= (uint8_t)(bits - 1)) {
		uint8_t group = (uint8_t)__builtin_ctz(bits);
		if (s->left[group] < need->ask->count)
			continue;
		double weight = matched_weights(need, s->node_class, group);
		uint32_t to = count++;
		for (; to > 0 && weights[to - 1] < weight; to--) {
			order[to] = order[to - 1];
			weights[to] = weights[to - 1];
		}
		order[to] = group;
		weights[to] = weight;
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
	uint8_t asked = (uint8_t)s->needs->items[at].ask->count; // some group has so many
	uint32_t count = order_groups(s, at, order, weights);
	for (uint32_t i = 0; i < count && s->steps < STEPS_MAX; i++) {
		s->steps++;
		s->left[order[i]] = (uint8_t)(s->left[order[i]] - asked);
		s->choice->groups[at] = order[i];
		s->choice->matched += weights[i];
		if (choose_groups(s, at + 1))
			return true;
		s->left[order[i]] = (uint8_t)(s->left[order[i]] + asked);
		s->choice->matched -= weights[i];
	}
	return false;
}

bool device_needs_choose(const struct device_needs *needs, const struct node_class *c,
	const uint8_t *matches, const uint8_t free_counts[NODE_DEVICE_GROUPS_MAX],
	struct device_choice *choice)
{
	CHECK(needs->count == 0 || needs->items);
	uint8_t own[DEVICE_NEEDS_MAX];
	struct search s = {.needs = needs, .node_class = c, .matches = matches, .choice = choice};
	if (!matches) {
		device_needs_match(needs, c, own);
		s.matches = own;
	}
	choice->matched = 0;
	memcpy(s.left, free_counts, sizeof s.left);
	return choose_groups(&s, 0);
}

bool device_needs_score(const struct device_needs *needs, const struct node_class *c,
	const uint8_t free_counts[NODE_DEVICE_GROUPS_MAX], double *score)
{
	struct device_choice choice;
	bool served = device_needs_choose(needs, c, NULL, free_counts, &choice);

	CHECK(needs->weights >= 0);
	*score = served && needs->weights > 0 ? choice.matched / needs->weights : 0;
	return served;
}

uint32_t device_set_take_lowest(struct device_set *set, uint32_t group)
{
	CHECK(group < NODE_DEVICE_GROUPS_MAX && set->groups[group]);
	uint32_t instance = (uint32_t)__builtin_ctzll(set->groups[group]);
	set->groups[group] &= set->groups[group] - 1;
	return instance;
}

void device_choice_take(const struct device_needs *needs, const struct device_choice *choice,
	const struct device_set *free_set, struct device_set *taken)
{
	struct device_set left = *free_set;
	for (uint32_t i = 0; i < needs->count; i++)
		for (int64_t n = 0; n < needs->items[i].ask->count; n++)
			(void)device_set_take_lowest(&left, choice->groups[i]);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		taken->groups[i] = free_set->groups[i] & ~left.groups[i];
}
