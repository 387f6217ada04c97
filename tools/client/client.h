// A client of the wire protocol over a kernel UDP socket: places and releases allocations and asks for their state. One
// request at a time; one thread per client. The client sends a request again, unchanged, until it is answered or its
// deadline passes: requests are idempotent, so that a lost answer costs nothing.
//
//	struct client_settings settings = {.server = "192.0.2.1:4647", .key_text = "7:…", .name = "autoscaler"};
//	struct client *client;
//	if (client_open(&settings, &client, message, sizeof message) < 0) …
//	struct wire_place place = {.count = 1, .job = text_of("web"), .group = text_of("frontend")};
//	int rc = client_place(client, &place, &placed, &refused);
#pragma once
#include "dataplane/wire/auth.h"
#include "dataplane/wire/wire.h"

struct client;

struct client_settings {
	const char *server;   // as in endpoint.h, or several with commas between them
	const char *source;   // local address to send from; NULL: the kernel's choice
	const char *name;     // the client's; its key is derived from it
	const char *key_text; // "ID:HEX32", as `berth client key NAME` prints it
	uint32_t wait_ms;     // before a request is sent again; 0: 200
	uint32_t cap_ms;      // most that the back-off adds to wait_ms; 0: 5000
	uint32_t deadline_ms; // until the client gives up a request; 0: 15000
	uint64_t seed;        // for back-off and sequences; 0: from the system
};

// Returns 0, or -errno and a sentence in message.
int client_open(
	const struct client_settings *, struct client **, char *message, uint32_t message_size);
void client_close(struct client *);

enum client_result { CLIENT_DONE, CLIENT_REFUSED };

// Each returns CLIENT_DONE and fills the answer; or CLIENT_REFUSED and fills refused; or -ETIMEDOUT when no authentic
// answer came; or -EINVAL when the request cannot be encoded. After "overloaded" and "stopping" the client waits and
// tries again until the deadline; after "not-leader", and after silence, it goes on to another controller. Each fills
// in the client's name.
//
// place: the clock replaces issued_ms 0, a random number request 0; both are written back, so that the same request can
// be made again, also by another process, and gives the same allocations.
int client_place(struct client *, struct wire_place *, struct wire_placed *, struct wire_refused *);
int client_release(
	struct client *, struct wire_ids *, struct wire_released *, struct wire_refused *);
int client_status(
	struct client *, struct wire_status *, struct wire_status_reply *, struct wire_refused *);

struct client_counters {
	uint64_t sent, resent, answered, refused;
	uint64_t ignored;     // datagrams that were no authentic answer to the request
	uint64_t last_rtt_ns; // from the first sending to the answer
};
const struct client_counters *client_counters(const struct client *);

// A refusal as one sentence: "no-node: 120 nodes seen, 3 not ready, 100 lack memory". Returns buffer.
char *client_refusal_text(const struct wire_refused *, char *buffer, uint32_t size);
