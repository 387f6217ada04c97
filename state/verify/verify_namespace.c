// Namespaces and quotas: what is kept as used is the sum over living allocations.
#include "state/records/namespaces/quota.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_allocations.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/namespaces/quota_table.h"
#include "state/tables/sequence.h"
#include "state/tables/table.h"
#include "state/verify/verifier.h"
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

// What a namespace is found to have.
struct found {
	const struct namespace_cell *space;
	uint32_t jobs;
	struct quota_amount used;
};

static struct found *found_of(struct array *all, const struct namespace_cell *space)
{
	for (uint32_t i = all->count; i > 0; i--)
		if (ARRAY_AT(all, struct found, i - 1)->space == space)
			return ARRAY_AT(all, struct found, i - 1);
	struct found *found = array_append(all, sizeof *found);
	*found = (struct found){.space = space};
	return found;
}

static void add_job(struct array *all, const struct job_cell *job)
{
	struct found *found = found_of(all, job->space);
	const struct alloc_cell *cell;

	found->jobs++;
	FOR_ALLOCATIONS_OF(cell, job)
	{
		const struct allocation *a = cell->working;
		// Of one without a group verify_allocations() tells.
		if (!a->record.deleted && !allocation_is_terminal(a) &&
			a->group < a->job->asks.count)
			quota_amount_add(&found->used, a->resources,
				ARRAY_AT(&a->job->asks, struct group_ask, a->group), 1);
	}
}

static void check_namespace(struct verifier *v, const struct found *found)
{
	const struct namespace_cell *space = found->space;
	struct text name = text_of(space->name);

	expect(v, (const void *)space == table_find(v->state, STATE_NAMESPACES, &name),
		"namespace %s: its name does not lead to it", space->name);
	expect(v, space->jobs == found->jobs, "namespace %s: %u jobs, not %u", space->name,
		found->jobs, space->jobs);
	expect(v, quota_amount_equal(&space->used, &found->used),
		"namespace %s: what is used does not add up", space->name);
}

static void check_quota(struct verifier *v, const struct quota_cell *quota)
{
	const struct namespace_cell *space;
	struct quota_amount used = {0};
	uint64_t cursor = 0;
	uint32_t count = 0;

	while ((space = sequence_next(&v->state->tables[STATE_NAMESPACES].order, &cursor))) {
		bool names_it = cell_is_there(&space->cell) &&
				text_equal(text_of(space->working->quota), text_of(quota->name));
		expect(v, names_it == (space->quota == quota),
			"namespace %s: wrongly counted against quota %s", space->name, quota->name);
		if (space->quota == quota)
			quota_amount_merge(&used, &space->used, 1);
		count += space->quota == quota;
	}
	expect(v, count == quota->namespaces, "quota %s: %u namespaces, not %u", quota->name, count,
		quota->namespaces);
	expect(v, quota_amount_equal(&used, &quota->used), "quota %s: what is used does not add up",
		quota->name);
	quota_amount_free(&used);
}

void verify_namespaces(struct verifier *v)
{
	const struct job_cell *job;
	const struct quota_cell *quota;
	struct array all = {0};
	uint64_t cursor = 0;

	while ((job = sequence_next(&v->state->tables[STATE_JOBS].order, &cursor)))
		add_job(&all, job);
	for (uint32_t i = 0; i < all.count; i++) {
		check_namespace(v, ARRAY_AT(&all, struct found, i));
		quota_amount_free(&ARRAY_AT(&all, struct found, i)->used);
	}
	free(all.items);
	cursor = 0;
	while ((quota = sequence_next(&v->state->tables[STATE_QUOTAS].order, &cursor)))
		if (cell_is_there(&quota->cell))
			check_quota(v, quota);
}
