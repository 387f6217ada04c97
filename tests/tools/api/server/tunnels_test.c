// Sessions whose bytes are carried by the tunnels' thread, heard at both ends.
#include "tools/api/server/elsewhere/tunnels.h"
#include "tools/tls/psk.h"
#include "tools/tls/tunnel.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define FIRST "said at first"
#define MANY_BYTES (1024u * 1024)

static struct psk_server *psk_server;
static struct psk_client *psk_client;
static struct tunnels *tunnels;

struct way {
	int fds[2]; // of the session, of its client
	gnutls_session_t session, client;
	int clear;
	struct open_tunnel *tunnel;
	pthread_mutex_t lock; // guards what follows
	uint32_t ended;
};

static bool find_any(
	void *context, const char *name, size_t size, uint8_t key[static PSK_KEY_BYTES])
{
	memset(key, 1, PSK_KEY_BYTES);
	return true;
}

static int begin_tunnels(void **unused)
{
	const struct psk_identity of = {.key_id = 7, .node = {{1}}};
	uint8_t key[PSK_KEY_BYTES];
	memset(key, 1, sizeof key);
	psk_server = psk_server_create(find_any);
	psk_client = psk_client_create(&of, key);
	return tunnels_start(&tunnels);
}

static int end_tunnels(void **unused)
{
	tunnels_stop(tunnels);
	tunnels_destroy(tunnels);
	psk_server_destroy(psk_server);
	psk_client_destroy(psk_client);
	return 0;
}

static void has_ended(void *context)
{
	struct way *w = context;
	pthread_mutex_lock(&w->lock);
	w->ended++;
	pthread_mutex_unlock(&w->lock);
}

static uint32_t ended_of(struct way *w)
{
	pthread_mutex_lock(&w->lock);
	uint32_t ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	return ended;
}

static void until_ended(struct way *w)
{
	for (int ms = 0; !ended_of(w); ms++) {
		assert_true(ms < 60000);
		(void)poll(NULL, 0, 1);
	}
	assert_int_equal(ended_of(w), 1);
}

static void shake_hands(const struct way *w)
{
	int a = GNUTLS_E_AGAIN, b = GNUTLS_E_AGAIN;
	while (a != 0 || b != 0) {
		a = a ? gnutls_handshake(w->session) : 0;
		b = b ? gnutls_handshake(w->client) : 0;
		assert_false(gnutls_error_is_fatal(a) || gnutls_error_is_fatal(b));
	}
}

static void open_way(struct way *w)
{
	*w = (struct way){.lock = PTHREAD_MUTEX_INITIALIZER};
	assert_return_code(
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, w->fds), 0);
	assert_int_equal(psk_server_session(psk_server, w->fds[0], NULL, &w->session), 0);
	assert_int_equal(psk_client_session(psk_client, w->fds[1], LINE_NODE_ASKS, &w->client), 0);
	shake_hands(w);
	w->clear = tunnels_open(
		tunnels, w->session, w->fds[0], FIRST, sizeof FIRST - 1, has_ended, w, &w->tunnel);
	assert_true(w->clear >= 0);
}

static void close_way(struct way *w)
{
	until_ended(w);
	gnutls_deinit(w->session);
	gnutls_deinit(w->client);
	close(w->fds[0]);
	close(w->fds[1]);
}

static ssize_t hear_record(const struct way *w, void *data, size_t room)
{
	ssize_t size;
	while ((size = gnutls_record_recv(w->client, data, room)) == GNUTLS_E_AGAIN)
		assert_int_equal(poll(&(struct pollfd){w->fds[1], POLLIN, 0}, 1, 60000), 1);
	return size;
}

static void expect_first(const struct way *w)
{
	char text[64];
	assert_int_equal(hear_record(w, text, sizeof text), sizeof FIRST - 1);
	assert_memory_equal(text, FIRST, sizeof FIRST - 1);
}

static void *say_much_in_clear(void *context)
{
	static char much[MANY_BYTES];
	const struct way *w = context;
	for (size_t at = 0; at < MANY_BYTES;) {
		ssize_t size = send(w->clear, much + at, MANY_BYTES - at, MSG_NOSIGNAL);
		if (size < 0)
			(void)poll(&(struct pollfd){w->clear, POLLOUT, 0}, 1, 1000);
		at += size < 0 ? 0 : (size_t)size;
	}
	tunnel_leave(w->tunnel);
	return NULL;
}

static void what_is_said_last_is_heard(void **unused)
{
	static char heard[TUNNEL_BYTES];
	struct way w;
	pthread_t thread;
	size_t size = 0, records = 0;
	open_way(&w);
	expect_first(&w);
	assert_int_equal(pthread_create(&thread, NULL, say_much_in_clear, &w), 0);
	for (; size < MANY_BYTES; records++) {
		ssize_t more = hear_record(&w, heard, sizeof heard);
		assert_true(more > 0);
		size += (size_t)more;
	}
	assert_int_equal(size, MANY_BYTES);
	assert_true(records <= MANY_BYTES / 1024);
	pthread_join(thread, NULL);
	close_way(&w);
}

static void who_leaves_is_missed_in_clear(void **unused)
{
	char text[64];
	struct way w;
	open_way(&w);
	expect_first(&w);
	assert_int_equal(gnutls_record_send(w.client, "typed", 5), 5);
	assert_int_equal(gnutls_bye(w.client, GNUTLS_SHUT_WR), 0);
	for (ssize_t size = 0, more = 1; more > 0; size += more) {
		assert_int_equal(poll(&(struct pollfd){w.clear, POLLIN, 0}, 1, 60000), 1);
		more = recv(w.clear, text + size, sizeof text - (size_t)size, 0);
		assert_true(more >= 0);
		assert_true(more > 0 || size == 5);
	}
	assert_memory_equal(text, "typed", 5);
	// The session is kept until nobody is there in clear.
	assert_int_equal(ended_of(&w), 0);
	tunnel_leave(w.tunnel);
	close_way(&w);
}

// Both have said their last word, and whoever has the end in clear still uses what is kept for it.
static void who_has_not_left_is_waited_for(void **unused)
{
	char text[64];
	struct way w, other;
	open_way(&w);
	open_way(&other);
	expect_first(&w);
	expect_first(&other);
	assert_return_code(shutdown(w.clear, SHUT_WR), errno);
	assert_int_equal(gnutls_bye(w.client, GNUTLS_SHUT_WR), 0);
	assert_int_equal(poll(&(struct pollfd){w.clear, POLLIN, 0}, 1, 60000), 1);
	assert_int_equal(recv(w.clear, text, sizeof text, 0), 0);
	// Once another one has had its turns, this one has, too.
	tunnel_leave(other.tunnel);
	close_way(&other);
	assert_int_equal(ended_of(&w), 0);
	tunnel_leave(w.tunnel);
	close_way(&w);
}

// Its client is gone, and whoever has the end in clear has much to say before it looks.
static void what_nobody_hears_holds_nobody_up(void **unused)
{
	static char much[MANY_BYTES];
	struct way w;
	open_way(&w);
	expect_first(&w);
	assert_return_code(shutdown(w.fds[1], SHUT_RDWR), errno);
	assert_int_equal(poll(&(struct pollfd){w.clear, POLLIN, 0}, 1, 60000), 1);
	for (size_t at = 0; at < MANY_BYTES;) {
		assert_int_equal(poll(&(struct pollfd){w.clear, POLLOUT, 0}, 1, 60000), 1);
		ssize_t size = send(w.clear, much + at, MANY_BYTES - at, MSG_NOSIGNAL);
		assert_true(size > 0 || errno == EAGAIN);
		at += size < 0 ? 0 : (size_t)size;
	}
	tunnel_leave(w.tunnel);
	close_way(&w);
}

static void *stop_tunnels(void *unused)
{
	tunnels_stop(tunnels);
	return NULL;
}

static int try_to_open(size_t first_size)
{
	static const char first[TUNNEL_BYTES + 1];
	struct open_tunnel *opened = NULL;
	int fd = tunnels_open(tunnels, NULL, -1, first, first_size, has_ended, NULL, &opened);
	assert_null(opened);
	return fd;
}

static void stop_lets_go(void **unused)
{
	struct way idle, stuck;
	pthread_t thread;
	char byte;
	open_way(&idle);
	open_way(&stuck);
	// Nobody hears what is said there.
	while (send(stuck.clear, FIRST, sizeof FIRST, MSG_NOSIGNAL) > 0)
		continue;
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(pthread_create(&thread, NULL, stop_tunnels, NULL), 0);
	assert_int_equal(poll(&(struct pollfd){idle.clear, POLLIN, 0}, 1, 60000), 1);
	assert_int_equal(recv(idle.clear, &byte, 1, 0), 0);
	tunnel_leave(idle.tunnel);
	close_way(&idle);
	tunnel_leave(stuck.tunnel);
	pthread_join(thread, NULL);
	close_way(&stuck);
	// Who comes too late is told so.
	assert_int_equal(try_to_open(sizeof FIRST), -ESHUTDOWN);
	tunnels_destroy(tunnels);
	assert_int_equal(tunnels_start(&tunnels), 0);
}

static void more_than_is_kept_is_not_said_at_first(void **unused)
{
	assert_int_equal(try_to_open(TUNNEL_BYTES + 1), -EMSGSIZE);
}

static ssize_t say_without_end(void *unused, void *data, size_t size)
{
	memset(data, 0, size);
	return (ssize_t)size;
}

static ssize_t take_nothing(void *unused, const void *data, size_t size)
{
	return -EAGAIN;
}

// Who always has something to say, and is always heard, does not keep others waiting for ever.
static void a_turn_has_an_end(void **unused)
{
	static struct tunnel t;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof at;
	// What comes to a full socket of UDP is dropped, so that there is always room.
	int drain = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_return_code(bind(drain, (const struct sockaddr *)&at, size), 0);
	assert_return_code(getsockname(drain, (struct sockaddr *)&at, &size), 0);
	t = (struct tunnel){.session = {say_without_end, take_nothing, NULL},
		.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	assert_return_code(connect(t.fd, (const struct sockaddr *)&at, size), 0);
	assert_true(tunnel_turn(&t));
	assert_true(t.has_moved && t.has_more);
	assert_true(t.session_events & POLLOUT);
	assert_true(t.fd_events & POLLOUT);
	close(t.fd);
	close(drain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_last_is_heard),
		cmocka_unit_test(who_leaves_is_missed_in_clear),
		cmocka_unit_test(who_has_not_left_is_waited_for),
		cmocka_unit_test(what_nobody_hears_holds_nobody_up),
		cmocka_unit_test(more_than_is_kept_is_not_said_at_first),
		cmocka_unit_test(stop_lets_go),
		cmocka_unit_test(a_turn_has_an_end),
	};
	return cmocka_run_group_tests(tests, begin_tunnels, end_tunnels);
}
