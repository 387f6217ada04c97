// The beginning of a term: what nodes are to know again after a start, and the entry of the new term.
#include "state/applier/applier_private.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/decide/decide.h"
#include "state/records/nodes/vm.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/placer.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <errno.h>

// Gives blocks of workers that no longer exist to those that do.
static void hand_out_blocks(struct applier *a)
{
	_Atomic uint16_t *owner = a->state->node_table->block_owner;
	uint32_t workers = command_queue_workers(a->settings.queue);

	for (uint32_t block = 0; block < a->state->block_count; block++)
		if (owner[block] >= workers)
			owner[block] = workers ? (uint16_t)(block % workers) : 0;
	decider_open_blocks(&a->decider);
}

static void announce_allocations(struct applier *a)
{
	struct node_line *lines = a->state->node_table->lines;
	const struct allocation *allocation;
	uint64_t cursor = 0;

	while ((allocation = state_next(a->state, STATE_ALLOCATIONS, &cursor))) {
		if (allocation->node_slot == NODE_SLOT_NONE)
			continue;
		struct node_line *line = &lines[allocation->node_slot];
		if (allocation->alloc_modify_index > line->alloc_index)
			line->alloc_index = allocation->alloc_modify_index;
	}
}

static void announce_directives(struct applier *a)
{
	uint32_t used = state_node_slots(a->state);

	for (uint32_t slot = 0; slot < used; slot++) {
		const struct node *n = state_node_at(a->state, slot);
		if (n)
			node_slot_direct(a->state, n);
	}
}

// Nodes take no answer of a term below the highest that they know. So the time begins a term: that of a store that was
// made anew is above those of the store before it.
static uint64_t next_term(const struct applier *a)
{
	uint64_t now_s = time_wall_ns(a->settings.time) / NS_PER_S;

	return now_s > a->state->term ? now_s : a->state->term + 1;
}

// Else there is no room, nobody waits any more, or another member of the cluster leads: the log is as good as before.
static bool has_failed_for_good(int error)
{
	return error && error != -ENOSPC && error != -ECANCELED && error != -ESTALE;
}

static int begin_term(struct applier *a)
{
	struct entry e = {.kind = ENTRY_TERM, .term = next_term(a)};

	a->decider.now_ns = (int64_t)time_wall_ns(a->settings.time);
	applier_batch_begin(a, a->open);
	CHECK(decider_commit(&a->decider, &e) == 0);
	applier_batch_launch(a);
	int error = applier_flight_append(a);
	if (has_failed_for_good(error))
		a->settings.log_failed(a->settings.context, error);
	if (error)
		return error;
	a->state->node_table->term = a->state->term;
	a->state->node_table->term_index = state_index(a->state);
	return 0;
}

int applier_open(struct applier *a)
{
	const struct placer *placer = &a->settings.placer;

	state_read_begin();
	hand_out_blocks(a);
	announce_allocations(a);
	announce_directives(a);
	int error = begin_term(a);
	if (!error) {
		a->state->placer = placer;
		for (uint32_t slot = 0; slot < state_node_slots(a->state); slot++)
			if (a->state->cells[slot].working)
				placer->node_changed(placer->context, slot);
		applier_placer_catches_up(a, UINT32_MAX);
	}
	state_read_end();
	return error;
}
