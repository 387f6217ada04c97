// The burst that the three passes hand to each other; it lies on the stack of hot_receive(). The second and the third
// pass take some of its frames at a time: what lies between them is then still in the first-level cache, and the
// processor begins with the tags of the next ones while it still updates the nodes of these.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include "dataplane/wire/beats.h"

enum frame_kind {
	FRAME_HEARTBEAT, // of the usual length; verified with others
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
	const struct frame *frame;
	struct node_line *line;
	struct wire_key key;
	uint32_t slot;
	uint32_t generation; // of the line, when the key was taken
};

struct burst {
	struct frame frames[BURST_MAX]; // in order of arrival
	uint32_t count;
	// Of the newest heartbeats that the second pass took, in the same order.
	struct lane lanes[WIRE_BEATS_MAX];
	struct wire_beats beats;
	uint32_t received; // of them, by the third pass
	uint32_t accepted;
	uint32_t acknowledged;
};

static inline void hot_refuse(struct hot_worker *w, enum hot_refusal reason)
{
	counter_add(&w->counters->refused[reason], 1);
}
