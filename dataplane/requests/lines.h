// The worker's part of a node's line (state/tables/node_table.h). Owning worker, or before workers run.
#pragma once
#include "dataplane/wire/auth.h"
#include "state/tables/node_table.h"
#include "state/tables/state.h"

// Installs a stored registration: the generation's key, a fresh replay window, and the deadline. A line that already
// has the generation stays as it is, or a replayed REGISTER would reopen the window and keep a dead node alive.
void line_install(struct node_table *, uint32_t slot, uint32_t generation, const struct wire_key *,
	uint8_t key_id, uint32_t now_ms);
// Takes the deadline off a node that said goodbye; its next heartbeat is reported as a return.
void line_leave(struct node_table *, uint32_t slot);
// After a start: fills the line of every known node, and arms nodes that are ready or initializing as just heard, plus
// the grace; keys are derived at the first frame. Returns how many nodes were armed.
uint32_t lines_restore(
	const struct state *, struct node_table *, uint32_t now_ms, uint32_t grace_ms);
