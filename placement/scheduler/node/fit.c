// Gives out ports first, then devices and cores, then cpu, memory and disk. What one ask was given counts as gone for
// the next.
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/preempt.h"
#include "placement/scheduler/rules/cores.h"
#include "placement/scheduler/rules/device_assign.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static bool option_exhausted(struct stack_option *o, const char *dimension)
{
	CHECK(dimension && dimension[0]);
	o->outcome = STACK_EXHAUSTED;
	o->reason = dimension;
	return false;
}

static uint32_t saturated_sum(uint32_t a, uint32_t b)
{
	uint32_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT32_MAX : sum;
}

static struct resources sum_of(struct resources a, struct resources b)
{
	return (struct resources){saturated_sum(a.cpu_mhz, b.cpu_mhz),
		saturated_sum(a.memory_mb, b.memory_mb), saturated_sum(a.disk_mb, b.disk_mb)};
}

const char *const shortage_reasons[NODE_SHORTAGES] = {
	[SHORT_OF_CPU] = "cpu",
	[SHORT_OF_MEMORY] = "memory",
	[SHORT_OF_DISK] = "disk",
	[SHORT_OF_CORES] = "cores",
	[SHORT_OF_DEVICES] = "devices: no devices match request",
};

const char *resources_shortage(
	const struct resources *capacity, const struct resources *used, const struct resources *ask)
{
	if ((uint64_t)used->cpu_mhz + ask->cpu_mhz > capacity->cpu_mhz)
		return shortage_reasons[SHORT_OF_CPU];
	if ((uint64_t)used->memory_mb + ask->memory_mb > capacity->memory_mb)
		return shortage_reasons[SHORT_OF_MEMORY];
	if ((uint64_t)used->disk_mb + ask->disk_mb > capacity->disk_mb)
		return shortage_reasons[SHORT_OF_DISK];
	return NULL;
}

double stack_fit_score(const struct stack *s, const struct resources *capacity,
	const struct resources *used, const struct resources *ask)
{
	return placement_score(s->algorithm, *capacity, sum_of(*used, *ask));
}

static void take_victims(struct stack *s, struct stack_option *o)
{
	CHECK(s->victim_count == 0 || s->victims);
	o->preempted = s->victims;
	o->preempted_count = s->victim_count;
}

// Scores the node as it is now plus the new instance: victims for cpu, memory and disk still count.
static bool fit_resources(struct stack *s, const struct node *n, const struct resources *used,
	bool evict, struct stack_option *o)
{
	struct resources capacity = node_capacity(n);
	const char *dimension = resources_shortage(&capacity, used, &o->resources);
	if (dimension && (!evict || !preempt_for_resources(s, n, used, &o->resources)))
		return option_exhausted(o, dimension);
	option_record(o, SCORE_BINPACK, stack_fit_score(s, &capacity, used, &o->resources));
	return true;
}

struct fitting {
	struct stack *s;
	const struct group_rules *g;
	const struct node *node;
	struct stack_option *option;
	bool evict;
	uint32_t victims_gone; // of s->victims, already taken off used and devices_used
	struct resources used;
	struct device_set devices_used, devices_taken;
	struct core_set cores_used;
	struct task_room room;
};

static bool add_details(const struct proposed_allocation *a, void *context)
{
	struct fitting *f = context;
	if (group_asks_ports(f->g))
		port_index_take(&f->s->ports, a->details);
	core_set_add_details(&f->cores_used, a->details);
	return true;
}

static bool add_unless_victim(const struct proposed_allocation *a, void *context)
{
	struct fitting *f = context;
	for (uint32_t i = 0; i < f->s->victim_count; i++)
		if (a->existing == f->s->victims[i])
			return true;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		f->devices_used.groups[i] |= a->devices->groups[i];
	return add_details(a, f);
}

// Recomputes what the node holds without the victims chosen so far, and what this instance was given.
static void look_again(struct fitting *f)
{
	CHECK(f->evict);
	struct stack *s = f->s;
	for (; f->victims_gone < s->victim_count; f->victims_gone++)
		f->used = resources_minus(f->used, s->victims[f->victims_gone]->resources);
	f->devices_used = (struct device_set){0};
	if (group_asks_ports(f->g))
		port_index_begin(&s->ports, f->node);
	f->cores_used = (struct core_set){0};
	proposal_walk_details(&s->proposal, f->node->slot, add_unless_victim, f);
	if (group_asks_ports(f->g))
		port_index_take(&s->ports, f->room.details);
	core_set_add_details(&f->cores_used, f->room.details);
	CHECK(f->victims_gone == f->s->victim_count);
}

static void fitting_begin(struct fitting *f)
{
	CHECK(!f->room.details);
	struct stack *s = f->s;
	struct node_use use = proposal_use(&s->proposal, f->node->slot);
	f->used = use.used;
	f->devices_used = use.devices;
	task_room_begin(&f->room, f->g->group, f->node->node_class);
	if (group_asks_ports(f->g))
		port_index_begin(&s->ports, f->node);
	if (use.with_details > 0)
		proposal_walk_details(&s->proposal, f->node->slot, add_details, f);
}

static bool network_exhausted(struct fitting *f, const char *why)
{
	CHECK(why);
	return option_exhausted(f->option, reasons_format(&f->s->reasons, "network: %s", why));
}

static void drop_group_network(struct alloc_details *details)
{
	struct alloc_details *empty = alloc_details_create();
	struct array ports = details->ports, networks = details->networks;
	details->ports = details->networks = (struct array){0};
	empty->ports = ports;
	empty->networks = networks;
	alloc_details_release(empty);
	CHECK(details->ports.count == 0 && details->networks.count == 0);
}

static bool fit_group_network(struct fitting *f)
{
	struct stack *s = f->s;
	const struct network_ask *ask = f->g->needs.network;
	if (!ask)
		return true;
	const char *why = ports_assign_group(&s->ports, &s->reasons, ask, f->room.details);
	if (!why)
		return true;
	if (!f->evict)
		return network_exhausted(f, why);
	drop_group_network(f->room.details);
	look_again(f);
	if (!preempt_for_ports(s, f->node, ask))
		return network_exhausted(f, why);
	look_again(f);
	why = ports_assign_group(&s->ports, &s->reasons, ask, f->room.details);
	return why ? network_exhausted(f, why) : true;
}

static bool fit_task_network(struct fitting *f, const struct task *task)
{
	CHECK(f->room.details);
	struct stack *s = f->s;
	if (task->resources.networks.count == 0)
		return true;
	const struct network_ask *ask = ARRAY_AT(&task->resources.networks, struct network_ask, 0);
	const char *why = ports_assign_task(
		&s->ports, &s->reasons, ask, task_room_entry(&f->room, task->name));
	if (!why)
		return true;
	if (!f->evict || !preempt_for_task_ports(s, f->node, ask))
		return network_exhausted(f, why);
	look_again(f);
	why = ports_assign_task(&s->ports, &s->reasons, ask, task_room_entry(&f->room, task->name));
	return why ? network_exhausted(f, why) : true;
}

static struct device_set free_devices(const struct fitting *f)
{
	struct device_set left = device_set_of_class(f->node->node_class);
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		left.groups[i] &= ~(f->devices_used.groups[i] | f->devices_taken.groups[i]);
	return left;
}

static void remove_lowest(uint64_t *set, int64_t count)
{
	CHECK(count >= 0);
	for (; count > 0 && *set; count--)
		*set &= *set - 1;
}

static bool choose_devices(const struct device_needs *needs, const struct node_class *c,
	const struct device_set *left, struct device_choice *choice)
{
	uint8_t counts[NODE_DEVICE_GROUPS_MAX];
	device_counts(left, counts);
	return device_needs_choose(needs, c, NULL, counts, choice);
}

// Finds the first need that cannot be served, after earlier needs have taken theirs from `left`.
static const struct device_need *first_unserved(const struct fitting *f, struct device_set *left)
{
	CHECK(f->g->needs.devices.count > 0);
	const struct device_needs *all = &f->g->needs.devices;
	struct device_needs some = *all;
	struct device_choice choice, before;
	for (some.count = 1; some.count <= all->count; some.count++) {
		if (!choose_devices(&some, f->node->node_class, left, &choice))
			break;
		before = choice;
	}
	for (uint32_t i = 0; i + 1 < some.count; i++)
		remove_lowest(&left->groups[before.groups[i]], all->items[i].ask->count);
	return some.count <= all->count ? &all->items[some.count - 1] : NULL;
}

static bool make_room_for_devices(struct fitting *f, struct device_choice *choice)
{
	CHECK(f->evict);
	for (uint32_t tries = 0; tries < f->g->needs.devices.count; tries++) {
		struct device_set left = free_devices(f);
		const struct device_need *need = first_unserved(f, &left);
		if (!need || !preempt_for_devices(f->s, f->node, need, &left))
			return false;
		look_again(f);
		left = free_devices(f);
		if (choose_devices(&f->g->needs.devices, f->node->node_class, &left, choice))
			return true;
	}
	return false;
}

static bool any_is_in(const struct device_set *set)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		any |= set->groups[i];
	return any != 0;
}

bool stack_serves_devices(
	const struct stack *s, const struct group_rules *g, const struct node *n, double *score)
{
	struct node_use use = proposal_use(&s->proposal, n->slot);
	struct device_set left = device_set_of_class(n->node_class);
	uint8_t counts[NODE_DEVICE_GROUPS_MAX];

	CHECK(g->needs.devices.count > 0);
	*score = 0;
	// The class takes the group, so all of its devices are enough.
	if (g->needs.devices.weights == 0 && !any_is_in(&use.devices))
		return true;
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		left.groups[i] &= ~use.devices.groups[i];
	device_counts(&left, counts);
	return device_needs_score(&g->needs.devices, n->node_class, counts, score);
}

bool stack_lacks_devices(struct stack_option *o)
{
	return option_exhausted(o, o->node->node_class->device_count == 0
					   ? "devices: no devices available"
					   : shortage_reasons[SHORT_OF_DEVICES]);
}

static bool fit_devices(struct fitting *f)
{
	const struct device_needs *needs = &f->g->needs.devices;
	const struct node_class *c = f->node->node_class;
	struct device_choice choice;
	struct device_set left = free_devices(f);
	if (needs->count == 0)
		return true;
	if (!choose_devices(needs, c, &left, &choice) &&
		(!f->evict || !make_room_for_devices(f, &choice)))
		return stack_lacks_devices(f->option);
	left = free_devices(f);
	device_needs_assign(needs, f->g->group, c, &left, &choice, &f->devices_taken, &f->room);
	if (needs->weights > 0)
		option_record(f->option, SCORE_DEVICES, choice.matched / needs->weights);
	CHECK(needs->count <= DEVICE_NEEDS_MAX);
	return true;
}

struct resources stack_ask(const struct group_rules *g, const struct node *n)
{
	struct resources ask = g->ask;
	CHECK(n);
	if (g->cores)
		ask.cpu_mhz = cpu_with_cores(g->group, node_shares_per_core(n));
	return ask;
}

static bool add_cores(const struct proposed_allocation *a, void *context)
{
	core_set_add_details(context, a->details);
	return true;
}

bool stack_serves_cores(const struct stack *s, const struct group_rules *g, const struct node *n)
{
	CHECK(g->cores);
	struct core_set left = node_reservable_cores(n), used = {0};
	if (proposal_use(&s->proposal, n->slot).with_details > 0)
		proposal_walk_details(&s->proposal, n->slot, add_cores, &used);
	core_set_remove(&left, &used);
	return core_set_count(&left) >= group_cores(g->group);
}

static bool fit_cores(struct fitting *f)
{
	CHECK(f->g->cores);
	struct core_set left = node_reservable_cores(f->node);
	int64_t shares_per_core = node_shares_of_cores(f->node, &left);
	core_set_remove(&left, &f->cores_used);
	for (uint32_t i = 0; i < f->g->group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&f->g->group->tasks, struct task, i);
		if (task->resources.cores <= 0)
			continue;
		struct allocated_task *given = task_room_entry(&f->room, task->name);
		if (!core_set_take(&left, task->resources.cores, &f->room, given))
			return option_exhausted(f->option, shortage_reasons[SHORT_OF_CORES]);
		given->cpu_shares = task->resources.cores * shares_per_core;
	}
	f->option->resources.cpu_mhz = cpu_with_cores(f->g->group, shares_per_core);
	return true;
}

static void grant_memory(struct fitting *f)
{
	for (uint32_t i = 0; f->g->memory_max && i < f->g->group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&f->g->group->tasks, struct task, i);
		if (task->resources.memory_max_mb > 0)
			task_room_entry(&f->room, task->name)->memory_max_mb =
				task->resources.memory_max_mb;
	}
}

static bool fit_task_networks(struct fitting *f)
{
	CHECK(f->g->task_networks);
	for (uint32_t i = 0; i < f->g->group->tasks.count; i++)
		if (!fit_task_network(f, ARRAY_AT(&f->g->group->tasks, struct task, i)))
			return false;
	return true;
}

static bool fit_all(struct fitting *f)
{
	return fit_group_network(f) && (!f->g->task_networks || fit_task_networks(f)) &&
	       fit_devices(f) && (!f->g->cores || fit_cores(f)) &&
	       fit_resources(f->s, f->node, &f->used, f->evict, f->option);
}

static bool fit_with_details(struct stack *s, const struct group_rules *g, const struct node *n,
	bool evict, struct stack_option *o)
{
	CHECK(!g->plain && !o->details);
	struct fitting f = {.s = s, .g = g, .node = n, .option = o, .evict = evict};
	fitting_begin(&f);
	if (!fit_all(&f)) {
		alloc_details_release(f.room.details);
		return false;
	}
	grant_memory(&f);
	o->devices = f.devices_taken;
	o->details = f.room.details;
	return true;
}

bool stack_fit(struct stack *s, struct group_rules *g, const struct node *n, bool evict,
	struct stack_option *o)
{
	CHECK(!o->preempted_count);
	o->resources = g->ask;
	s->victim_count = 0;
	s->candidates_known = false;
	s->basis = (struct victim_basis){0};
	if (g->plain) {
		struct resources used = proposal_used(&s->proposal, n->slot);
		if (!fit_resources(s, n, &used, evict, o))
			return false;
	} else if (!fit_with_details(s, g, n, evict, o)) {
		return false;
	}
	take_victims(s, o);
	CHECK(evict || o->preempted_count == 0);
	return true;
}
