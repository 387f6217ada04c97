// The burst that the three passes hand to each other; it lies on the stack of hot_receive().
#pragma once
#include "dataplane/hot/hot_worker.h"
#include "dataplane/wire/beats.h"

enum frame_kind {
	FRAME_DROPPED,   // refused in the second pass
	FRAME_HEARTBEAT, // of the usual length; verified in the next lane, with the others
	FRAME_OTHER,     // verified by itself
};

// A frame that passed every check which needs neither its node nor its key.
struct frame {
	struct packet *packet;
	uint8_t *data;   // the frame's first byte, in the packet
	uint16_t offset; // of data in the packet
	bool ipv6;
	uint8_t kind;
};

// A node's frame whose node and key are known. The key is a copy: it verifies the frame and signs the answer, even
// when the line changes in between.
struct lane {
	struct node_line *line;
	struct wire_key key;
	uint32_t slot;
	uint32_t generation; // of the line, when the key was taken
};

struct burst {
	struct frame frames[BURST_MAX]; // in order of arrival
	uint32_t count;
	struct lane lanes[BURST_MAX]; // of the frames that are heartbeats, in the same order
	uint32_t accepted;
	uint32_t acknowledged;
	struct wire_beats beats; // one for each lane
};

static inline void hot_refuse(struct hot_worker *w, enum hot_refusal reason)
{
	counter_add(&w->counters->refused[reason], 1);
}
