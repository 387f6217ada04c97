// Heartbeats of a burst in columns. What an acknowledgement says does not depend on whether its heartbeat is authentic,
// so both tags are made side by side, from one load of key and frame; that of a refused heartbeat is thrown away.
#pragma once
#include "dataplane/wire/siphash.h"

// Words of 8 bytes before a heartbeat's tag, which is two more.
#define WIRE_BEAT_WORDS ((WIRE_HEARTBEAT_BYTES - WIRE_TAG_BYTES) / 8)
// Makes the first word of an acknowledgement out of that of its heartbeat.
#define WIRE_BEAT_TO_ACK ((uint64_t)(WIRE_HEARTBEAT ^ WIRE_HEARTBEAT_ACK) << 24)

// So many at a time: as many as the widest method works on side by side.
#define WIRE_BEATS_MAX 16u

struct wire_beats {
	_Alignas(64) const uint8_t *frames[WIRE_BEATS_MAX]; // WIRE_HEARTBEAT_BYTES each
	uint64_t key[2][WIRE_BEATS_MAX];
	// The last two words of the acknowledgements: alloc_index; ttl_ms and directives.
	uint64_t ack_index[WIRE_BEATS_MAX], ack_end[WIRE_BEATS_MAX];
	// Results.
	uint64_t differs[WIRE_BEATS_MAX]; // 0: the heartbeat's tag is right
	uint64_t ack_tag[2][WIRE_BEATS_MAX];
	uint64_t ack_sum
		[WIRE_BEATS_MAX]; // of the 32-bit little-endian words of the acknowledgement, tag included
	uint64_t term;            // the controller's, for all acknowledgements
	uint32_t count;
};

typedef void wire_beats_method(struct wire_beats *);
wire_beats_method wire_beats_tag_scalar, wire_beats_tag_avx2, wire_beats_tag_avx512;
// With tags of any method of bursts.
void wire_beats_tag_by(siphash_burst *, struct wire_beats *);
// For methods that work on so many lanes at a time; there is a heartbeat. Idle lanes repeat the last one; their results
// are not looked at.
static inline void wire_beats_fill_lanes(struct wire_beats *b, uint32_t lanes)
{
	uint32_t last = b->count - 1;
	for (uint32_t i = b->count; i % lanes != 0; i++) {
		b->frames[i] = b->frames[last];
		b->key[0][i] = b->key[1][i] = b->ack_index[i] = b->ack_end[i] = 0;
	}
}

// Fills the results of the first count heartbeats, by the method that auth.h has chosen. Takes the same time whatever
// differs. May write to the columns behind count.
void wire_beats_tag(struct wire_beats *);
