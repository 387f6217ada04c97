// Senders of the wire that operators revoke, take back, or give another key.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/sender.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/sender_table.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include <stdlib.h>

// The record as it is to be; NULL: there will be none.
static struct sender *sender_after(
	const struct decider *d, const struct sender *before, const struct command_sender *c)
{
	int64_t generation = before ? before->key_generation : 0;

	CHECK(c->action < SENDER_ACTIONS);
	if (c->action == SENDER_RESTORE && generation == 0)
		return NULL;
	struct sender *after = record_create(&sender_description);
	after->name = text_copy(c->name);
	after->reason = text_copy(c->reason);
	after->is_revoked = c->action == SENDER_REVOKE;
	after->key_generation = generation + (c->action == SENDER_REKEY);
	after->time_ns = d->now_ns;
	return after;
}

// Its key counts no more, so it cannot be heard. The status is published before the record of the sender: a worker that
// forgets the key finds the node down.
static void take_down(struct decider *d, struct command_sender *c)
{
	struct uuid id;
	const struct node_cell *cell =
		sender_is_node(c->name, &id) ? node_cell_find(d->state, &id) : NULL;

	if (!cell || c->action == SENDER_RESTORE || cell->working->status == NODE_DOWN)
		return;
	struct entry e = {.kind = ENTRY_NODE_STATUS,
		.node_status = {.slot = cell->working->slot,
			.generation = cell->working->generation,
			.status = NODE_DOWN,
			.cause = NODE_CAUSE_REVOKED,
			.readiness = d->standing.readiness}};
	CHECK(decider_commit(d, &e) == 0);
	decider_follow_node(d, cell, d->now_ns);
	c->went_down = true;
}

// A full disk keeps nobody from being revoked: like the status of nodes it is told by the reserve.
enum command_outcome decide_sender(struct decider *d, struct command *command)
{
	struct command_sender *c = command->sender;
	const struct sender *before = sender_working(d->state, c->name);

	c->went_down = false;
	if (c->action == SENDER_RESTORE && !(before && before->is_revoked))
		return OUTCOME_UNKNOWN_SENDER;
	if (!table_has_room_for(d->state, STATE_SENDERS, &c->name))
		return OUTCOME_TABLE_FULL;
	struct sender *after = sender_after(d, before, c);
	if (after && !sender_is_sound(after)) {
		record_free(&sender_description, after);
		return OUTCOME_BAD_DESCRIPTION;
	}
	c->key_generation = after ? after->key_generation : 0;
	take_down(d, c);
	// Neither of two agents with one key has the next one.
	struct uuid id;
	if (c->action == SENDER_REKEY && sender_is_node(c->name, &id))
		decider_clear_clone(d, &id);
	if (after)
		CHECK(decider_put(d, STATE_SENDERS, after) == 0);
	else
		decider_delete(d, STATE_SENDERS, c->name);
	return OUTCOME_DONE;
}
