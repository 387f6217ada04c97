// COMMAND_NODE_STANDING: the standing of a node beside its status (rows E1 to E33).
#include "state/base/array.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/state.h"
#include <stdio.h>

static void commit_one(
	struct decider *d, const struct node *n, const struct standing *l, uint8_t cause)
{
	struct entry e = {.kind = ENTRY_NODE_STANDING,
		.standing = {.count = 1, .items = memory_take(sizeof *e.standing.items)}};

	e.standing.items[0] = (struct standing_change){n->slot, n->generation, cause, *l};
	CHECK(decider_commit(d, &e) == 0);
}

static enum command_outcome standing_refuse(
	struct command_node_standing *c, enum command_outcome outcome)
{
	bool offline = c->action == STANDING_OFFLINE;
	char id[UUID_TEXT_BYTES];

	uuid_format(&c->nodes[0], id);
	snprintf(c->message, sizeof c->message, "node %s was not present in %s. It can't be %s", id,
		offline ? "nodes" : "offlined nodes", offline ? "offlined" : "reinstated");
	return outcome;
}

// Offline and online set what the operator wants; saying it again changes nothing (row E31).
static enum command_outcome decide_operator(struct decider *d, struct command_node_standing *c)
{
	const struct node_cell *cell = node_cell_find(d->state, &c->nodes[0]);

	if (!cell)
		return standing_refuse(c, OUTCOME_UNKNOWN_NODE);
	struct standing l = cell->working->standing;
	enum node_standing standing = standing_of(&l);
	if (standing != NODE_HEALTHY && standing != NODE_OFFLINED)
		return standing_refuse(c, OUTCOME_NOT_NOW);
	c->changed = c->action == STANDING_OFFLINE ? standing_offline(&l) : standing_online(&l);
	if (c->changed)
		commit_one(d, cell->working, &l, STANDING_BY_OPERATOR);
	return OUTCOME_DONE;
}

uint64_t decider_newest_word(const struct node_cell *cell)
{
	uint64_t newest = node_report_sequence(cell);
	const struct node_extra *extra = node_extra_of(cell);
	bool is_probe_of_now = extra->probe_register_index == cell->working->register_index;

	return is_probe_of_now && extra->probe_sequence > newest ? extra->probe_sequence : newest;
}

// Whether the message is newer than every one the node sent since it registered; it then becomes the newest.
static bool is_news(struct state *state, struct node_cell *cell, uint64_t sequence)
{
	if (sequence <= decider_newest_word(cell))
		return false;
	struct node_extra *extra = node_extra_make(state, cell);
	extra->probe_sequence = sequence;
	extra->probe_register_index = cell->working->register_index;
	return true;
}

// Stores the sequence as that of a report about nothing, so that no older report is taken after a restart. A node that
// may not report sends none that could be.
static void commit_word(struct decider *d, uint32_t slot, uint64_t sequence)
{
	const struct node *n = d->state->cells[slot].working;
	struct entry e = {.kind = ENTRY_ALLOC_UPDATE,
		.alloc_update = {.slot = slot,
			.generation = n->generation,
			.sequence = sequence,
			.readiness = d->standing.readiness}};

	if (node_may_report(n))
		CHECK(decider_commit(d, &e) == 0);
}

static enum command_outcome decide_probed(struct decider *d, struct command_node_standing *c)
{
	const struct node *n = node_working(d->state, c->slot);

	if (!n)
		return OUTCOME_UNKNOWN_NODE;
	if (n->generation != c->generation)
		return OUTCOME_STALE_GENERATION;
	if (!is_news(d->state, &d->state->cells[c->slot], c->sequence))
		return OUTCOME_DONE;
	struct standing l = n->standing;
	c->changed = standing_probed(&l, c->ready, c->backoff_ns);
	if (c->changed)
		commit_one(d, n, &l, STANDING_BY_PROBE);
	commit_word(d, c->slot, c->sequence);
	return OUTCOME_DONE;
}

void decider_judge_released(struct decider *d, const struct entry_alloc_release *release)
{
	for (uint8_t i = 0; i < release->count; i++) {
		const struct alloc_cell *cell = alloc_cell_find(d->state, &release->ids[i]);
		if (cell->working->node_slot == NODE_SLOT_NONE)
			continue;
		const struct node *n = d->state->cells[cell->working->node_slot].working;
		struct standing l = n->standing;
		if (standing_completed(&l, false, d->standing.readiness, d->now_ns))
			commit_one(d, n, &l, STANDING_BY_PROBE);
	}
}

static int by_slot(const void *left, const void *right)
{
	const struct standing_change *a = left, *b = right;
	return a->slot < b->slot ? -1 : a->slot > b->slot;
}

// The change that is due for the node by time, whoever found it and when. False: none.
static bool sweep(struct decider *d, const struct node *n, struct standing_change *change)
{
	struct standing l = n->standing;
	enum standing_sweep swept = standing_swept(&l, &d->standing, d->now_ns);
	bool is_awaited_less = l.readiness != n->standing.readiness;

	if (swept == SWEEP_NOTHING && !is_awaited_less)
		return false;
	*change = (struct standing_change){n->slot, n->generation,
		swept == SWEEP_REJOINED ? STANDING_REJOINED : STANDING_BY_TIME, l};
	return true;
}

static enum command_outcome decide_sweep(struct decider *d, struct command_node_standing *c)
{
	struct entry e = {.kind = ENTRY_NODE_STANDING};
	struct entry_node_standing *changes = &e.standing;

	if (c->count == 0 || c->count > NODE_SWEEP_MAX)
		return OUTCOME_BAD_DESCRIPTION;
	changes->items = memory_take_array(c->count, sizeof changes->items[0]);
	for (uint32_t i = 0; i < c->count; i++) {
		const struct node_cell *cell = node_cell_find(d->state, &c->nodes[i]);
		if (cell && sweep(d, cell->working, &changes->items[changes->count]))
			changes->count++;
	}
	changes->count = items_sort_unique(
		changes->items, changes->count, sizeof changes->items[0], by_slot);
	c->changed = changes->count;
	if (changes->count == 0)
		entry_node_standing_release(changes);
	else
		CHECK(decider_commit(d, &e) == 0);
	return OUTCOME_DONE;
}

enum command_outcome decide_node_standing(struct decider *d, struct command *command)
{
	struct command_node_standing *c = command->standing;
	enum command_outcome outcome = OUTCOME_BAD_DESCRIPTION;

	c->changed = 0;
	c->message[0] = 0;
	if (c->action == STANDING_PROBED)
		outcome = decide_probed(d, c);
	else if (c->action == STANDING_SWEEP)
		outcome = decide_sweep(d, c);
	else if (c->action < STANDING_ACTIONS && c->count == 1)
		outcome = decide_operator(d, c);
	// Evaluations come from the marks of jobs.
	c->made = (struct eval_made){.index = d->state->index};
	return outcome;
}
