#include "placement/scheduler/rules/cores.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

struct core_set core_set_parse(const char *ranges)
{
	struct core_set set = {0};
	while (ranges && *ranges) {
		char *end;
		long first = strtol(ranges, &end, 10), last = first;
		if (end == ranges || first < 0)
			break;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long core = first; core <= last && core < (long)CORES_MAX; core++)
			set.words[core / 64] |= 1ull << (core % 64);
		ranges = *end == ',' ? end + 1 : "";
	}
	return set;
}

struct core_set node_reservable_cores(const struct node *node)
{
	return core_set_parse(node_fittings(node)->reservable_cores);
}

uint32_t core_set_count(const struct core_set *set)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < CORES_MAX / 64; i++)
		if (set->words[i]) // few nodes have so many
			count += (uint32_t)__builtin_popcountll(set->words[i]);
	CHECK(count <= CORES_MAX);
	return count;
}

void core_set_remove(struct core_set *from, const struct core_set *gone)
{
	for (uint32_t i = 0; i < CORES_MAX / 64; i++)
		from->words[i] &= ~gone->words[i];
}

void core_set_add_details(struct core_set *set, const struct alloc_details *details)
{
	for (uint32_t i = 0; details && i < details->tasks.count; i++) {
		const struct array *cores =
			&ARRAY_AT(&details->tasks, struct allocated_task, i)->reserved_cores;
		for (uint32_t j = 0; j < cores->count; j++) {
			int64_t core = *ARRAY_AT(cores, int64_t, j);
			if (core >= 0 && core < CORES_MAX)
				set->words[core / 64] |= 1ull << (core % 64);
		}
	}
}

bool core_set_take(
	struct core_set *set, int64_t count, struct task_room *room, struct allocated_task *task)
{
	CHECK(count > 0 && task->reserved_cores.count == 0);
	if (core_set_count(set) < count)
		return false;
	int64_t *cores = task_room_items(room, (size_t)count * sizeof *cores);
	task->reserved_cores.items = cores;
	for (uint32_t i = 0; i < CORES_MAX / 64; i++)
		for (; count > 0 && set->words[i]; count--) {
			cores[task->reserved_cores.count++] =
				(int64_t)i * 64 + __builtin_ctzll(set->words[i]);
			set->words[i] &= set->words[i] - 1;
		}
	CHECK(count == 0);
	return true;
}

int64_t group_cores(const struct task_group *group)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		int64_t cores = ARRAY_AT(&group->tasks, struct task, i)->resources.cores;
		sum += cores > 0 ? cores : 0;
	}
	CHECK(sum >= 0);
	return sum;
}

int64_t node_shares_per_core(const struct node *node)
{
	struct core_set reservable = node_reservable_cores(node);
	return node_shares_of_cores(node, &reservable);
}

int64_t node_shares_of_cores(const struct node *node, const struct core_set *reservable)
{
	const char *reported = node_attribute(node, "cpu.numcores");
	long cores = reported ? strtol(reported, NULL, 10) : 0;
	int64_t least = core_set_count(reservable);
	if (cores < least)
		cores = least;
	return cores > 0 ? node->total.cpu_mhz / cores : 0;
}

uint32_t cpu_with_cores(const struct task_group *group, int64_t shares_per_core)
{
	CHECK(shares_per_core >= 0);
	struct task_group copy = *group;
	struct task *tasks = memory_take_array(group->tasks.count + 1, sizeof *tasks);
	memcpy(tasks, group->tasks.items, group->tasks.count * sizeof *tasks);
	for (uint32_t i = 0; i < group->tasks.count; i++)
		if (tasks[i].resources.cores > 0)
			tasks[i].resources.cpu = tasks[i].resources.cores * shares_per_core;
	copy.tasks.items = tasks;
	struct group_footprint print = task_group_footprint(&copy);
	free(tasks);
	return print.cpu_mhz > ASK_MAX ? ASK_MAX : (uint32_t)print.cpu_mhz;
}
