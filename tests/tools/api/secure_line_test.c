// A WebSocket over TLS: a client, the server, and behind its line the agent's end of it. What goes through it is seen
// record by record.
#include "tests/tools/api/line_stage.h"
#include "tests/tools/tls/made.h"
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define FRAME_HEAD_BYTES 10u // of a flood
// At least so many bytes have to be in a record of TLS, on average.
#define RECORD_BYTES_MIN 1024u

struct client {
	int fd;
	gnutls_session_t tls;
};

static struct made made;
static gnutls_certificate_credentials_t trust;

static int begin(void **unused)
{
	char certificate[128], key[128];
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	snprintf(certificate, sizeof certificate, "%s", made_path(&made, "server.pem"));
	snprintf(key, sizeof key, "%s", made_path(&made, "server-key.pem"));
	server = server_start(&(struct server_options){
		.has_line = true, .tls = (struct credentials_files){certificate, key, ""}});
	stage_begin(server);
	return gnutls_certificate_allocate_credentials(&trust);
}

static int end(void **unused)
{
	gnutls_certificate_free_credentials(trust);
	stage_end();
	server_group_end(unused);
	made_end(&made);
	return 0;
}

static struct client connect_client(void)
{
	struct client c = {.fd = server_connect(server)};
	const struct timeval patience = {.tv_sec = 60};
	const int at_once = 1;
	int error;
	assert_return_code(
		setsockopt(c.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
	assert_return_code(setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once), 0);
	assert_int_equal(gnutls_init(&c.tls, GNUTLS_CLIENT), 0);
	assert_int_equal(gnutls_set_default_priority(c.tls), 0);
	assert_int_equal(gnutls_credentials_set(c.tls, GNUTLS_CRD_CERTIFICATE, trust), 0);
	gnutls_transport_set_int(c.tls, c.fd);
	while ((error = gnutls_handshake(c.tls)) < 0)
		assert_false(gnutls_error_is_fatal(error));
	return c;
}

static void disconnect(struct client *c)
{
	gnutls_deinit(c->tls);
	close(c->fd);
}

static void tell(const struct client *c, const void *data, size_t size)
{
	assert_int_equal(gnutls_record_send(c->tls, data, size), size);
}

// What one record holds, or a part of it when there is no room; 0: the server said farewell.
static size_t listen_for(const struct client *c, void *data, size_t room)
{
	ssize_t size;
	do
		size = gnutls_record_recv(c->tls, data, room);
	while (size == GNUTLS_E_INTERRUPTED || size == GNUTLS_E_AGAIN);
	if (size < 0)
		fail_msg("%s", gnutls_strerror((int)size));
	return (size_t)size;
}

// A command's WebSocket, of which nothing but the head was read.
static struct client open_exec(const char *task)
{
	char text[1024];
	struct client c = connect_client();
	int size = snprintf(text, sizeof text,
		"GET /v1/client/allocation/%s/exec?task=%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
		stage.id, task, STAGE_UPGRADE);
	tell(&c, text, (size_t)size);
	for (size = 0; size < 4 || memcmp(text + size - 4, "\r\n\r\n", 4) != 0; size++) {
		assert_true(size + 1 < (int)sizeof text);
		assert_int_equal(listen_for(&c, text + size, 1), 1);
	}
	text[size] = '\0';
	assert_memory_equal(text, "HTTP/1.1 101 Switching Protocols\r\n", 34);
	assert_non_null(strstr(text, STAGE_ACCEPTED));
	assert_non_null(strstr(text, "\r\nConnection: Upgrade\r\n"));
	assert_non_null(strstr(text, "\r\nUpgrade: websocket\r\n"));
	return c;
}

static void expect_echo(const struct client *c, const char *words)
{
	char heard[64];
	size_t size = strlen(words);
	tell(c, words, size);
	for (size_t at = 0; at < size;)
		at += listen_for(c, heard + at, sizeof heard - at);
	assert_memory_equal(heard, words, size);
}

static void each_keystroke_is_answered(void **unused)
{
	struct client c = open_exec("t");
	for (int i = 0; i < 100; i++)
		expect_echo(&c, "typed");
	assert_int_equal(gnutls_bye(c.tls, GNUTLS_SHUT_WR), 0);
	stage_until_quiet();
	disconnect(&c);
}

// Bytes of a flood that come in one record after the other; all of them count.
static void what_comes_fills_its_records(void **unused)
{
	static char piece[STAGE_PIECE_BYTES];
	struct client c = open_exec("flood");
	uint64_t records = 0;
	size_t head = 0, used = 0;
	while (head < FRAME_HEAD_BYTES)
		head += listen_for(&c, piece, FRAME_HEAD_BYTES - head);
	for (size_t at = 0; at < STAGE_FLOOD_BYTES; records++) {
		used += listen_for(&c, piece + used, sizeof piece - used);
		if (used < sizeof piece)
			continue;
		assert_true(stage_is_flood(piece, sizeof piece, at));
		at += used;
		used = 0;
	}
	assert_in_range(records, 1, STAGE_FLOOD_BYTES / RECORD_BYTES_MIN);
	// The node has ended, and that is told as well.
	assert_int_equal(listen_for(&c, piece, sizeof piece), 0);
	disconnect(&c);
}

static void who_reads_nothing_holds_the_node_up(void **unused)
{
	static char piece[STAGE_PIECE_BYTES];
	struct client slow = open_exec("flood"), other = open_exec("t");
	uint64_t before, now = atomic_load(&stage.flooded), begin = now;
	do {
		before = now;
		for (int i = 0; i < 50; i++)
			expect_echo(&other, "nobody else is held up");
		(void)poll(NULL, 0, 100);
		now = atomic_load(&stage.flooded);
	} while (now != before || now == begin);
	assert_true(now - begin < STAGE_FLOOD_BYTES);
	size_t heard = 0;
	for (size_t size; (size = listen_for(&slow, piece, sizeof piece)) > 0;)
		heard += size;
	assert_int_equal(heard, FRAME_HEAD_BYTES + STAGE_FLOOD_BYTES);
	disconnect(&slow);
	disconnect(&other);
	stage_until_quiet();
}

// With neither an end of its WebSocket nor one of TLS.
static void who_breaks_off_is_missed(void **unused)
{
	const struct linger reset = {.l_onoff = 1};
	struct client c = open_exec("t");
	expect_echo(&c, "typed");
	disconnect(&c);
	stage_until_quiet();
	c = open_exec("flood");
	assert_return_code(setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
	disconnect(&c);
	stage_until_quiet();
}

static void a_server_that_stops_lets_go_of_all(void **unused)
{
	struct client idle = open_exec("t"), stuck = open_exec("flood");
	char text[256];
	expect_echo(&idle, "typed");
	stage_end();
	server_stop(server);
	assert_int_equal(listen_for(&idle, text, sizeof text), 0);
	disconnect(&idle);
	disconnect(&stuck);
	server = server_start(&(struct server_options){.has_line = true});
	stage_begin(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_keystroke_is_answered),
		cmocka_unit_test(what_comes_fills_its_records),
		cmocka_unit_test(who_reads_nothing_holds_the_node_up),
		cmocka_unit_test(who_breaks_off_is_missed),
		cmocka_unit_test(a_server_that_stops_lets_go_of_all),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
