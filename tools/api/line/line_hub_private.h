// What the files of the hub share. Everything is the hub's thread's but for what the lock guards.
#pragma once
#include "tools/api/forward/answer_reader.h"
#include "tools/api/line/line_hub.h"
#include "tools/tls/tunnel.h"
#include <pthread.h>
#include <stdatomic.h>

// Nomad's words, which clients look for, and what to do.
#define LINE_NO_PATH                                                                              \
	"No path to node: it did not connect in time. Look at the log of its agent, and whether " \
	"it "                                                                                     \
	"reaches this controller's agents.address over TCP"

enum link_state {
	LINK_HANDSHAKE,
	LINK_IDLE,
	LINK_BUSY,     // sends a request, or takes its answer
	LINK_SWITCHED, // waits for the client's connection
	LINK_GREETED,  // the client says who it is, and nothing goes on yet
	LINK_JOINED,   // with another socket: bytes go both ways
	LINK_DEAD,     // freed at the end of the turn
	LINK_STATES,
};

// One end that epoll tells about.
struct link_end {
	struct link *link;
	int fd;
	uint32_t events; // that epoll waits for
	bool is_plain;
};

struct link {
	struct cds_list_head all; // the oldest first
	struct line_hub *hub;
	enum link_state state;
	struct link_end tls_end, plain_end; // the plain one while it is joined
	gnutls_session_t tls;
	struct psk_identity identity;
	uint8_t key[PSK_KEY_BYTES];
	enum line_refusal verdict; // on the key, once it was looked for
	bool is_named;             // the identity was read
	uint64_t since_ns;         // the state began, or something moved
	// While it is busy or joined.
	struct tunnel_flow *in; // from the node
	struct tunnel *tunnel;
	struct answer_reader *reader;
	struct exchange *exchange; // NULL: a node asks
	char *asked;               // the request, as it is sent
	size_t asked_at, asked_size;
	bool may_be_stale; // idled or was used before: the node may close it as a request comes
	bool is_held;      // the answer's reader has no room
};

struct line_hub {
	struct line_hub_settings settings;
	struct psk_server *server;
	int epoll_fd, wake_fd;
	pthread_t thread;
	pthread_mutex_t lock; // guards what follows
	struct cds_list_head queue;
	bool stops, is_closed;
	uint32_t under_way;
	// Of the thread alone.
	struct cds_list_head links, dead, waiting; // waiting: exchanges, the oldest first
	uint32_t states[LINK_STATES];
	uint64_t looked_ns, keys_looked_ns;
	bool has_ended;           // all links are ended, and no more come
	uint64_t accept_again_ns; // 0: it accepts
	bool is_short;            // of descriptors or memory, which was said
	_Atomic uint32_t shown_handshakes, shown_idle, shown_busy, shown_asking, shown_waiting;
	_Atomic uint64_t accepted, unreached, accepts_failed;
	_Atomic uint64_t refused[LINE_REFUSALS];
	_Atomic uint64_t outcomes[FORWARD_OUTCOMES];
};

uint64_t hub_now_ns(const struct line_hub *);
// Connections of a node, those in their handshake included.
uint32_t hub_links_of_node(struct line_hub *, const struct uuid *);
// What becomes of a link whose handshake is done, or whose answer is whole.
void hub_link_is_free(struct line_hub *, struct link *);
// The exchange that a link carried goes on to wait for another one.
void hub_wait_again(struct line_hub *, struct exchange *);
void hub_exchange_turns(struct line_hub *, struct exchange *, enum exchange_stage);
void hub_exchange_fails(struct line_hub *, struct exchange *, unsigned status, const char *why);
void hub_wake_reader(struct line_hub *, struct exchange *);

// link.c
psk_find link_find_key;
void link_enter(struct link *, enum link_state);
// Sets what epoll waits for at an end.
void link_await(struct link_end *, uint32_t events);
// Begins with a socket that was accepted.
void link_accept(struct line_hub *, int fd);
void link_refuse(struct link *, enum line_refusal);
void link_end(struct link *);
// The same, whatever its exchange is doing: who reads that learns of it.
void link_turn_off(struct link *);
void link_free(struct link *);
// Goes on with whatever its state has to do.
void link_turn(struct link *);
// Sends the exchange's request; the link is idle.
void link_ask(struct link *, struct exchange *);
// Whether the node's key is still the one that the link began with.
bool link_key_holds(struct link *);

// link_join.c: bytes both ways between the node and a socket.
// The socket is closed with the link, unless the exchange's joint has it.
void link_join(struct link *, int fd, const void *extra, size_t extra_size);
void link_join_turn(struct link *);
// The same while the client has not said who it is.
void link_greeting_turn(struct link *);
