// A worker hands requests, which will be answered, and reports of silence and return, which will not, to the applier
// and gets them back. All memory is there from the start; an empty pool refuses.
//
//	packet → request (a copy) → command queue → applier → done → inbox of the worker to act
//
// A finished registration visits the inbox of the slot's owner first: the owner installs the line, so that only the
// owner writes it. Then, like every other request, it goes to the inbox of the worker that received it, which answers
// through its own port and takes the request back; so one thread alone uses a pool. The slot's owner submits a goodbye
// that another worker received, so that all news of a node goes through one ring, in order.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include "state/log/command.h"
#include <ck_ring.h>
#include <stdbool.h>
#include <stdint.h>

struct packet_worker;

// Ethernet with one tag, IPv6, UDP.
#define REQUEST_HEADERS_MAX (14u + 4u + 40u + 8u)

struct request {
	struct command command;       // first
	struct packet_worker *worker; // received it and will answer it
	bool forwarded;               // on its way to the slot's owner, which will submit it
	bool installed;               // the slot's owner has installed the line
	uint32_t ahead;               // of this worker, pending when the request came
	struct wire_header header;
	struct wire_key key;
	uint32_t offset; // of the frame in packet
	uint8_t packet[REQUEST_HEADERS_MAX + FRAME_BYTES_MAX];
	union {
		struct node_registration node_register;
		struct command_place place;
		struct command_release release;
		struct command_status status;
		struct command_node_standing standing;
		struct {
			struct command_alloc_update command;
			struct alloc_update_item items[ALLOC_UPDATES_MAX];
		} alloc_update;
	};
};

struct request_pool {
	struct request *requests;
	struct request **free; // a stack: what was used last is warm
	uint32_t free_count;
	// Finished requests on their way to this worker. From the applier and the other workers.
	struct ck_ring inbox;
	struct ck_ring_buffer *inbox_buffer;
};

struct report {
	struct command command; // first
	struct packet_worker *worker;
};

struct report_pool {
	struct report *reports;
	struct report **free;
	uint32_t free_count;
	struct ck_ring returned; // from the applier
	struct ck_ring_buffer *returned_buffer;
};

#define WORKER_REPORTS_MAX WORKER_REQUESTS_MAX

// inbox_max: requests of all workers, any of which may be in one inbox.
void request_pool_init(struct request_pool *, uint32_t inbox_max);
void request_pool_free(struct request_pool *);
static inline uint32_t requests_pending(const struct request_pool *pool)
{
	return WORKER_REQUESTS_MAX - pool->free_count;
}
// NULL when all requests are in use.
struct request *request_take(struct request_pool *);
void request_give(struct request_pool *, struct request *);
// Any thread; there is always room.
void inbox_put(struct request_pool *, struct request *);
struct request *inbox_get(struct request_pool *);
bool inbox_is_empty(const struct request_pool *);

void report_pool_init(struct report_pool *);
void report_pool_free(struct report_pool *);
struct report *report_take(struct report_pool *);
void report_give(struct report_pool *, struct report *);
// Applier's thread.
void report_return(struct report_pool *, struct report *);

// The packet path's upcalls; context is the worker.
struct hot_upcalls request_upcalls(struct packet_worker *);
// Acts on a burst of the requests in the worker's inbox, and answers those that this worker received: so many.
uint32_t requests_answer(struct packet_worker *);

// Encodes and signs the answer to a finished request into frame, which holds at least the request's
// length. Returns its length; 0: there is none to be sent.
uint32_t reply_encode(
	const struct request *, const struct node_table *, uint32_t ttl_ms, uint8_t *frame);
// Turns the frame into a refusal, signed, in place. Returns its length; 0: the request is too
// short.
uint32_t refusal_encode(uint8_t *frame, const struct wire_header *, const struct wire_key *,
	const struct wire_refused *);

// How long a sender waits when load refused its request: about what a full ring of commands takes to drain.
#define RETRY_OVERLOADED_MS 100u
// ... when a table, the disk or the process must change first.
#define RETRY_FULL_MS 5000u
#define RETRY_STOPPING_MS 1000u
#define RETRY_LOG_AWAY_MS 1000u
// ... when the node has to send a heartbeat first.
#define RETRY_NOT_ALLOWED_MS 1000u
// ... when an operator has to change a rule first.
#define RETRY_NOT_ADMITTED_MS 10000u
// ... when an operator has to find out which of two machines is the node.
#define RETRY_QUARANTINED_MS 60000u
