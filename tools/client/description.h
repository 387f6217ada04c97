// A node's description as REGISTER frames: one if it fits, else up to REGISTER_PARTS_MAX.
#pragma once
#include "dataplane/wire/auth.h"
#include "dataplane/wire/wire.h"

struct description_frames {
	uint32_t count;
	uint16_t lengths[REGISTER_PARTS_MAX];
	uint8_t frames[REGISTER_PARTS_MAX][FRAME_BYTES_MAX];
};

// Encodes and signs the frames. whole holds all pairs; its part and parts are ignored. sequence is the registration's
// time in unix ms. False when whole does not fit into REGISTER_PARTS_MAX frames.
bool description_encode(const struct wire_register *whole, uint64_t sequence, uint8_t key_id,
	const struct wire_key *, struct description_frames *);
