// A client inside the fleet: it sends PLACE requests at a rate, many at once, and verifies every answer. It repeats
// some requests, which must give the same allocations, and releases some allocations again.
#pragma once
#include "tools/fleet/nodes/fleet.h"
#include "tools/fleet/uuid_set.h"

#define PLACING_WINDOW_MAX 1024u

struct placing_ask {
	struct text namespace_name, job, group; // must stay valid until answered
	uint8_t count;
	uint32_t number; // the asker's own
};

// Gives requests and takes their answers.
struct placing_source {
	void *context;
	bool (*next)(void *context, struct placing_ask *); // false: no more
	void (*placed)(void *context, uint32_t number, const struct wire_placed *);
	void (*refused)(void *context, uint32_t number, const struct wire_refused *);
};

struct placing_settings {
	const char *client; // name
	uint8_t key_id;
	uint32_t window;      // requests under way at once
	double rate;          // new requests per second; 0: as fast as the window allows
	double repeat_share;  // of answered requests, asked again: must be the same
	double release_share; // of placed requests, released again
	uint64_t seed;
};

struct placing_counters {
	uint64_t asked, answered, placed, short_answers, refused[WIRE_REFUSED_REASONS];
	uint64_t repeated, repeated_differs; // the second is an error of the controller
	uint64_t duplicates;                 // allocation ids given twice: an error, too
	uint64_t released, release_failed;
	uint64_t resent, retried_later, ignored;
};

enum placing_stage { PLACING_FREE, PLACING_ASKED, PLACING_REPEATED, PLACING_RELEASING };

struct placing_request {
	uint8_t stage; // enum placing_stage
	uint8_t failures;
	uint32_t number, due_ms;
	uint64_t sequence, sent_ns;
	uint32_t size;
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_placed placed;
};

struct placing {
	struct placing_settings settings;
	struct placing_source source;
	struct fleet *fleet;
	struct wire_key key;
	struct prng prng;
	uint64_t issued_ms, next_request, rounds;
	double credit; // requests that the rate allows now
	uint64_t credit_ns;
	bool exhausted; // the source is empty
	uint32_t active;
	struct placing_request requests[PLACING_WINDOW_MAX];
	struct uuid_set seen;
	struct placing_counters counters;
	struct histogram latency;
};

void placing_start(struct placing *, const struct placing_settings *, const struct placing_source *,
	struct fleet *);
// Sends the requests that are due. Returns true when every request is answered and the source is empty.
bool placing_step(struct placing *);
void placing_stop(struct placing *);
