// Exchange of allocations between agent and controller: a state machine without socket and clock. One question or
// report is under way at a time, sent again until the controller answers it. Reports go before questions, and no report
// goes before the controller has acknowledged a heartbeat.
#pragma once
#include "dataplane/wire/wire_alloc.h"
#include "state/base/backoff.h"
#include "tools/agent/readiness.h"
#include "tools/agent/vm_sync.h"
#include "tools/client/node_session.h"

#define SYNC_WAIT_MS 300u // wait for an answer, before the back-off
#define SYNC_CAP_MS 5000u
#define SYNC_STALE_WAIT_MS 1000u

// An allocation whose description the agent asks for.
struct sync_wanted {
	struct uuid id;
	uint64_t job_index, version;
	bool is_machine;
};

struct sync_counters {
	uint64_t questions, reports, pieces, resent, refused, other_terms;
	uint64_t clear_pieces; // an older controller sent them
	uint64_t not_opened;   // sealed under another key, for another question, or changed
};

struct alloc_sync {
	struct runner *runner;
	struct readiness *readiness;
	const struct node_session *session;
	struct prng prng;
	struct backoff backoff;
	uint64_t sequence;    // newest one used
	uint64_t known_index; // sent as since with the next question
	bool may_report;      // the controller acknowledged the newest heartbeat
	bool wants_beat;      // a report was refused until the next heartbeat; the owner clears it
	uint64_t heard_ns,
		heard_wall_ns; // newest acknowledgement, by both clocks; 0: none since the start
	bool wants_all, lists_all;
	// On its way.
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t length;
	uint8_t awaiting; // enum wire_type of the answer, 0: nothing is on its way
	uint64_t due_ns;  // when it is sent again, or the next thing may be sent
	struct {
		struct uuid id;
		uint32_t change;
	} told[ALLOC_UPDATES_MAX]; // by the report
	uint32_t told_count;
	struct sync_wanted *wanted;
	uint32_t wanted_count, wanted_capacity;
	struct bytes_writer spec; // of wanted[0], as far as it has come
	uint64_t spec_version;
	struct uuid *listed; // while all are listed
	uint32_t listed_count, listed_capacity;
	struct vm_sync vms;
	struct sync_counters counters;
};

// wall_ms: sequences begin with it.
void alloc_sync_start(struct alloc_sync *, struct runner *, struct readiness *,
	const struct node_session *, uint64_t seed, uint64_t wall_ms);
void alloc_sync_stop(struct alloc_sync *);
// The node has a new slot or generation: the agent asks for everything again.
void alloc_sync_registered(struct alloc_sync *);
// The controller has answered the newest heartbeat. After a silence in which it may have taken the node for gone, the
// agent reports everything again. The wall clock counts too, because the other one stands still while the machine
// sleeps.
void alloc_sync_heard(struct alloc_sync *, uint64_t now_ns, uint64_t wall_ns);
// The newest heartbeat was not answered. No report is sent until one is.
void alloc_sync_missed(struct alloc_sync *);
// Length of what is to be sent now (in frame), 0: nothing.
uint32_t alloc_sync_due(struct alloc_sync *, uint64_t now_ns);
// When to call again; UINT64_MAX: not before something happens.
uint64_t alloc_sync_next_ns(const struct alloc_sync *);
// True when the datagram was about allocations. It drops those that are wrong.
bool alloc_sync_receive(struct alloc_sync *, const uint8_t *frame, uint32_t size, uint64_t now_ns);
