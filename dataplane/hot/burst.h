// What the three passes hand to each other. On the stack of hot_receive().
#pragma once
#include "dataplane/hot/hot_worker.h"

enum frame_kind {
	FRAME_DROPPED, // refused in the second pass
	FRAME_HEARTBEAT, // of the usual length: verified with the others of the burst, in the next lane
	FRAME_OTHER,     // verified by itself
};

// A frame that passed every check which needs neither its node nor its key.
struct frame {
	struct packet *packet;
	uint8_t *data;   // the frame's first byte, in the packet
	uint16_t offset; // of it in the packet
	bool ipv6;
	uint8_t kind;
};

// A node's frame whose node and key are known. The key is a copy: what is verified with it is answered with
// it, whatever happens to the line in between.
struct lane {
	struct node_line *line;
	struct wire_key key;
	uint32_t slot;
	uint32_t generation; // of the line, when the key was taken
};

struct burst {
	struct frame frames[BURST_MAX]; // in order of arrival
	uint32_t count;
	struct lane lanes[BURST_MAX]; // of the heartbeats among them, in the same order
	uint32_t lane_count;
	uint32_t accepted;
	// Acknowledgements to be signed; the arrays below are theirs once the tags have been compared.
	const struct frame *acks[BURST_MAX];
	uint32_t ack_count;
	const struct wire_key *keys[BURST_MAX];
	const uint8_t *signed_data[BURST_MAX];
	uint8_t tags[BURST_MAX][WIRE_TAG_BYTES];
};

static inline void hot_refuse(struct hot_worker *w, enum hot_refusal reason)
{
	counter_add(&w->counters->refused[reason], 1);
}
