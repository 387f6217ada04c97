#include "dataplane/requests/lines.h"
#include "dataplane/hot/line.h"
#include "dataplane/hot/liveness.h"
#include "state/base/check.h"

// Nodes restored per read section, so that reclamation is not held up by a fleet of millions.
#define RESTORE_SLICE 4096u

void line_install(struct node_table *table, uint32_t slot, uint32_t generation,
	const struct wire_key *key, uint8_t key_id, uint32_t now_ms)
{
	struct node_line *line = node_table_line(table, slot);
	CHECK(line != NULL);
	if (atomic_load_explicit(&line->generation, memory_order_relaxed) == generation)
		return;
	// A frame on another core that meets a half-written line finds no node or a tag that does
	// not fit.
	atomic_store_explicit(&line->generation, 0, memory_order_relaxed);
	LINE_SET(line->key[0], key->k[0]);
	LINE_SET(line->key[1], key->k[1]);
	LINE_SET(line->key_id, key_id);
	LINE_SET(line->sequence, 0);
	LINE_SET(line->window, 0);
	LINE_SET(line->flags, NODE_LINE_NEW);
	LINE_SET(line->registers_ms, 0);
	LINE_SET(line->source, 0);
	atomic_store_explicit(&line->generation, generation, memory_order_release);
	liveness_arm(table, slot, now_ms + LIVENESS_REGISTER_WAIT_MS);
}

void line_leave(struct node_table *table, uint32_t slot)
{
	struct node_line *line = node_table_line(table, slot);
	if (line == NULL)
		return;
	LINE_SET(line->flags, LINE_GET(line->flags) | NODE_LINE_DOWN);
	liveness_disarm(table, slot);
}

static bool restore(
	const struct node *node, struct node_table *table, uint32_t slot, uint32_t heard_ms)
{
	struct node_line *line = node_table_line(table, slot);
	if (line == NULL || node == NULL)
		return false;
	line->key_id = 0;
	line->sequence = 0;
	line->window = 0;
	line->registers_ms = 0;
	line->source = 0;
	bool is_heard = node->status == NODE_READY || node->status == NODE_INITIALIZING;
	line->flags =
		is_heard ? node->status == NODE_INITIALIZING ? NODE_LINE_NEW : 0 : NODE_LINE_DOWN;
	atomic_store_explicit(&line->generation, node->generation, memory_order_relaxed);
	if (is_heard)
		liveness_arm(table, slot, heard_ms);
	else
		liveness_disarm(table, slot);
	return is_heard;
}

uint32_t lines_restore(
	const struct state *state, struct node_table *table, uint32_t now_ms, uint32_t grace_ms)
{
	uint32_t armed = 0;
	uint32_t slots = state_node_slots(state);
	for (uint32_t from = 0; from < slots; from += RESTORE_SLICE) {
		state_read_begin();
		for (uint32_t slot = from; slot < slots && slot < from + RESTORE_SLICE; slot++)
			armed +=
				restore(state_node_at(state, slot), table, slot, now_ms + grace_ms);
		state_read_end();
	}
	return armed;
}
