// The placer of direct jobs: answers the applier from the fit index and the candidate caches.
#include "placement/direct/candidate_cache_table.h"
#include "placement/direct/fit_input.h"
#include "placement/direct/placement.h"
#include "placement/direct/slot_queue.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/nodes/node_extra.h"
#include <stdatomic.h>
#include <stdlib.h>

struct placement {
	struct state *state;
	struct fit_index *index;
	struct candidate_cache_table *caches;
	// Slots whose node changed since the index was updated. A plan may change a hundred thousand nodes and ask for
	// none: the index catches up when somebody asks, or when nothing else waits.
	struct slot_queue changed;
	struct placement_counters counters;
};

static const struct node_class *class_at(void *context, uint32_t node_class)
{
	struct placement *p = context;
	return state_class(p->state, node_class);
}

static const struct node *node_at(void *context, uint32_t slot)
{
	struct placement *p = context;
	const struct node_cell *cell = state_node_cell(p->state, slot);
	return cell ? cell->working : NULL;
}

struct placement *placement_create(struct state *state, enum placement_algorithm algorithm)
{
	struct placement *p = memory_take(sizeof *p);
	struct candidate_source source = {class_at, node_at, p};
	p->state = state;
	p->index = fit_index_create(algorithm);
	p->caches = candidate_cache_table_create(p->index, &source);
	return p;
}

void placement_destroy(struct placement *p)
{
	if (!p)
		return;
	candidate_cache_table_destroy(p->caches);
	fit_index_destroy(p->index);
	slot_queue_release(&p->changed);
	free(p);
}

const struct placement_counters *placement_counters(const struct placement *p)
{
	return &p->counters;
}

static void count_decision(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static struct fit_input input_of(const struct node_cell *cell)
{
	const struct node *n = cell->working;
	const char *snapshot = n->snapshot ? n->snapshot : "";
	return fit_input_of(
		n, cell->used, node_devices_used(cell), cell->living > 0 ? NULL : snapshot);
}

static void follow_changes(struct placement *p, uint32_t slot)
{
	const struct node_cell *cell = state_node_cell(p->state, slot);
	if (!cell || !cell->working || cell->working->record.deleted) {
		fit_index_set(p->index, slot, NULL);
		return;
	}
	struct fit_input in = input_of(cell);
	fit_index_set(p->index, slot, &in);
}

static void node_changed(void *context, uint32_t slot)
{
	struct placement *p = context;
	slot_queue_add(&p->changed, slot);
}

// What changed at once lies anywhere in the table: cells are fetched twice as far ahead as their records.
#define CHANGES_AHEAD 6u

static void prefetch_changes(const struct placement *p)
{
	uint32_t waiting = slot_queue_waiting(&p->changed);

	if (waiting > 2 * CHANGES_AHEAD)
		__builtin_prefetch(state_node_cell(
			p->state, slot_queue_behind(&p->changed, 2 * CHANGES_AHEAD)));
	if (waiting <= CHANGES_AHEAD)
		return;
	const struct node_cell *cell =
		state_node_cell(p->state, slot_queue_behind(&p->changed, CHANGES_AHEAD));
	if (cell)
		__builtin_prefetch(cell->working);
}

static bool catch_up(void *context, uint32_t nodes)
{
	struct placement *p = context;

	for (; nodes > 0 && slot_queue_waiting(&p->changed) > 0; nodes--) {
		prefetch_changes(p);
		follow_changes(p, slot_queue_take(&p->changed));
	}
	return slot_queue_waiting(&p->changed) > 0;
}

static void best(void *context, const struct job *job, uint32_t group, struct placer_choice *choice,
	struct place_refusal *refusal)
{
	struct placement *p = context;
	catch_up(p, UINT32_MAX);
	struct candidate_cache *cache = candidate_cache_table_get(p->caches, job, group);
	struct fit_candidate winner;
	*choice = (struct placer_choice){
		.slot = PLACER_NO_NODE,
		.nodes_evaluated = fit_index_nodes(p->index) - fit_index_not_ready(p->index),
	};
	if (candidate_cache_best(cache, &winner)) {
		const struct node_cell *cell = state_node_cell(p->state, winner.slot);
		struct device_set free = fit_free_devices(cell->working, node_devices_used(cell));
		CHECK(candidate_cache_devices(cache, winner.slot, &free, &choice->devices));
		choice->slot = winner.slot;
		choice->score = winner.score;
		count_decision(&p->counters.decisions, 1);
	} else {
		candidate_cache_refusal(cache, refusal);
		count_decision(&p->counters.refusals, 1);
	}
	choice->nodes_feasible = candidate_cache_feasible(cache);
	count_decision(&p->counters.scans, candidate_cache_take_scans(cache));
}

static void job_retired(void *context, const struct job *job)
{
	struct placement *p = context;
	candidate_cache_table_forget(p->caches, job);
}

struct placer placement_placer(struct placement *p)
{
	return (struct placer){p, best, node_changed, job_retired, catch_up};
}
