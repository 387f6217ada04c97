// Settings of the HTTP API: its address, the state it serves, and callbacks into the process.
#pragma once
#include "state/applier/applier.h"
#include "state/applier/command_queue.h"
#include "state/cluster/cluster_status.h"
#include "state/tables/state.h"
#include "tools/api/line/line_hub.h"
#include "tools/api/listen/listening.h"
#include "tools/http_client/http_tls.h"
#include "tools/metrics/sink.h"
#include "tools/tls/credentials.h"
#include <stdint.h>

struct event_log; // tools/api/events/event_log.h
struct keyring;   // tools/keyring/keyring.h

// How bad it is for the server: what is degraded still works, what is not ready does not get better by a restart of the
// server and is no place to send work to, what failed takes no change, what is dead is to be restarted.
enum health_level { HEALTH_OK, HEALTH_DEGRADED, HEALTH_UNREADY, HEALTH_FAILED, HEALTH_DEAD };
#define HEALTH_CHECKS_MAX 16u
#define HEALTH_WHY_BYTES 512u
struct health_check {
	const char *name;
	enum health_level level;
	char why[HEALTH_WHY_BYTES]; // a sentence, unless it is OK
};

// The file is open for reading, and its user's to close; what it hashes to (SHA-256).
struct api_snapshot {
	int file;
	uint64_t index;
	uint8_t digest[32];
};

struct api_settings {
	const char *address; // "127.0.0.1"; "": none, only the socket
	const char *hosts; // names of this server beside its addresses, localhost and the machine's
	const char *origins;          // other sites whose pages may read; NULL or "": none
	const char *response_headers; // of every answer (tools/options/header_lines.h); NULL: none
	uint16_t port;                // 0: any free one
	struct credentials_files tls; // of the address; without a certificate: HTTP without TLS
	struct listening_path socket; // beside the address, without TLS; path NULL or "": none
	const char *audit_path;       // of the file of who asked what; NULL or "": none
	int64_t token_ttl_min_ns; // least and most time that a token with an end may hold; 0: 1 s
	int64_t token_ttl_max_ns; // 0: 24 h
	bool page_is_off;         // the web page below /ui/ is not served
	bool acl_forced;          // whoever shows no token may nothing, although none was ever made
	uint32_t connections_max, connections_per_ip_max; // 0: 4096, and the same per address
	uint64_t memory_bytes_max;                        // of bodies and answers; 0: 256 MiB
	struct state *state;
	struct command_queue *queue;
	const struct time_source *time;
	struct keyring *keyring;  // encrypts variables; whoever asks for one needs it
	struct event_log *events; // source of event streams; NULL: there are none
	const char *region, *datacenter, *name;
	int64_t vm_offline_after_ns; // a worker that is silent for longer is offline; 0: 3 minutes
	uint32_t schedulers;         // threads that run
	uint64_t seed;               // of the jitter of blocking queries; 0: from the system
	// Emits every metric of the process (berthd knows all of them). Any API thread.
	void (*metrics)(void *context, const struct metric_sink *);
	// One JSON object with the effective configuration, for /v1/agent/self.
	char *(*configuration)(void *context); // caller frees
	// True when healthy; else a sentence in message.
	bool (*healthy)(void *context, char *message, uint32_t message_size);
	// All that health consists of, at most HEALTH_CHECKS_MAX: how many.
	uint32_t (*checks)(void *context, struct health_check *);
	// Whether the expiry of nodes is held, and why: one JSON object, which the caller frees; and the order to go on
	// with it, false when it is not held.
	char *(*liveness)(void *context);
	bool (*liveness_release)(void *context);
	// Who was refused most often for asking too much over the wire: a JSON array, which the caller frees.
	char *(*senders)(void *context);
	// The index that an operator left for one more first token; 0: none. NULL: there never is one.
	uint64_t (*acl_reset_index)(void *context);
	// All that the state is now, as an archive. Takes seconds. False and a sentence. NULL: there is no store.
	bool (*snapshot)(
		void *context, struct api_snapshot *, char *message, uint32_t message_size);
	// A file for a body, which is gone once it is closed, or -errno. NULL: there is no store.
	int (*body_file)(void *context);
	// Puts the state of an archive, which is read from the file's beginning, in the place of all that is known.
	// False and a sentence: nothing was changed. Else no command is carried out any more, and begin_anew, which
	// does not return, is called when the answer was sent. Takes seconds. NULL: there is no store.
	bool (*restore)(void *context, int file, char *message, uint32_t message_size);
	void (*begin_anew)(void *context);
	// Whether this controller knows the controller of that region. NULL: it knows none.
	bool (*has_peer)(void *context, const char *region);
	// What this server knows of its cluster. Any thread, at once. NULL: it is of none.
	void (*cluster)(void *context, struct cluster_status *);
	struct http_tls
		forward_tls; // towards a leader with https, which its URL names; the texts outlive the server
	uint32_t forward_hold_ms; // how long a request waits for a leader; 0: 6 s
	// Of the line to nodes: a socket that listens, which is the server's from then on, also when that does not
	// start, and keys of nodes. NULL: there is no line, and what only nodes can answer nobody does.
	int line_fd;
	enum line_refusal (*line_key)(
		void *context, const struct psk_identity *, uint8_t key[static PSK_KEY_BYTES]);
	uint32_t
		line_wait_ms; // how long a request waits for its node to dial; 0: LINE_DIAL_WAIT_MS
	void *context;
};
