// A node's side of the protocol without socket and clock: what it knows of the controller, the frames it sends, and the
// meaning of answers. One cache line, because the fleet simulator holds a million.
#pragma once
#include "dataplane/wire/auth.h"
#include "dataplane/wire/wire.h"
#include "state/base/prng.h"

struct node_session {
	struct wire_key key;
	uint64_t sequence;     // of the newest frame sent in this generation
	uint64_t registration; // sequence of the newest REGISTER sent
	uint64_t term;         // highest ever seen; never goes back
	uint64_t alloc_index;
	uint32_t slot, generation; // generation 0: not registered
	uint32_t ttl_ms;
	uint8_t key_id;
	uint8_t directives; // of the newest answer
	uint8_t awaiting;   // enum wire_type of the outstanding answer, 0: none
	uint8_t unanswered; // frames sent since the newest answered one, at most 255
};

_Static_assert(sizeof(struct node_session) == 64, "a million sessions must stay small");

enum node_event {
	NODE_NOTHING,      // no authentic answer to an outstanding frame: ignore it
	NODE_REGISTERED,   // slot, generation and ttl_ms are set: beat
	NODE_ACKED,        // the heartbeat was acknowledged
	NODE_BEAT_NOW,     // the term was old and is now right: beat again at once
	NODE_REGISTER_NOW, // the controller wants a registration, or no longer knows this generation
	NODE_GONE,         // the goodbye was acknowledged
	NODE_OLD_TERM,     // from a controller that was replaced: do not obey
	NODE_NOTIFIED,     // unasked: alloc_index has grown, or the node is called, or both
	NODE_REFUSED,      // anything else; see refused
};

struct node_answer {
	enum node_event event;
	bool late;     // the answer to a heartbeat before the newest
	uint64_t term; // of the answer, where it has one
	struct wire_refused refused;
	// Whether the controller wants the node to dial. Of a notice: its number, which is above that of the notice
	// before it unless somebody sends an old one again; 0: of an answer, which comes once.
	bool calls;
	uint64_t call_number;
	uint16_t
		line_port; // where to, of an answer and of a notice that calls; 0: the controller takes no connections
};

// Each signs a frame and returns its length.
uint32_t node_session_heartbeat(
	struct node_session *, uint32_t load_permille, uint8_t frame[static WIRE_HEARTBEAT_BYTES]);
uint32_t node_session_goodbye(struct node_session *, uint8_t frame[static WIRE_HEARTBEAT_BYTES]);
// Notes that REGISTER frames of that sequence were sent (description.h makes them).
void node_session_registering(struct node_session *, uint64_t registration);
// Handles a datagram. After STALE_REGISTRATION the next registration must be later than refused.value.
struct node_answer node_session_receive(struct node_session *, const uint8_t *frame, uint32_t size);
// How long a node waits that was refused as overloaded: until the time that the controller gave it, and up to an eighth
// more.
uint64_t node_session_appointment_ms(const struct wire_refused *, struct prng *);
