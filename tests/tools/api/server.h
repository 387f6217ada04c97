// A real API server over a real state and applier in this process, and a client for it.
#pragma once
#include "placement/direct/placement.h"
#include "tests/support/core/crew.h"
#include "tools/api/api.h"
#include <jansson.h>

struct server {
	struct core core;
	struct crew crew;
	struct state *state; // the core's, as the next two
	struct command_queue *queue;
	struct applier *applier;
	struct placement *placement;
	struct event_log *events;
	struct keyring *keyring;   // in memory alone
	struct rekeyer *rekeyer;   // NULL: without an applier's thread
	struct pipeline *pipeline; // the crew's; NULL: no schedulers
	struct watchers *watchers; // the crew's; NULL: none
	struct api *api;
	_Atomic uint64_t restored_bytes;  // of the archive that was taken; 0: none
	_Atomic int body_file;            // in place of a new one, or -errno; 0: a new one
	_Atomic int snapshot_file;        // that is sent, and closed; negative: it is not made
	_Atomic uint32_t begun_anew;      // how often the process would have begun anew
	_Atomic uint64_t acl_reset_index; // that an operator left
	_Atomic int mood;                 // enum health_level of one of its checks
	_Atomic bool is_held;             // the expiry of nodes, as the API is told
	pthread_mutex_t cluster_lock;
	struct cluster_status cluster; // what the API is told of it, under the lock
	uint16_t line_port;            // where nodes dial; 0: nowhere
	bool is_secure;                // asked over TLS, whose certificate nobody looks at
	struct prng prng;
	struct node_slot {
		uint32_t slot, generation;
	} newest; // of server_node
};

struct server_options {
	bool no_applier_thread;
	uint32_t connections_max, connections_per_ip_max; // 0: 2048, and as ever
	uint64_t memory_bytes_max;                        // 0: as ever
	const struct time_source *time;                   // of the API; NULL: the real one
	uint32_t nodes_max;                               // 0: 4096
	uint32_t schedulers;                              // 0: evaluations are not worked off
	bool watchers;                // deployments, drains and launches are looked after
	bool is_nowhere;              // listens at no address
	struct credentials_files tls; // none: HTTP without TLS
	struct listening_path socket; // none: only at the address
	bool page_is_off;             // no web page
	const char *origins;          // other sites that may read; NULL: none
	const char *response_headers; // more of every answer, one a line; NULL: none
	bool acl_forced;              // access control is on without a first token
	bool has_no_key;              // its keyring, whose file was lost
	const char *audit_path;       // NULL: no audit log
	int64_t token_ttl_min_ns, token_ttl_max_ns; // 0: 1 s, 24 h
	bool has_no_events;                         // streams of them
	bool has_snapshots;                         // to be sent
	bool is_of_cluster;          // of which server_knows tells it; else it stands alone
	struct http_tls forward_tls; // of a member: towards its leader
	uint32_t forward_hold_ms;    // 0: as ever
	bool has_line;               // nodes may dial, whose key is server_line_key
	uint32_t line_wait_ms;       // for one to dial; 0: as ever
	char *refusal; // 256 bytes that tell why the API does not start, and there is none; NULL: it starts
};

// The key of every node that there is.
extern const uint8_t server_line_key[PSK_KEY_BYTES];
struct server *server_start(const struct server_options *);
void server_stop(struct server *);
// What a member of a cluster knows from now on.
void server_knows(struct server *, const struct cluster_status *);

// The server that a group of tests shares, and cmocka's set-ups that start it, without schedulers and with one.
// Whatever started it, the tear-down stops it.
extern struct server *server;
int server_group_begin(void **);
int scheduler_group_begin(void **);
int server_group_end(void **);

// Handed to the applier and waited for.
enum command_outcome server_command(struct server *, struct command *);
// Registers node number n: a fixed id, 4000 MHz, 8192 MB, attributes and a class.
struct uuid server_node(struct server *, uint32_t n);
struct uuid server_node_id(uint32_t n);
// Numbers 0 to count - 1, many at a time; needs the applier's thread.
void server_nodes(struct server *, uint32_t count);
void server_node_expires(struct server *, struct node_slot);
// What a node says of an allocation on it: enum alloc_client, and a verdict on its health (0: none, 1 healthy, -1 not).
void server_report(
	struct server *, struct node_slot, const char *allocation, int status, int health);
void server_namespace(struct server *, const char *name);
// Registers a direct job "ID" with a group "g" of 500 MHz and 256 MB.
void server_job(struct server *, const char *id);
uint32_t server_place(
	struct server *, const char *job, uint8_t count, struct uuid ids[static PLACE_COUNT_MAX]);

struct response {
	long status;
	char *body, *headers;
	size_t size;
	uint64_t index;
};
// body NULL: none.
struct response http(struct server *, const char *method, const char *path, const char *body);
struct response http_with(struct server *, const char *method, const char *path, const char *body,
	size_t size, const char *header);
void response_free(struct response *);
// One number of /v1/metrics that has no labels.
uint64_t server_metric(struct server *, const char *name);
// The body as JSON; fails the test when the status or the content type is another.
json_t *http_json(struct server *, const char *method, const char *path, const char *body);
// True when a header line is there, name and value as given.
bool response_has(const struct response *, const char *line);
// A connected socket.
// As an assertion, which of a thread of its own would end the program without a word.
void server_must(bool is_so, const char *what);
int server_connect(struct server *);
// Sends a read of the path that waits until what it reads is newer than the index; header: a line more, or NULL.
int http_wait(struct server *, const char *path, uint64_t index, const char *header);
// Its whole answer, headers included; closes the socket.
void http_waited(int fd, char *text, size_t size);
