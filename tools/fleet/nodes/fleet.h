// The simulated fleet: up to a million agents in one thread. Each node is one small record. Its phase decides what it
// does next, when its time in the wheel has come, or at once when an answer asks for it.
#pragma once
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "tools/client/node_session.h"
#include "tools/client/servers.h"
#include "tools/fleet/net/packet.h"
#include "tools/fleet/net/pcap.h"
#include "tools/fleet/net/transport.h"
#include "tools/fleet/nodes/histogram.h"
#include "tools/fleet/nodes/shape.h"
#include "tools/fleet/nodes/wheel.h"

enum fleet_phase {
	FLEET_REGISTERING,
	FLEET_BEATING,
	FLEET_SILENT,  // sends nothing until its time, then beats again
	FLEET_CRASHED, // sends nothing until its time, then registers again
	FLEET_LEAVING,
	FLEET_LEFT,
};

#define FLEET_READY 1u   // the controller acknowledged its newest heartbeats
#define FLEET_URGENT 2u  // waits in the urgent queue
#define FLEET_FRESH 4u   // its next registration has a new number
#define FLEET_UNREADY 8u // its probe says no
#define FLEET_BROKEN 16u // its allocations fail, by the node's fault

struct fleet_node {
	struct node_session session;
	uint32_t sent_us; // when it sent its newest frame; wraps
	uint32_t due_ms;  // since the start
	uint8_t phase, flags;
	uint8_t failures; // failed registrations, or goodbyes without an answer
	uint8_t missed;   // heartbeats without answer, in a row
	uint16_t fault;   // number of the lasting fault that struck it; 0: none
	uint16_t spare;
};

// Most frames that one round receives.
#define FLEET_RECEIVE_FRAMES (BURST_MAX * 8)

struct fleet_counters {
	uint64_t sent, send_dropped; // frames; dropped by the kernel or the port
	uint64_t heartbeats, acked, registrations, registered, resyncs, goodbyes, gone;
	uint64_t refused[WIRE_REFUSED_REASONS];
	uint64_t received, ignored; // frames; ignored ones answer no open question
	uint64_t old_terms, missed, lost_out, lost_in, notices;
	uint64_t turns; // to another controller
};

struct fleet_settings {
	uint64_t first; // index of the first node
	uint32_t nodes;
	uint8_t key_id;
	double register_rate; // new nodes per second
	double send_rate;     // frames per second at most; 0: no limit
	double loss;          // share of frames lost, each way
	uint64_t seed;
	const char *
		servers; // controllers, of which the transport speaks to the first; NULL: to its only one
	const char *pcap; // capture of the heartbeats sent; NULL: none
	struct packet_flow pcap_flow;
};

struct running;

// Holds a burst, and the parts of the registration during which it got full.
#define LANE_FRAMES (BURST_MAX + REGISTER_PARTS_MAX)

struct lane {
	uint32_t count;
	struct frame frames[LANE_FRAMES];
};

// Takes frames that answer a client, not a node. See placing.h.
typedef void fleet_client_frame(void *context, const struct frame *);

struct fleet {
	struct fleet_settings settings;
	const struct shapes *shapes;
	const struct master_keys *masters;
	const struct time_source *time;
	struct transport *transport;
	struct fleet_node *nodes;
	struct wheel wheel;
	struct prng prng;
	uint64_t start_ns, now_ns;
	uint32_t *slot_nodes;     // node + 1 by slot
	uint32_t *register_nodes; // node by registration sequence, a ring
	uint32_t register_mask;
	uint64_t next_registration;
	uint32_t *urgent; // ring of nodes that are due at once
	uint32_t urgent_mask, urgent_head, urgent_tail;
	struct lane *lanes;
	bool is_congested; // a lane holds frames for which the transport had no room
	struct frame *received;
	double tokens;
	uint64_t tokens_ns;
	struct running *running; // NULL: no allocations run, and no probe was asked for yet
	fleet_client_frame *client_frame;
	void *client_context;
	struct fleet_counters counters;
	struct histogram rtt;
	uint32_t registered, ready; // now
	uint32_t away;              // silent, crashed or left: not expected to be ready
	struct servers servers;
	uint64_t heard_ns; // when anything was answered, or all nodes turned to another controller
	uint32_t unanswered; // frames since then
	uint64_t turned_ns;
	struct pcap capture;
};

// Returns 0, or -errno and a sentence in message. The caller owns transport.
int fleet_create(struct fleet *, const struct fleet_settings *, const struct shapes *,
	const struct master_keys *, const struct time_source *, struct transport *, char *message,
	uint32_t message_size);
// Returns 0, or -errno when part of the capture could not be written.
int fleet_destroy(struct fleet *);

uint32_t fleet_now_ms(const struct fleet *);
uint32_t fleet_now_us(const struct fleet *); // wraps
// Queues one signed frame; number chooses the lane.
void fleet_queue(struct fleet *, uint32_t number, const uint8_t *data, uint32_t size);
// Sends the queued frames of all lanes, as far as the transport has room.
void fleet_flush(struct fleet *);
// Draws whether one more frame is lost on its way, and counts a lost one.
bool fleet_loses(struct fleet *, uint64_t *counter);
// Raises the number of frames that may be sent, by the time that has passed.
void fleet_refill(struct fleet *);
// True while the send rate and the transport allow one more frame, or a registration of several.
bool fleet_may_send(struct fleet *);
// Makes a node due now.
void fleet_urge(struct fleet *, uint32_t node);
// Changes a node's phase and the counts of registered and ready nodes with it.
void fleet_set_phase(struct fleet *, struct fleet_node *, enum fleet_phase);
// Sets whether the controller acknowledged its newest heartbeats.
void fleet_set_ready(struct fleet *, struct fleet_node *, bool ready);
// The controllers, for all nodes together (turning.c): something was answered; a node's frame was not; one said that it
// does not lead, and who does.
void fleet_heard(struct fleet *);
void fleet_missed(struct fleet *);
void fleet_redirect(struct fleet *, const struct wire_endpoint *leader);
// Registers a node anew, at once.
void fleet_announce(struct fleet *, uint32_t node);
