// The line between a node and its controller: connections over TCP that the agent dials, with TLS under the node's key
// (docs/wire.md, The line), so that a node needs no open port.
//
// Of two kinds. Over one the controller asks: it is dialled when the controller calls (docs/wire.md, Calls), and then
// the agent is the server; its plain side goes to the service. Over the other the agent asks (line_ask.h).
#pragma once
#include "dataplane/wire/wire_key.h"
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

struct line;

// Connections to be asked over, at a time: as many as the service takes.
#define LINE_SERVED_MAX 64u
// Of those that are being made: more calls are not needed meanwhile.
#define LINE_DIALLING_MAX 4u

struct line_settings {
	struct uuid node;
	struct wire_key key;
	uint8_t key_id;
	// HOST or HOST:PORT of where to dial, several with commas between them: tried in turn. NULL: the address of
	// the controller that the agent speaks to, and the port that it calls.
	const char *address;
	// Takes the plain side of a connection over which the controller asks, a connected stream socket that it owns
	// from then on, also when it fails. Returns 0 or -errno. On a thread of the line's. NULL: nobody serves.
	int (*serve)(void *context, int fd);
	void *context;
};

// Keeps no copy of what the settings point at. NULL: memory or descriptors are short.
struct line *line_open(const struct line_settings *);
// Ends all connections and waits for their threads; whoever asks is answered -ECANCELED, and asks no more. NULL is
// allowed.
void line_close(struct line *);

// The controller that the agent speaks to from now on: "192.0.2.1" or "2001:db8::1", without a port. Main thread.
void line_follow(struct line *, const char *host);
// Where the controller takes connections, as its newest answer said; 0: nowhere. Main thread.
void line_heard(struct line *, uint16_t port);
// The controller called: it wants a connection to that TCP port. number: of a NOTIFY, its sequence, so that one that
// comes again is none; 0: of an answer, which is always new. Never blocks. Main thread.
struct line_call {
	uint16_t port;
	uint32_t generation; // of the node's slot
	uint64_t term, number;
};
void line_called(struct line *, const struct line_call *);

struct line_counts {
	uint32_t dialling, served; // now
	uint64_t dialled, failed, answered;
};
void line_count(struct line *, struct line_counts *);
