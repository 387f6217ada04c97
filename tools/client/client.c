#include "tools/client/client.h"
#include "state/base/backoff.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/client/endpoint.h"
#include "tools/client/servers.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Controllers may not agree yet who leads: after so many in a row that do not, the client waits.
#define NOT_LEADERS_IN_A_ROW 3u

struct client {
	char *server, *source, *name;
	struct servers servers; // views into server
	uint8_t key_id;
	struct wire_key key;
	uint32_t wait_ms, cap_ms, deadline_ms;
	struct prng prng;
	uint64_t sequence;
	int fd; // -1: the next send opens it
	struct client_counters counters;
};

// One request under way: its frame, and the place for its answer.
struct exchange {
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t length;
	uint64_t sequence;
	uint8_t reply_type;
	uint64_t first_sent_ns, give_up_ns;
	uint32_t not_leaders; // that have refused it
	uint8_t reply[FRAME_BYTES_MAX];
	struct wire_header header; // of reply
};

static char *copy_or_null(const char *s)
{
	return s ? text_copy(text_of(s)) : NULL;
}

static int refuse_settings(char *message, uint32_t size, const char *what)
{
	snprintf(message, size, "%s", what);
	return -EINVAL;
}

static void disconnect_client(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

// Opens a socket to the current controller, or to the first after it of which the address is known here.
static int connect_any(struct client *c, char *message, uint32_t message_size)
{
	for (uint32_t i = 0; i < c->servers.count && c->fd < 0; i++) {
		c->fd = endpoint_connect(c->servers.current, c->source, message, message_size);
		if (c->fd < 0)
			servers_next(&c->servers);
	}
	return c->fd;
}

int client_open(const struct client_settings *settings, struct client **out, char *message,
	uint32_t message_size)
{
	uint8_t key_id;
	struct wire_key key;
	struct text name = text_of(settings->name);
	if (name.size == 0 || name.size > CLIENT_NAME_BYTES_MAX)
		return refuse_settings(message, message_size, "a client's name has 1 to 64 bytes");
	if (!settings->key_text || !wire_key_parse(settings->key_text, &key_id, &key))
		return refuse_settings(message, message_size,
			"the client's key is not \"ID:HEX\" as printed by `berth client key NAME`");
	struct client *c = memory_take(sizeof *c);
	*c = (struct client){
		.server = copy_or_null(settings->server),
		.source = copy_or_null(settings->source),
		.name = copy_or_null(settings->name),
		.key_id = key_id,
		.key = key,
		.wait_ms = settings->wait_ms ? settings->wait_ms : 200,
		.cap_ms = settings->cap_ms ? settings->cap_ms : 5000,
		.deadline_ms = settings->deadline_ms ? settings->deadline_ms : 15000,
		.fd = -1,
	};
	int rc = servers_open(&c->servers, c->server, message, message_size);
	if (rc == 0)
		rc = connect_any(c, message, message_size);
	if (rc < 0) {
		client_close(c);
		return rc;
	}
	if (settings->seed)
		prng_seed(&c->prng, settings->seed);
	else
		prng_seed_from_system(&c->prng);
	c->sequence = prng_u64(&c->prng) >> 1;
	*out = c;
	return 0;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	disconnect_client(c);
	free(c->server);
	free(c->source);
	free(c->name);
	explicit_bzero(&c->key, sizeof c->key);
	free(c);
}

const struct client_counters *client_counters(const struct client *c)
{
	return &c->counters;
}

// A failed send counts as a lost frame: the same wait follows. The socket is opened anew, because a connected one keeps
// a local address that may be gone.
static void send_frame(struct client *c, const struct exchange *x)
{
	char message[200];
	if (c->fd < 0)
		connect_any(c, message, sizeof message);
	c->counters.sent++;
	if (c->fd < 0)
		return;
	ssize_t n = send(c->fd, x->frame, x->length, 0);
	if (n < 0 && errno != EAGAIN && errno != ECONNREFUSED)
		disconnect_client(c);
}

static bool is_answer(struct client *c, struct exchange *x, uint32_t size)
{
	return wire_header_decode(x->reply, size, &x->header) == WIRE_OK &&
	       (x->header.type == x->reply_type || x->header.type == WIRE_REFUSED) &&
	       x->header.sequence == x->sequence && size <= x->length &&
	       wire_verify(&c->key, x->reply, size);
}

// Reads datagrams until the answer or an empty socket. True when x has the answer.
static bool take_answer(struct client *c, struct exchange *x)
{
	if (c->fd < 0)
		return false;
	for (;;) {
		ssize_t n = recv(c->fd, x->reply, sizeof x->reply, MSG_TRUNC);
		if (n < 0 && (errno == EINTR || errno == ECONNREFUSED))
			continue; // the kernel reports a pending ICMP error once
		if (n < 0)
			return false;
		if ((size_t)n <= sizeof x->reply && is_answer(c, x, (uint32_t)n))
			return true;
		c->counters.ignored++;
	}
}

// Waits for the answer until until_ns.
static bool listen_until(struct client *c, struct exchange *x, uint64_t until_ns)
{
	for (;;) {
		if (take_answer(c, x))
			return true;
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		if (now_ns >= until_ns)
			return false;
		struct pollfd p = {.fd = c->fd, .events = POLLIN};
		int wait_ms = (int)((until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
		if (poll(&p, 1, wait_ms) < 0 && errno != EINTR)
			return false;
	}
}

// Sends until the answer comes. False when the deadline has passed.
static bool wait_for_answer(struct client *c, struct exchange *x, struct backoff *backoff)
{
	for (;;) {
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		if (now_ns >= x->give_up_ns)
			return false;
		send_frame(c, x);
		uint64_t wait_ms =
			c->wait_ms + backoff_jittered_ms(backoff, c->wait_ms, c->cap_ms, &c->prng);
		uint64_t until_ns = now_ns + wait_ms * NS_PER_MS;
		if (until_ns > x->give_up_ns)
			until_ns = x->give_up_ns;
		if (listen_until(c, x, until_ns))
			return true;
		c->counters.resent++;
		if (backoff->failures > 1) {
			servers_next(&c->servers);
			disconnect_client(c);
		}
	}
}

static uint64_t later_ns(const struct exchange *x, uint64_t now_ns, uint64_t wait_ms)
{
	uint64_t at = now_ns + wait_ms * NS_PER_MS;
	return at < x->give_up_ns ? at : x->give_up_ns;
}

// Goes on to another controller after a refusal of one that does not lead. True when the request is to be sent at once.
static bool goes_to_leader(struct client *c, struct exchange *x, const struct wire_refused *refused)
{
	if (refused->reason != WIRE_REFUSED_NOT_LEADER)
		return false;
	if (servers_follow(&c->servers, &refused->leader))
		disconnect_client(c);
	return ++x->not_leaders % NOT_LEADERS_IN_A_ROW != 0;
}

// x->frame holds the encoded request. CLIENT_DONE: x->reply holds the answer.
static int run_exchange(struct client *c, struct exchange *x, struct wire_refused *refused)
{
	if (x->length == 0)
		return -EINVAL;
	wire_sign(&c->key, x->frame, x->length);
	struct backoff backoff = {0};
	uint64_t start_ns = time_monotonic_ns(&time_source_real);
	x->give_up_ns = start_ns + c->deadline_ms * NS_PER_MS;
	int rc = -ETIMEDOUT;
	while (wait_for_answer(c, x, &backoff)) {
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		c->counters.last_rtt_ns = now_ns - start_ns;
		if (x->header.type != WIRE_REFUSED) {
			c->counters.answered++;
			return CLIENT_DONE;
		}
		c->counters.refused++;
		if (!wire_refused_decode(x->reply, &x->header, refused))
			return -EPROTO;
		rc = CLIENT_REFUSED;
		if (goes_to_leader(c, x, refused))
			continue;
		if (refused->reason != WIRE_REFUSED_NOT_LEADER &&
			refused->reason != WIRE_REFUSED_OVERLOADED &&
			refused->reason != WIRE_REFUSED_STOPPING)
			break;
		uint64_t wait_ms = refused->retry_after_ms +
				   backoff_jittered_ms(&backoff, c->wait_ms, c->cap_ms, &c->prng);
		uint64_t until_ns = later_ns(x, now_ns, wait_ms);
		for (; now_ns < until_ns; now_ns = time_monotonic_ns(&time_source_real))
			poll(NULL, 0, (int)((until_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS));
	}
	return rc;
}

static struct wire_header begin_exchange(struct client *c, struct exchange *x, uint8_t reply_type)
{
	x->reply_type = reply_type;
	x->not_leaders = 0;
	x->sequence = ++c->sequence;
	return (struct wire_header){
		.key_id = c->key_id, .slot = WIRE_NO_SLOT, .sequence = x->sequence};
}

int client_place(struct client *c, struct wire_place *place, struct wire_placed *placed,
	struct wire_refused *refused)
{
	struct exchange x;
	place->client = text_of(c->name);
	if (place->issued_ms == 0)
		place->issued_ms = time_wall_ns(&time_source_real) / NS_PER_MS;
	if (place->request == 0)
		place->request = prng_u64(&c->prng);
	struct wire_header h = begin_exchange(c, &x, WIRE_PLACED);
	x.length = wire_place_encode(x.frame, sizeof x.frame, h, place);
	int rc = run_exchange(c, &x, refused);
	if (rc == CLIENT_DONE && !wire_placed_decode(x.reply, &x.header, placed))
		return -EPROTO;
	return rc;
}

int client_release(struct client *c, struct wire_ids *ids, struct wire_released *released,
	struct wire_refused *refused)
{
	struct exchange x;
	ids->client = text_of(c->name);
	struct wire_header h = begin_exchange(c, &x, WIRE_RELEASED);
	x.length = wire_release_encode(x.frame, sizeof x.frame, h, ids);
	int rc = run_exchange(c, &x, refused);
	if (rc == CLIENT_DONE && (!wire_released_decode(x.reply, &x.header, released) ||
					 released->count != ids->count))
		return -EPROTO;
	return rc;
}

int client_status(struct client *c, struct wire_status *status, struct wire_status_reply *reply,
	struct wire_refused *refused)
{
	struct exchange x;
	status->client = text_of(c->name);
	struct wire_header h = begin_exchange(c, &x, WIRE_STATUS_REPLY);
	x.length = wire_status_encode(x.frame, sizeof x.frame, h, status);
	int rc = run_exchange(c, &x, refused);
	if (rc == CLIENT_DONE && !wire_status_reply_decode(x.reply, &x.header, reply))
		return -EPROTO;
	return rc;
}
