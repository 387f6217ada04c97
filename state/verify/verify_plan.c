// Checks what no plan may break, in the result of all plans together.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/nodes/node_ports_cores.h"
#include "state/tables/state.h"
#include "state/verify/verifier.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

void verify_ports_cores(struct verifier *v, const struct node_cell *node)
{
	struct node_ports_cores held = {0};
	const struct alloc_cell *cell;
	bool are_single = true;

	if (node->with_details == 0)
		return;
	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		if (!alloc_cell_is_living(cell) || !cell->working->details)
			continue;
		are_single &= node_ports_add(&held, cell->working->details);
		are_single &= node_cores_add(&held, cell->working->details);
	}
	expect(v, are_single, "slot %u: a port or a core is given twice", node->working->slot);
	node_ports_cores_release(&held);
}

static const char *group_of(const struct allocation *a)
{
	return allocation_group(a)->name;
}

static int by_name(const void *left, const void *right)
{
	const struct allocation *a = *(const struct allocation *const *)left;
	const struct allocation *b = *(const struct allocation *const *)right;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	if (a->node_slot != b->node_slot)
		return a->node_slot < b->node_slot ? -1 : 1;
	return strcmp(group_of(a), group_of(b));
}

// Allocations of service and batch jobs may share a name for a while (plan_names.c).
static bool is_single(const struct allocation *a)
{
	return !job_is_counted(a->job);
}

void verify_names(struct verifier *v, const struct job_cell *job)
{
	const struct allocation **living = memory_take_array(job->live_count + 1, sizeof living[0]);
	const struct alloc_cell *cell;
	uint32_t count = 0;

	FOR_ALLOCATIONS_OF(cell, job)
	if (alloc_cell_is_living(cell) && is_single(cell->working) &&
		cell->working->node_slot != NODE_SLOT_NONE && count < job->live_count)
		living[count++] = cell->working;
	qsort(living, count, sizeof living[0], by_name);
	for (uint32_t i = 1; i < count; i++)
		expect(v, by_name(&living[i - 1], &living[i]) != 0,
			"job %s: two living allocations are %s[%u] on one node", job->id,
			group_of(living[i]), living[i]->index);
	free(living);
}
