// Clients by number and by name, never forgotten, and the placement requests whose repetition gets the same answer. For
// state/ only; applier thread.
#pragma once
#include "state/log/command.h"
#include "state/tables/kind.h"
#include "state/tables/sequence.h"

struct client {
	char *name;
	uint32_t number;
	uint64_t create_index;
	struct client *next;     // of its bucket
	struct sequence changes; // of its allocations, by modify index; applier
	// No request of this client that is remembered is newer, by time of issue and then by number; applier.
	int64_t newest_issued_ms;
	uint64_t newest_request;
};

// A client's placement request and its answer; made once, forgotten once, never changed.
struct place_request {
	struct rcu_head rcu; // first: rcu_free()
	struct cds_lfht_node by_key;
	uint64_t index;                   // at which it was answered
	_Atomic uint64_t forgotten_index; // 0: remembered
	int64_t issued_ms;
	uint64_t request;
	uint32_t client; // CLIENT_NONE when none
	uint32_t position;
	uint32_t nodes_feasible;
	uint8_t requested, count;
	struct placed_item items[];
};

extern const struct kind place_request_kind;

void clients_init(struct state *);
void clients_destroy(struct state *);
struct client *client_find(const struct state *, struct text name);
struct client *client_add(struct state *, struct text name, uint64_t index);

struct place_request *place_request_find(
	const struct state *, uint32_t client, int64_t issued_ms, uint64_t request);
// Fetches what remembering this answer will touch.
void place_request_approach(
	const struct state *, uint32_t client, int64_t issued_ms, uint64_t request);
void place_request_add(struct state *, struct place_request *);
void place_request_forget(struct state *, struct place_request *, uint64_t index);
