// Who sends a frame that is no usual heartbeat.
#pragma once
#include "dataplane/hot/burst.h"

// Whether a node sends frames of that type under its slot; every other frame names its sender.
bool sender_is_a_slot(uint8_t type);
// Finds the key of a sender that its frame names. Returns -1 with the key, or an enum hot_refusal.
int sender_key_find(
	struct hot_worker *, const struct frame *, const struct wire_header *, struct wire_key *);
