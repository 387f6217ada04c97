// The hub with nodes that dial it over loopback and TLS: each is a thread of the test that answers as it is told.
#include "state/base/time_units.h"
#include "tests/support/shared_time.h"
#include "tools/api/line/line_hub.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define NODE "7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de"
#define LARGE_BYTES (3u * 1024 * 1024)

static const uint8_t key_of_node[PSK_KEY_BYTES] = {1, 2, 3}, other_key[PSK_KEY_BYTES] = {9};

struct test {
	struct line_hub *hub;
	uint16_t port;
	_Atomic uint32_t calls, wakes;
	_Atomic bool is_called;
	_Atomic int verdict; // enum line_refusal of every node
	_Atomic int asked_fd;
	_Atomic int answer_error; // of who would answer nodes; 0: none
	_Atomic bool key_changed;
	struct uuid node;
};

static enum line_refusal find_key(
	void *context, const struct psk_identity *identity, uint8_t key[static PSK_KEY_BYTES])
{
	struct test *t = context;
	memcpy(key, atomic_load(&t->key_changed) ? other_key : key_of_node, PSK_KEY_BYTES);
	if (!uuid_equal(&identity->node, &t->node))
		return LINE_REFUSED_UNKNOWN_NODE;
	return (enum line_refusal)atomic_load(&t->verdict);
}

static void call(void *context, const struct uuid *node)
{
	struct test *t = context;
	atomic_fetch_add(&t->calls, 1);
	atomic_store(&t->is_called, true);
}

static void call_no_more(void *context, const struct uuid *node)
{
	struct test *t = context;
	atomic_store(&t->is_called, false);
}

static int answer(void *context, const struct uuid *node, int fd)
{
	struct test *t = context;
	int error = atomic_load(&t->answer_error);
	if (error)
		close(fd);
	else
		atomic_store(&t->asked_fd, fd);
	return error;
}

static void wake(void *context)
{
	struct test *t = context;
	atomic_fetch_add(&t->wakes, 1);
}

static int listen_anywhere(uint16_t *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_return_code(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_return_code(listen(fd, 1024), 0);
	assert_return_code(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

// The clock of tests about what takes too long, so that nothing else does.
static struct shared_time stopped_time = {1795225440000000000};
static const struct time_source stopped = {shared_time_ns, shared_time_ns, &stopped_time, NULL};

static struct test *begin_at(const struct time_source *time)
{
	struct test *t = calloc(1, sizeof *t);
	assert_non_null(t);
	assert_true(uuid_parse(NODE, &t->node));
	t->asked_fd = -1;
	struct line_hub_settings settings = {.listen_fd = listen_anywhere(&t->port),
		.time = time,
		.node_key = find_key,
		.call = call,
		.call_no_more = call_no_more,
		.answer = answer,
		.context = t,
		.wake = wake,
		.wake_context = t};
	assert_int_equal(line_hub_start(&settings, &t->hub), 0);
	return t;
}

static struct test *begin(void)
{
	return begin_at(&time_source_real);
}

static void end(struct test *t)
{
	line_hub_stop(t->hub);
	free(t);
}

static struct line_hub_counts counts(const struct test *t)
{
	struct line_hub_counts c;
	line_hub_count(t->hub, &c);
	return c;
}

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
}

// Whatever the test waits for comes by itself; the limit only ends a test that fails.
#define UNTIL(condition)                               \
	do {                                           \
		for (int i_ = 0; !(condition); i_++) { \
			assert_true(i_ < 60000);       \
			wait_a_little();               \
		}                                      \
	} while (0)

struct peer {
	int fd;
	struct psk_client *client;
	gnutls_session_t tls;
};

static struct sockaddr_in address_of(const struct test *t)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons(t->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int connect_to(const struct test *t)
{
	struct sockaddr_in at = address_of(t);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_return_code(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	return fd;
}

static void wait_for(struct peer *p)
{
	struct pollfd polled = {p->fd, gnutls_record_get_direction(p->tls) ? POLLOUT : POLLIN, 0};
	assert_true(poll(&polled, 1, 60000) == 1);
}

// Over a connection that stands.
static struct peer dial_over(
	int fd, const char *node, const uint8_t *key, enum line_kind kind, int *error)
{
	struct psk_identity identity = {.key_id = 7};
	struct peer p = {.fd = fd};
	assert_true(uuid_parse(node, &identity.node));
	p.client = psk_client_create(&identity, key);
	assert_int_equal(psk_client_session(p.client, p.fd, kind, &p.tls), 0);
	assert_return_code(fcntl(p.fd, F_SETFL, O_NONBLOCK), 0);
	while ((*error = gnutls_handshake(p.tls)) == GNUTLS_E_AGAIN)
		wait_for(&p);
	return p;
}

static struct peer dial_as(
	const struct test *t, const char *node, const uint8_t *key, enum line_kind kind, int *error)
{
	return dial_over(connect_to(t), node, key, kind, error);
}

static struct peer dial(const struct test *t)
{
	int error;
	struct peer p = dial_as(t, NODE, key_of_node, LINE_CONTROLLER_ASKS, &error);
	assert_int_equal(error, 0);
	return p;
}

static void leave(struct peer *p)
{
	gnutls_deinit(p->tls);
	psk_client_destroy(p->client);
	close(p->fd);
}

static ssize_t hear(struct peer *p, void *to, size_t most)
{
	ssize_t size;
	while ((size = gnutls_record_recv(p->tls, to, most)) == GNUTLS_E_AGAIN)
		wait_for(p);
	return size;
}

static void say(struct peer *p, const char *text, size_t size)
{
	while (size) {
		ssize_t sent = gnutls_record_send(p->tls, text, size);
		if (sent == GNUTLS_E_AGAIN) {
			wait_for(p);
			continue;
		}
		assert_true(sent > 0);
		text += sent;
		size -= (size_t)sent;
	}
}

static void say_text(struct peer *p, const char *text)
{
	say(p, text, strlen(text));
}

// The head of a request, up to its empty line.
static void hear_request(struct peer *p, char text[static 4096])
{
	size_t used = 0;
	for (text[0] = '\0'; !strstr(text, "\r\n\r\n"); text[used] = '\0') {
		ssize_t size = hear(p, text + used, 4095 - used);
		assert_true(size > 0);
		used += (size_t)size;
	}
}

static struct exchange *ask(struct test *t, const char *method, const char *target)
{
	struct exchange *x = exchange_create(method, target, NULL, 0);
	assert_true(line_hub_begin(t->hub, x, &t->node));
	return x;
}

static void drop(struct exchange *x)
{
	x->carrier->drop(x);
}

// Reads to the end: how many bytes, and the first of them.
static size_t read_all(struct exchange *x, char *to, size_t room)
{
	static char block[65536];
	size_t used = 0;
	UNTIL(exchange_stage_of(x) != EXCHANGE_WAITS);
	for (;;) {
		struct exchange_news news = exchange_read(x, block, sizeof block);
		if (news.was_held)
			x->carrier->has_room(x);
		if (used < room)
			memcpy(to + used, block, news.size < room - used ? news.size : room - used);
		used += news.size;
		if (!news.size && news.stage > EXCHANGE_ANSWERS)
			return used;
		if (!news.size)
			wait_a_little();
	}
}

static void a_request_waits_until_its_node_dials(void **unused)
{
	struct test *t = begin();
	char text[4096], body[16] = "";
	struct exchange *x = ask(t, "GET", "/v1/client/fs/ls/a?path=/");
	UNTIL(atomic_load(&t->is_called));
	assert_int_equal(exchange_stage_of(x), EXCHANGE_WAITS);
	struct peer p = dial(t);
	hear_request(&p, text);
	assert_string_equal(
		text, "GET /v1/client/fs/ls/a?path=/ HTTP/1.1\r\nHost: " NODE "\r\n\r\n");
	UNTIL(!atomic_load(&t->is_called));
	say_text(&p, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n"
		     "Date: now\r\n\r\nhello");
	assert_int_equal(read_all(x, body, sizeof body), 5);
	assert_string_equal(body, "hello");
	assert_int_equal(exchange_stage_of(x), EXCHANGE_IS_OVER);
	assert_int_equal(x->head.status, 200);
	assert_int_equal(x->head.count, 1);
	assert_string_equal(x->head.headers[0].value, "application/json");
	drop(x);
	// The connection serves the next one, and nobody is called.
	UNTIL(counts(t).idle == 1);
	uint32_t calls = atomic_load(&t->calls);
	x = ask(t, "PUT", "/v1/client/allocation/a/restart");
	hear_request(&p, text);
	assert_non_null(strstr(text, "Content-Length: 0\r\n"));
	say_text(&p, "HTTP/1.1 204 No Content\r\n\r\n");
	assert_int_equal(read_all(x, body, sizeof body), 0);
	drop(x);
	assert_int_equal(atomic_load(&t->calls), calls);
	leave(&p);
	UNTIL(counts(t).idle == 0);
	assert_int_equal(counts(t).accepted, 1);
	end(t);
}

// Whoever waits in vain is told what to look at.
static void a_node_that_does_not_dial_is_given_up(void **unused)
{
	struct test *t = begin_at(&stopped);
	struct exchange *x = ask(t, "GET", "/");
	UNTIL(atomic_load(&t->calls) == 1);
	shared_time_advance_ms(&stopped_time, LINE_CALL_AGAIN_MS);
	UNTIL(atomic_load(&t->calls) == 2);
	assert_int_equal(exchange_stage_of(x), EXCHANGE_WAITS);
	shared_time_advance_ms(&stopped_time, LINE_DIAL_WAIT_MS);
	UNTIL(exchange_stage_of(x) == EXCHANGE_HAS_FAILED);
	assert_int_equal(x->failure_status, 404);
	assert_memory_equal(x->failure, "No path to node: ", 17);
	assert_false(atomic_load(&t->is_called));
	assert_int_equal(counts(t).unreached, 1);
	drop(x);
	end(t);
}

static void two_who_wait_have_a_connection_each(void **unused)
{
	struct test *t = begin();
	char text[4096], body[4] = "";
	struct exchange *a = ask(t, "GET", "/a"), *b = ask(t, "GET", "/b");
	UNTIL(atomic_load(&t->is_called));
	struct peer p = dial(t);
	hear_request(&p, text);
	assert_memory_equal(text, "GET /a ", 7);
	assert_true(atomic_load(&t->is_called));
	struct peer q = dial(t);
	hear_request(&q, text);
	assert_memory_equal(text, "GET /b ", 7);
	UNTIL(!atomic_load(&t->is_called));
	say_text(&q, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb");
	assert_int_equal(read_all(b, body, 1), 1);
	assert_string_equal(body, "b");
	drop(b);
	drop(a);
	// The client that asked for the first one left: its connection ends.
	assert_true(hear(&p, text, sizeof text) <= 0);
	leave(&p);
	leave(&q);
	end(t);
}

struct flood {
	struct peer *peer;
	_Atomic size_t sent;
};

static void *send_flood(void *context)
{
	static char chunk[32768];
	struct flood *f = context;
	char size[16];
	memset(chunk, 'x', sizeof chunk);
	snprintf(size, sizeof size, "%zx\r\n", sizeof chunk);
	for (size_t sent = 0; sent < LARGE_BYTES; sent += sizeof chunk) {
		say_text(f->peer, size);
		say(f->peer, chunk, sizeof chunk);
		say_text(f->peer, "\r\n");
		atomic_store(&f->sent, sent + sizeof chunk);
	}
	say_text(f->peer, "0\r\nTrailer: x\r\n\r\n");
	return NULL;
}

// How much of an answer nobody has read yet; whether the node is told to wait.
static size_t kept_of(struct exchange *x, bool *is_held)
{
	pthread_mutex_lock(&x->lock);
	size_t kept = x->to - x->from;
	*is_held = x->is_held;
	pthread_mutex_unlock(&x->lock);
	return kept;
}

// What a slow client has not read waits at the node, not here.
static void a_slow_reader_holds_the_node_up(void **unused)
{
	struct test *t = begin();
	char text[4096];
	struct exchange *x = ask(t, "GET", "/stream");
	struct peer p = dial(t);
	int small = 65536;
	assert_return_code(setsockopt(p.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
	hear_request(&p, text);
	say_text(&p, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	struct flood flood = {.peer = &p};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, send_flood, &flood), 0);
	bool is_held = false;
	UNTIL(kept_of(x, &is_held) > 0 && is_held);
	assert_true(kept_of(x, &is_held) <= EXCHANGE_BYTES_MAX);
	size_t before;
	do { // until nothing moves any more
		before = atomic_load(&flood.sent);
		nanosleep(&(struct timespec){.tv_nsec = 100 * NS_PER_MS}, NULL);
	} while (before != atomic_load(&flood.sent));
	assert_true(before < LARGE_BYTES);
	assert_int_equal(read_all(x, text, sizeof text), LARGE_BYTES);
	assert_int_equal(text[4095], 'x');
	pthread_join(thread, NULL);
	assert_int_equal(exchange_stage_of(x), EXCHANGE_IS_OVER);
	drop(x);
	UNTIL(counts(t).idle == 1);
	leave(&p);
	end(t);
}

static enum exchange_stage answer_with(const char *said, char *failure)
{
	struct test *t = begin();
	char text[4096];
	struct exchange *x = ask(t, "PUT", "/");
	struct peer p = dial(t);
	hear_request(&p, text);
	say_text(&p, said);
	(void)gnutls_bye(p.tls, GNUTLS_SHUT_WR);
	leave(&p);
	(void)read_all(x, text, sizeof text);
	enum exchange_stage stage = exchange_stage_of(x);
	snprintf(failure, 300, "%s", x->failure);
	drop(x);
	end(t);
	return stage;
}

static void a_node_that_dies_breaks_its_answer(void **unused)
{
	static const struct {
		const char *said;
		enum exchange_stage stage;
	} cases[] = {
		{"", EXCHANGE_HAS_FAILED},
		{"HTTP/1.1 200 OK\r\nContent-Le", EXCHANGE_HAS_FAILED},
		{"SSH-2.0-x\r\n", EXCHANGE_HAS_FAILED},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel", EXCHANGE_IS_BROKEN},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n",
			EXCHANGE_IS_BROKEN},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
			EXCHANGE_IS_BROKEN},
		{"HTTP/1.1 200 OK\r\n\r\nto the end", EXCHANGE_IS_OVER},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
			EXCHANGE_IS_OVER},
	};
	char failure[300];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		assert_int_equal(answer_with(cases[i].said, failure), cases[i].stage);
		assert_int_equal(*failure != '\0', cases[i].stage == EXCHANGE_HAS_FAILED);
	}
}

static void refused(struct test *t, const char *node, const uint8_t *key, enum line_refusal why)
{
	int error;
	uint64_t before = counts(t).refused[why];
	struct peer p = dial_as(t, node, key, LINE_CONTROLLER_ASKS, &error);
	char byte;
	// With TLS 1.3 the dialling side is content first and learns of it with what it reads.
	assert_true(error < 0 || hear(&p, &byte, 1) <= 0);
	UNTIL(counts(t).refused[why] == before + 1);
	leave(&p);
}

static void who_has_not_the_present_key_is_refused(void **unused)
{
	struct test *t = begin();
	refused(t, NODE, other_key, LINE_REFUSED_BAD_KEY);
	refused(t, "00000000-0000-0000-0000-000000000001", key_of_node, LINE_REFUSED_UNKNOWN_NODE);
	for (int why = LINE_REFUSED_UNKNOWN_KEY; why <= LINE_REFUSED_NOT_LEADING; why++) {
		atomic_store(&t->verdict, why);
		refused(t, NODE, key_of_node, (enum line_refusal)why);
	}
	assert_int_equal(counts(t).accepted, 0);
	int fd = connect_to(t);
	assert_int_equal(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
	UNTIL(counts(t).refused[LINE_REFUSED_TLS] == 1);
	close(fd);
	end(t);
}

// Once the node has another key, or is revoked, what it had before ends within seconds.
static void a_key_that_counts_no_more_ends_its_connections(void **unused)
{
	struct test *t = begin();
	char text[4096];
	struct exchange *x = ask(t, "GET", "/");
	struct peer p = dial(t);
	hear_request(&p, text);
	say_text(&p, "HTTP/1.1 200 OK\r\n\r\nfirst");
	struct peer idle = dial(t);
	UNTIL(counts(t).idle == 1);
	atomic_store(&t->key_changed, true);
	assert_true(hear(&idle, text, sizeof text) <= 0);
	assert_true(hear(&p, text, sizeof text) <= 0);
	UNTIL(exchange_stage_of(x) == EXCHANGE_IS_BROKEN);
	drop(x);
	leave(&p);
	leave(&idle);
	end(t);
}

static void a_silent_handshake_is_cut(void **unused)
{
	struct test *t = begin_at(&stopped);
	int fd = connect_to(t);
	char byte;
	UNTIL(counts(t).handshakes == 1);
	shared_time_advance_ms(&stopped_time, LINE_HANDSHAKE_MS);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	assert_int_equal(counts(t).refused[LINE_REFUSED_SLOW], 1);
	close(fd);
	// One that idles, too, and is no refusal.
	struct peer p = dial(t);
	UNTIL(counts(t).idle == 1);
	shared_time_advance_ms(&stopped_time, LINE_IDLE_MS);
	assert_true(hear(&p, &byte, 1) <= 0);
	leave(&p);
	end(t);
}

// Who opens connections and says nothing does not keep others out.
static void a_crowd_does_not_block_a_node(void **unused)
{
	static int fds[LINE_HANDSHAKES_MAX + 20];
	const uint32_t many = LINE_HANDSHAKES_MAX + 20;
	struct test *t = begin();
	for (uint32_t i = 0; i < many; i++)
		fds[i] = connect_to(t);
	UNTIL(counts(t).refused[LINE_REFUSED_CROWDED] == 20);
	struct peer p = dial(t);
	UNTIL(counts(t).idle == 1);
	leave(&p);
	for (uint32_t i = 0; i < many; i++)
		close(fds[i]);
	end(t);
}

struct joined {
	_Atomic bool has_ended, is_over;
};

static bool holds(void *context)
{
	const struct joined *j = context;
	return !atomic_load(&j->is_over);
}

static void end_join(void *context)
{
	struct joined *j = context;
	atomic_store(&j->has_ended, true);
}

static struct exchange *switched(struct test *t, struct peer *p, struct joined *j, int fds[2])
{
	char text[4096];
	struct exchange *x = exchange_create("GET", "/exec", NULL, 0);
	exchange_add_header(x, "Upgrade", "websocket");
	assert_true(line_hub_begin(t->hub, x, &t->node));
	*p = dial(t);
	hear_request(p, text);
	assert_non_null(strstr(text, "\r\nUpgrade: websocket\r\n"));
	say_text(p, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
		    "Sec-WebSocket-Accept: x\r\n\r\nearly");
	UNTIL(exchange_stage_of(x) == EXCHANGE_IS_SWITCHED);
	assert_int_equal(x->head.status, 101);
	assert_return_code(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	const struct exchange_joint joint = {.fd = fds[1],
		.extra = "typed",
		.extra_size = 5,
		.holds = holds,
		.end = end_join,
		.context = j};
	x->carrier->join(x, &joint);
	return x;
}

static void hear_on(int fd, const char *expected)
{
	char text[64] = "";
	size_t used = 0;
	while (used < strlen(expected)) {
		struct pollfd polled = {fd, POLLIN, 0};
		assert_true(poll(&polled, 1, 60000) == 1);
		ssize_t size = recv(fd, text + used, sizeof text - 1 - used, 0);
		assert_true(size > 0);
		used += (size_t)size;
	}
	assert_string_equal(text, expected);
}

static void another_protocol_goes_both_ways(void **unused)
{
	struct test *t = begin();
	struct joined j = {false, false};
	struct peer p;
	int fds[2];
	char text[16] = "";
	struct exchange *x = switched(t, &p, &j, fds);
	hear_on(fds[0], "early");
	assert_int_equal(hear(&p, text, sizeof text), 5);
	assert_string_equal(text, "typed");
	assert_int_equal(send(fds[0], "more", 4, 0), 4);
	assert_int_equal(hear(&p, text, sizeof text), 4);
	say_text(&p, "last");
	(void)gnutls_bye(p.tls, GNUTLS_SHUT_WR);
	leave(&p);
	hear_on(fds[0], "last");
	UNTIL(atomic_load(&j.has_ended));
	drop(x);
	close(fds[0]);
	close(fds[1]);
	end(t);
}

// The client leaves, its token ends, or the server does: each ends it on both sides.
static void another_protocol_ends(void **unused)
{
	for (int how = 0; how < 3; how++) {
		struct test *t = begin();
		struct joined j = {false, false};
		struct peer p;
		int fds[2];
		char text[16];
		struct exchange *x = switched(t, &p, &j, fds);
		assert_int_equal(hear(&p, text, sizeof text), 5);
		if (how == 0)
			assert_return_code(shutdown(fds[0], SHUT_RDWR), 0);
		else if (how == 1)
			atomic_store(&j.is_over, true);
		else
			line_hub_close(t->hub);
		assert_true(hear(&p, text, sizeof text) <= 0);
		UNTIL(atomic_load(&j.has_ended));
		drop(x);
		leave(&p);
		close(fds[0]);
		close(fds[1]);
		end(t);
	}
}

static void a_node_that_asks_is_answered(void **unused)
{
	struct test *t = begin();
	char text[64] = "";
	int error, fd;
	struct peer p = dial_as(t, NODE, key_of_node, LINE_NODE_ASKS, &error);
	assert_int_equal(error, 0);
	UNTIL((fd = atomic_load(&t->asked_fd)) >= 0);
	say_text(&p, "GET / HTTP/1.0\r\n\r\n");
	hear_on(fd, "GET / HTTP/1.0\r\n\r\n");
	assert_int_equal(send(fd, "HTTP/1.0 200 OK\r\n\r\nyes", 22, 0), 22);
	close(fd);
	assert_int_equal(hear(&p, text, sizeof text), 22);
	assert_int_equal(hear(&p, text, sizeof text), 0);
	UNTIL(counts(t).asking == 0);
	leave(&p);
	end(t);
}

// A connection that idles is closed by its node just as a request goes out over it: it waits for another one, whether
// the connection carried a request before or not.
static void a_lost_connection_is_no_lost_request(void **unused)
{
	for (int was_used = 0; was_used < 2; was_used++) {
		struct test *t = begin();
		char text[4096], body[4] = "";
		struct exchange *x = was_used ? ask(t, "GET", "/1") : NULL;
		struct peer p = dial(t);
		if (was_used) {
			hear_request(&p, text);
			say_text(&p, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
			assert_int_equal(read_all(x, body, sizeof body), 0);
			drop(x);
		}
		UNTIL(counts(t).idle == 1);
		x = ask(t, "GET", "/2");
		hear_request(&p, text);
		leave(&p);
		UNTIL(atomic_load(&t->is_called) || exchange_stage_of(x) != EXCHANGE_WAITS);
		assert_int_equal(exchange_stage_of(x), EXCHANGE_WAITS);
		p = dial(t);
		hear_request(&p, text);
		assert_memory_equal(text, "GET /2 ", 7);
		say_text(&p, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
		assert_int_equal(read_all(x, body, sizeof body), 2);
		drop(x);
		leave(&p);
		end(t);
	}
}

static uint64_t real_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

// As many descriptors as are open. Returns the limit as it was.
static struct rlimit forbid_descriptors(void)
{
	struct rlimit before;
	assert_return_code(getrlimit(RLIMIT_NOFILE, &before), 0);
	int next = dup(STDERR_FILENO);
	assert_return_code(next, 0);
	close(next);
	struct rlimit fewer = {.rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max};
	assert_return_code(setrlimit(RLIMIT_NOFILE, &fewer), 0);
	return before;
}

static void who_dials_waits_while_descriptors_are_short(void **unused)
{
	struct test *t = begin();
	struct sockaddr_in at = address_of(t);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct rlimit before = forbid_descriptors();
	uint64_t from_ms = real_ms();
	assert_return_code(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	UNTIL(counts(t).accepts_failed >= 3);
	uint64_t failures = counts(t).accepts_failed;
	assert_true(failures <= (real_ms() - from_ms) / LINE_ACCEPT_PAUSE_MS + 1);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
	struct peer p = dial(t);
	UNTIL(counts(t).idle == 1 && counts(t).handshakes == 1);
	leave(&p);
	close(fd);
	end(t);
}

// Who would answer it cannot; then there is no descriptor for the way there.
static void a_node_that_asks_may_find_nobody(void **unused)
{
	struct test *t = begin();
	int error;
	atomic_store(&t->answer_error, -EAGAIN);
	struct peer p = dial_as(t, NODE, key_of_node, LINE_NODE_ASKS, &error);
	UNTIL(counts(t).refused[LINE_REFUSED_TOO_MANY] == 1);
	leave(&p);
	atomic_store(&t->answer_error, 0);
	UNTIL(counts(t).handshakes == 0); // the first one's
	int fd = connect_to(t);
	UNTIL(counts(t).handshakes == 1);
	struct rlimit before = forbid_descriptors();
	p = dial_over(fd, NODE, key_of_node, LINE_NODE_ASKS, &error);
	UNTIL(counts(t).refused[LINE_REFUSED_TOO_MANY] == 2);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), 0);
	leave(&p);
	p = dial_as(t, NODE, key_of_node, LINE_NODE_ASKS, &error);
	assert_int_equal(error, 0);
	UNTIL((fd = atomic_load(&t->asked_fd)) >= 0);
	close(fd);
	leave(&p);
	end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_waits_until_its_node_dials),
		cmocka_unit_test(a_node_that_does_not_dial_is_given_up),
		cmocka_unit_test(two_who_wait_have_a_connection_each),
		cmocka_unit_test(a_slow_reader_holds_the_node_up),
		cmocka_unit_test(a_node_that_dies_breaks_its_answer),
		cmocka_unit_test(who_has_not_the_present_key_is_refused),
		cmocka_unit_test(a_key_that_counts_no_more_ends_its_connections),
		cmocka_unit_test(a_silent_handshake_is_cut),
		cmocka_unit_test(a_crowd_does_not_block_a_node),
		cmocka_unit_test(another_protocol_goes_both_ways),
		cmocka_unit_test(another_protocol_ends),
		cmocka_unit_test(a_node_that_asks_is_answered),
		cmocka_unit_test(a_node_that_asks_may_find_nobody),
		cmocka_unit_test(a_lost_connection_is_no_lost_request),
		cmocka_unit_test(who_dials_waits_while_descriptors_are_short),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
