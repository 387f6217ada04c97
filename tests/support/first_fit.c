#include "tests/support/first_fit.h"
#include "state/tables/nodes/node_extra.h"
#include <stdio.h>

static bool names(const struct device_group *group, const char *ask)
{
	char full[512], type[256];

	snprintf(full, sizeof full, "%s/%s", group->vendor, group->type);
	snprintf(type, sizeof type, "%s", group->type);
	return strcmp(ask, type) == 0 || strcmp(ask, full) == 0;
}

static uint64_t lowest(uint64_t free, uint32_t count)
{
	uint64_t taken = 0;

	for (; count && free; count--) {
		taken |= free & -free;
		free &= free - 1;
	}
	return count ? 0 : taken;
}

static bool take_devices(
	const struct node_cell *cell, const char *name, uint32_t count, struct device_set *devices)
{
	const struct node_class *c = cell->working->node_class;

	for (uint32_t i = 0; i < c->device_count; i++) {
		uint8_t instances = c->devices[i].instances;
		uint64_t all = instances >= 64 ? ~0ull : (1ull << instances) - 1;
		uint64_t free = all & ~node_devices_used(cell)->groups[i] & ~devices->groups[i];
		if (!names(&c->devices[i], name) || !lowest(free, count))
			continue;
		devices->groups[i] |= lowest(free, count);
		return true;
	}
	return false;
}

static struct resources free_of(const struct node_cell *cell)
{
	return resources_minus(node_capacity(cell->working), cell->used);
}

bool first_fit_takes(
	const struct node_cell *cell, const struct group_ask *ask, struct device_set *devices)
{
	const struct node *n = cell->working;

	*devices = (struct device_set){0};
	if (!n || !node_is_usable(n) || !resources_fit(ask->resources, free_of(cell)))
		return false;
	for (uint32_t i = 0; i < ask->device_count; i++)
		if (!take_devices(cell, ask->devices[i].name, ask->devices[i].count, devices))
			return false;
	return true;
}

static void best(void *context, const struct job *job, uint32_t group, struct placer_choice *choice,
	struct place_refusal *refusal)
{
	const struct group_ask *ask = ARRAY_AT(&job->asks, struct group_ask, group);

	*choice = (struct placer_choice){.slot = PLACER_NO_NODE, .score = 0.5};
	*refusal = (struct place_refusal){0};
	for (uint32_t slot = 0; slot < state_node_slots(context); slot++) {
		const struct node_cell *cell = state_node_cell(context, slot);
		struct device_set devices;
		if (!cell->working)
			continue;
		refusal->nodes_seen++;
		choice->nodes_evaluated++;
		if (!first_fit_takes(cell, ask, &devices)) {
			refusal->exhausted_cpu += node_is_usable(cell->working) &&
						  free_of(cell).cpu_mhz < ask->resources.cpu_mhz;
			continue;
		}
		if (choice->nodes_feasible++ == 0) {
			choice->slot = slot;
			choice->devices = devices;
		}
	}
}

static void node_changed(void *context, uint32_t slot)
{
}

static void job_retired(void *context, const struct job *job)
{
}

struct placer first_fit_placer(struct state *state)
{
	return (struct placer){state, best, node_changed, job_retired};
}
