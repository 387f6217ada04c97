// Every connection and its phase, so that the server cuts off a client that sends too slowly or stalls: each byte
// resets the inactivity timeout of libmicrohttpd.
#pragma once
#include "state/base/time_source.h"
#include "state/base/uuid.h"
#include "tools/api/server/clients/guests.h"
#include <stdbool.h>

enum connection_phase {
	CONNECTION_IDLE, // between requests
	CONNECTION_HEADERS,
	CONNECTION_BODY,
	CONNECTION_PARKED,
	CONNECTION_SENDING,
	CONNECTION_PHASES,
};

struct credentials; // tools/tls/credentials.h

// The guests outlive the connections.
struct connections *connections_create(const struct time_source *, struct guests *);
void connections_destroy(struct connections *);

// On libmicrohttpd's threads.
// from: the address that it comes from; NULL: it came over the socket, or is a node's.
struct connection *connection_open(struct connections *, int fd, const struct guest_key *from);
void connection_close(struct connections *, struct connection *);
void connection_enter(struct connections *, struct connection *, enum connection_phase);
// The connection over that descriptor, which is about to open, is a node's that asks; or it does not open after all.
void connections_expect(struct connections *, int fd, const struct uuid *node);
void connections_expect_no_more(struct connections *, int fd);
// The node that asks over it; NULL: somebody else does, or there is no connection.
const struct uuid *connection_node(const struct connection *);
// Releases them when the connection is closed.
void connection_keep(struct connection *, struct credentials *);
int connection_fd(const struct connection *);
// Where it comes from, as long as it is open.
struct guest *connection_guest(const struct connection *);
// It has sent a request.
void connection_speaks(struct connection *);
// Whether it has TLS and never sent a request.
bool connection_was_silent(const struct connection *);

// On the parking thread: shuts down connections that have exceeded their phase's time.
void connections_sweep(struct connections *);

struct connections_counts {
	uint32_t open;
	uint64_t accepted, cut[CONNECTION_PHASES];
};
void connections_count(struct connections *, struct connections_counts *);
extern const char *const connection_phase_names[];
