#include "state/tables/nodes/sender_table.h"
#include "state/base/check.h"
#include "state/tables/node_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

static bool is_sender_sound(const void *record)
{
	CHECK(record);
	return sender_is_sound(record);
}

// The worker that owns the node's line forgets the key that it keeps there, and asks for it anew with the next frame.
static void sender_published(struct state *state, void *cell, void *before, void *now)
{
	struct uuid id;

	CHECK(now);
	if (!sender_is_node(text_of(((const struct sender *)now)->name), &id))
		return;
	const struct node_cell *node = node_cell_find(state, &id);
	if (node)
		node_table_forget_key(state->node_table, node->working->slot);
}

const struct kind sender_kind = {
	.name = "sender",
	.key = KEY_NAME,
	.key_offset = offsetof(struct sender, name),
	.cell_bytes = sizeof(struct cell),
	.fields = &sender_description,
	.limit_offset = offsetof(struct state_limits, senders),
	.limit_max = SENDERS_MAX,
	.is_sound = is_sender_sound,
	.published = sender_published,
};

const struct sender *state_sender(const struct state *state, struct text name)
{
	CHECK(state);
	return table_published(state, STATE_SENDERS, &name);
}

const struct sender *sender_working(const struct state *state, struct text name)
{
	const struct cell *cell = table_find(state, STATE_SENDERS, &name);

	CHECK(!cell || cell->table == STATE_SENDERS);
	return cell_is_there(cell) ? cell->working : NULL;
}

bool sender_node_is_revoked(const struct state *state, const struct uuid *node)
{
	char name[SENDER_NAME_BYTES];

	if (state->tables[STATE_SENDERS].order.count == 0)
		return false;
	const struct sender *sender = sender_working(state, sender_of_node(node, name));
	return sender && sender->is_revoked;
}
