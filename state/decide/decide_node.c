#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/node_pairs.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/nodes/node_status.h"
#include "state/tables/nodes/sender_table.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

static uint32_t blocks_max(const struct state *state)
{
	return state->slots_max / NODE_BLOCK_SLOTS;
}

static bool has_room(const struct state *state, uint32_t block)
{
	return block != NO_BLOCK && state->block_used[block] < NODE_BLOCK_SLOTS;
}

void decider_open_blocks(struct decider *d)
{
	for (uint32_t worker = 0; worker < WORKERS_MAX; worker++)
		d->open_block[worker] = NO_BLOCK;
	for (uint32_t block = 0; block < d->state->block_count; block++) {
		uint16_t owner = d->state->node_table->block_owner[block];
		if (has_room(d->state, block))
			d->open_block[owner] = block;
	}
}

// The worker's own block, else a new block, else any other worker's block with room.
static uint32_t block_for(struct decider *d, uint16_t worker)
{
	const struct state *state = d->state;

	if (has_room(state, d->open_block[worker]))
		return d->open_block[worker];
	if (state->block_count < blocks_max(state))
		return d->open_block[worker] = state->block_count;
	for (uint32_t i = 0; i < WORKERS_MAX; i++)
		if (has_room(state, d->open_block[i]))
			return d->open_block[i];
	return NO_BLOCK;
}

static uint32_t new_slot(struct decider *d, uint16_t worker)
{
	uint32_t slot = node_slot_ready(d->state);
	if (slot != NO_SLOT)
		return slot;
	uint32_t block = block_for(d, worker);
	return block == NO_BLOCK ? NO_SLOT : block * NODE_BLOCK_SLOTS + d->state->block_used[block];
}

static void answer(const struct state *state, struct node_registration *c, const struct node *n)
{
	c->slot = n->slot;
	c->generation = n->generation;
	c->owner = node_table_owner(state->node_table, n->slot);
}

static enum command_outcome commit_registration(struct decider *d, struct node_registration *c)
{
	struct state *state = d->state;
	const struct node_cell *cell = node_cell_find(state, &c->node);
	uint16_t worker = c->worker < WORKERS_MAX ? c->worker : 0;
	struct entry e = {.kind = ENTRY_NODE_AWAITED,
		.node_register = {.owner = worker,
			.readiness = d->standing.readiness,
			.is_awaited = true,
			.description = &d->whole}};

	if (!node_description_complete(&d->whole) || !node_offers_are_sound(&d->whole))
		return OUTCOME_BAD_DESCRIPTION;
	c->admission = decider_admits(d, &d->whole);
	if (c->admission != ADMIT)
		return OUTCOME_NOT_ADMITTED;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	enum command_outcome outcome = decider_check_worker(d, &d->whole);
	if (outcome != OUTCOME_DONE)
		return outcome;
	if (cell && decider_finds_clone(d, cell, &d->whole))
		return OUTCOME_QUARANTINED;
	if (cell) {
		e.node_register.slot = cell->working->slot;
		e.node_register.generation = generation_after(cell->working->generation);
	} else {
		uint32_t slot = new_slot(d, worker);
		if (slot == NO_SLOT)
			return OUTCOME_TABLE_FULL;
		e.node_register.slot = slot;
		e.node_register.generation = node_slot_generation(state, slot);
	}
	int error = decider_commit(d, &e);
	CHECK(error == 0 || error == -ERROR_TABLE_FULL);
	if (error)
		return OUTCOME_TABLE_FULL;
	clones_hold(d->clones, e.node_register.slot, &d->whole.from);
	decider_register_worker(d, &d->whole);
	answer(state, c, state->cells[e.node_register.slot].working);
	return OUTCOME_DONE;
}

enum command_outcome decide_node_register(struct decider *d, struct command *command)
{
	struct node_registration *c = command->node_register;
	const struct node_cell *cell = node_cell_find(d->state, &c->node);
	const struct node *known = cell ? cell->working : NULL;

	if (sender_node_is_revoked(d->state, &c->node))
		return OUTCOME_REVOKED;
	// A retransmission gets the answer of the first. It may be anybody's replay: only a heartbeat tells that the
	// node is there.
	if (known && c->sequence == known->register_sequence) {
		answer(d->state, c, known);
		return OUTCOME_DONE;
	}
	if (known && c->sequence <= known->register_sequence) {
		c->newest_sequence = known->register_sequence;
		return OUTCOME_STALE_REGISTRATION;
	}
	// From there no registration could follow. The node goes on above the controller's clock instead.
	uint64_t now_ms = (uint64_t)(d->now_ns / NS_PER_MS);
	if (c->sequence > now_ms + REGISTER_AHEAD_MS) {
		c->newest_sequence = now_ms;
		if (known && known->register_sequence > now_ms)
			c->newest_sequence = known->register_sequence;
		return OUTCOME_STALE_REGISTRATION;
	}
	enum command_outcome outcome =
		registrations_add(d->registrations, c, &d->whole, &c->newest_sequence);
	if (outcome != OUTCOME_DONE)
		return outcome;
	d->whole.from = c->from;
	d->whole.from.boot = boot_of(&d->whole);
	outcome = commit_registration(d, c);
	registrations_forget(d->registrations, &c->node);
	return outcome;
}

static void commit_status(struct decider *d, const struct node_cell *cell, uint8_t status,
	enum node_status_cause cause)
{
	struct entry e = {.kind = ENTRY_NODE_STATUS,
		.node_status = {
			.slot = cell->working->slot,
			.generation = cell->working->generation,
			.status = status,
			.cause = (uint8_t)cause,
			.readiness = d->standing.readiness,
		}};

	CHECK(decider_commit(d, &e) == 0);
}

void decider_settle_node(struct decider *d, uint32_t slot)
{
	const struct node_cell *cell = &d->state->cells[slot];

	if (cell->working && cell->working->status == NODE_INITIALIZING &&
		!node_is_awaited(cell->working) && node_is_settled(cell))
		commit_status(d, cell, NODE_READY, NODE_CAUSE_RETURNED);
}

static const uint8_t causes[] = {
	[COMMAND_NODE_EXPIRED] = NODE_CAUSE_EXPIRED,
	[COMMAND_NODE_RETURNED] = NODE_CAUSE_RETURNED,
	[COMMAND_NODE_GOODBYE] = NODE_CAUSE_GOODBYE,
};

enum command_outcome decide_node_status(struct decider *d, struct command *command)
{
	const struct command_node *c = &command->node;
	uint8_t cause = causes[command->type];
	const struct node *n = node_working(d->state, c->slot);

	if (!n)
		return OUTCOME_UNKNOWN_NODE;
	const struct node_cell *cell = &d->state->cells[c->slot];
	if (n->generation != c->generation)
		return OUTCOME_STALE_GENERATION;
	if (c->if_disconnected && n->status != NODE_DISCONNECTED)
		return OUTCOME_DONE;
	if (cause == NODE_CAUSE_RETURNED && sender_node_is_revoked(d->state, &n->id))
		return OUTCOME_REVOKED;
	uint8_t status = node_status_after(cell, cause, d->now_ns);
	if (status != n->status || (cause == NODE_CAUSE_RETURNED && node_is_awaited(n)))
		commit_status(d, cell, status, cause);
	decider_settle_node(d, c->slot);
	decider_follow_node(d, cell, d->now_ns - c->silent_ms * NS_PER_MS);
	return OUTCOME_DONE;
}

enum command_outcome decide_node_eligibility(struct decider *d, struct command *command)
{
	struct command_node_eligibility *c = &command->node_eligibility;
	const struct node_cell *cell = node_cell_find(d->state, &c->node);
	uint8_t wanted = c->eligible ? NODE_ELIGIBLE : NODE_INELIGIBLE;

	// Evaluations come from the marks of jobs.
	c->made = (struct eval_made){.index = d->state->index};
	if (!cell)
		return OUTCOME_UNKNOWN_NODE;
	if (c->eligible && cell->working->drain)
		return OUTCOME_DRAINING;
	if (cell->working->eligibility == wanted)
		return OUTCOME_DONE;
	if (c->eligible && !decider_admits_node(d, cell->working))
		return OUTCOME_NOT_ADMITTED;
	struct entry e = {.kind = ENTRY_NODE_ELIGIBILITY,
		.node_eligibility = {cell->working->slot, cell->working->generation, wanted}};
	CHECK(decider_commit(d, &e) == 0);
	c->made.index = d->state->index;
	return OUTCOME_DONE;
}

void decider_purge_node(struct decider *d, const struct node_cell *cell)
{
	struct entry e = {.kind = ENTRY_NODE_PURGE,
		.node_purge = {cell->working->slot, cell->working->generation}};
	struct uuid id = cell->working->id;

	CHECK(decider_commit(d, &e) == 0);
	registrations_forget(d->registrations, &id);
}

enum command_outcome decide_node_purge(struct decider *d, struct command *command)
{
	struct command_node_named *c = &command->node_named;
	const struct node_cell *cell = node_cell_find(d->state, &c->node);

	c->made = (struct eval_made){.index = d->state->index};
	if (!cell)
		return OUTCOME_UNKNOWN_NODE;
	decider_purge_node(d, cell);
	c->made.index = d->state->index;
	return OUTCOME_DONE;
}
