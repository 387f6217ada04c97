// The worker's part of a node's line (state/tables/node_table.h). Owning worker, or before workers run.
#pragma once
#include "dataplane/wire/auth.h"
#include "state/tables/node_table.h"
#include "state/tables/state.h"

// A registration was stored: its generation's key, a fresh replay window, armed. A repeated answer
// to the same registration changes nothing, or a replayed REGISTER would reopen the window and keep
// a dead node alive.
void line_install(struct node_table *, uint32_t slot, uint32_t generation, const struct wire_key *,
	uint8_t key_id, uint32_t now_ms);
// The node said goodbye: no deadline, and its next heartbeat is news.
void line_leave(struct node_table *, uint32_t slot);
// After a start: every known node as if it had just been heard, plus the grace; keys are derived at
// the first frame. Returns how many nodes were armed.
uint32_t lines_restore(
	const struct state *, struct node_table *, uint32_t now_ms, uint32_t grace_ms);
