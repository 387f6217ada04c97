// What only a node can answer, asked of a member that follows: the leader, with HTTP or with HTTPS, and behind it the
// agent's end of the line. WebSockets go through both ways, and streams as they come.
#include "dataplane/wire/little_endian.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tests/tools/api/pair.h"
#include "tests/tools/tls/made.h"
#include "tools/agent/line/line.h"
#include "tools/web_socket/handshake.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define UPGRADE                                                                      \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
// Frames.
#define SAID "\x81\x0csaid at once"
#define TYPED "\x81\x05typed"
#define FORWARDED(outcome) "berth_http_forwarded_total{outcome=\"" outcome "\"}"
#define FLOOD_BYTES (24u * 1024 * 1024)
#define PIECE_BYTES 65536u

static struct made made;
static char ca[128], certificate[128], key[128];
static char url[64];
static struct line *line;
static char id[UUID_TEXT_BYTES];
static _Atomic int open_talks;
static _Atomic uint64_t flooded; // bytes that the node could say
static _Atomic bool stops;
static pthread_t dataplane;

static void rest_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)(ms * NS_PER_MS)}, NULL);
}

static bool say_all(int fd, const void *data, size_t size)
{
	for (const char *at = data; size;) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			return false;
		if (sent < 0)
			(void)poll(&(struct pollfd){fd, POLLOUT, 0}, 1, 1000);
		at += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

static bool say_words(int fd, const char *text)
{
	return say_all(fd, text, strlen(text));
}

// Adds what comes to the text. False: the other side has ended.
static bool hear_some(int fd, char *text, size_t room)
{
	struct pollfd polled = {fd, POLLIN, 0};
	size_t used = strlen(text);
	if (used + 1 >= room || poll(&polled, 1, 10000) != 1)
		return false;
	ssize_t size = recv(fd, text + used, room - used - 1, 0);
	text[used + (size > 0 ? (size_t)size : 0)] = '\0';
	return size > 0;
}

static bool accept_socket(int fd, const char *request)
{
	static const char name[] = "Sec-WebSocket-Key: ";
	char text[256], given[65] = "", accept[WEB_SOCKET_ACCEPT_BYTES];
	const char *at = strstr(request, name);
	(void)sscanf(at ? at + sizeof name - 1 : "", "%64s", given);
	server_must(web_socket_accept(given, accept), "a key");
	snprintf(text, sizeof text,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
		"Upgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		accept);
	return say_words(fd, text);
}

static void node_echoes(int fd, const char *request)
{
	static _Thread_local char piece[PIECE_BYTES];
	bool goes_on = accept_socket(fd, request);
	while (goes_on) {
		struct pollfd polled = {fd, POLLIN, 0};
		ssize_t size = poll(&polled, 1, 60000) == 1 ? recv(fd, piece, sizeof piece, 0) : 0;
		goes_on = size > 0 && say_all(fd, piece, (size_t)size);
	}
}

// One frame of FLOOD_BYTES; the bytes count, so that a piece that is lost or comes twice is seen.
static void node_floods(int fd, const char *request)
{
	static _Thread_local uint32_t words[PIECE_BYTES / 4];
	const uint8_t head[] = {0x82, 127, 0, 0, 0, 0, FLOOD_BYTES >> 24, FLOOD_BYTES >> 16 & 0xff,
		FLOOD_BYTES >> 8 & 0xff, FLOOD_BYTES & 0xff};
	bool goes_on = accept_socket(fd, request) && say_all(fd, head, sizeof head);
	for (uint32_t n = 0; goes_on && n < FLOOD_BYTES / 4;) {
		for (size_t i = 0; i < PIECE_BYTES / 4; i++)
			words[i] = n++;
		goes_on = say_all(fd, words, PIECE_BYTES);
		atomic_fetch_add(&flooded, PIECE_BYTES);
	}
}

static void node_streams(int fd)
{
	char unused[16] = "";
	bool goes_on = say_words(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; goes_on && i < 1000; i++) {
		struct pollfd polled = {fd, POLLIN, 0};
		goes_on = say_words(fd, "5\r\nline\n\r\n") &&
			  (poll(&polled, 1, 20) != 1 || hear_some(fd, unused, sizeof unused));
	}
}

static void node_answers(int fd, const char *request)
{
	if (strstr(request, "follow=true"))
		node_streams(fd);
	else if (strstr(request, "task=flood"))
		node_floods(fd, request);
	else if (strstr(request, "task=refused"))
		(void)say_words(fd, "HTTP/1.1 417 No\r\nContent-Length: 5\r\n\r\nnever");
	else if (strstr(request, "task=silent"))
		(void)hear_some(fd, (char[16]){0}, 16);
	else if (strstr(request, "/exec"))
		node_echoes(fd, request);
	else
		(void)say_words(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnode");
}

static void *talk_to_leader(void *context)
{
	int fd = *(int *)context;
	char request[4096] = "";
	free(context);
	while (!strstr(request, "\r\n\r\n") && hear_some(fd, request, sizeof request))
		continue;
	if (*request)
		node_answers(fd, request);
	close(fd);
	atomic_fetch_sub(&open_talks, 1);
	return NULL;
}

static int serve_leader(void *unused, int fd)
{
	pthread_t thread;
	int *at = malloc(sizeof *at);
	*at = fd;
	atomic_fetch_add(&open_talks, 1);
	server_must(pthread_create(&thread, NULL, talk_to_leader, at) == 0, "a thread");
	pthread_detach(thread);
	return 0;
}

// What the dataplane does of a node that is called.
static void *call_node_again(void *unused)
{
	const struct node_table *table = state_node_table(leader->state);
	uint64_t number = 0;
	while (!atomic_load(&stops)) {
		uint32_t slot = leader->newest.slot;
		_Atomic uint64_t *news = &((struct node_table *)table)->news[slot / 64];
		bool is_told = atomic_fetch_and(news, ~(1ull << slot % 64)) >> slot % 64 & 1;
		const struct line_call call = {1, 1, 1, ++number};
		if (is_told && atomic_load(&table->lines[slot].directives) & NODE_DIRECTIVE_CALL)
			line_called(line, &call);
		rest_ms(1);
	}
	return NULL;
}

static void begin_node(void)
{
	static char address[40];
	struct uuid ids[PLACE_COUNT_MAX];
	struct uuid node = server_node(leader, 0);
	server_job(follower, "web"); // the leader may speak TLS alone
	assert_int_equal(server_place(leader, "web", 1, ids), 1);
	uuid_format(&ids[0], id);
	server_report(leader, leader->newest, id, ALLOC_RUNNING, 0);
	snprintf(address, sizeof address, "127.0.0.1:%u", leader->line_port);
	struct line_settings settings = {
		.node = node, .key_id = 7, .address = address, .serve = serve_leader};
	settings.key.k[0] = load64(server_line_key);
	settings.key.k[1] = load64(server_line_key + 8);
	line = line_open(&settings);
	assert_non_null(line);
	atomic_store(&stops, false);
	assert_int_equal(pthread_create(&dataplane, NULL, call_node_again, NULL), 0);
}

static int all_is_well(void **unused)
{
	struct cluster_status leads = pair_status(CLUSTER_LEADER, url, 7);
	struct cluster_status follows = pair_status(CLUSTER_FOLLOWER, url, 7);
	server_knows(leader, &leads);
	server_knows(follower, &follows);
	return 0;
}

static void begin_follower(void)
{
	follower = server_start(&(struct server_options){.is_of_cluster = true,
		.forward_tls = {.ca_file = ca},
		.forward_hold_ms = PAIR_HOLD_MS});
	all_is_well(NULL);
}

static int begin_with(bool is_secure)
{
	struct server_options options = {.is_of_cluster = true, .has_line = true};
	if (is_secure)
		options.tls = (struct credentials_files){certificate, key, ""};
	leader = server_start(&options);
	snprintf(url, sizeof url, "http%s://127.0.0.1:%u", is_secure ? "s" : "",
		api_port(leader->api));
	begin_follower();
	begin_node();
	return 0;
}

static void keep_path(char to[static 128], const char *file)
{
	snprintf(to, 128, "%s", made_path(&made, file));
}

static int begin_in_clear(void **unused)
{
	made_begin(&made);
	made_sign(&made, "server", "127.0.0.1", -10, 1000);
	keep_path(ca, "ca.pem");
	keep_path(certificate, "server.pem");
	keep_path(key, "server-key.pem");
	return begin_with(false);
}

static int end_pair(void **unused)
{
	atomic_store(&stops, true);
	pthread_join(dataplane, NULL);
	line_close(line);
	return pair_end(unused);
}

static int begin_secure(void **unused)
{
	return begin_with(true);
}

static int end_all(void **unused)
{
	end_pair(unused);
	made_end(&made);
	return 0;
}

static int ask_follower(const char *what, const char *headers, const char *behind)
{
	char text[1024];
	int fd = server_connect(follower);
	snprintf(text, sizeof text, "GET /v1/client/%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s",
		what, headers, behind);
	assert_true(say_words(fd, text));
	return fd;
}

static int ask_exec(const char *task, const char *behind)
{
	char what[128];
	snprintf(what, sizeof what, "allocation/%s/exec?task=%s", id, task);
	return ask_follower(what, UPGRADE, behind);
}

// The head, and what came with it, which is returned.
static const char *hear_head(int fd, char *text, size_t room)
{
	*text = '\0';
	while (!strstr(text, "\r\n\r\n"))
		assert_true(hear_some(fd, text, room));
	return strstr(text, "\r\n\r\n") + 4;
}

static void expect_echo(int fd, const char *words)
{
	char text[256] = "";
	assert_true(say_words(fd, words));
	while (strlen(text) < strlen(words))
		assert_true(hear_some(fd, text, sizeof text));
	assert_string_equal(text, words);
}

static void until_no_node_talks(void)
{
	for (int ms = 0; atomic_load(&open_talks) > 0; ms++) {
		assert_true(ms < 10000);
		rest_ms(1);
	}
}

static void await_follower(const char *metric, uint64_t value)
{
	for (int i = 0; i < 1000 && pair_metric(follower, metric) != value; i++)
		rest_ms(10);
	assert_int_equal(pair_metric(follower, metric), value);
}

// A frame that closes and nothing else, and then the end.
static void expect_close(int fd, unsigned code, const char *reason)
{
	char text[256] = "";
	while (hear_some(fd, text, sizeof text))
		continue;
	const uint8_t *frame = (const uint8_t *)text;
	assert_int_equal(frame[0], 0x88);
	assert_int_equal(frame[1], 2 + strlen(reason));
	assert_int_equal(frame[2] << 8 | frame[3], code);
	assert_string_equal(text + 4, reason);
	char byte;
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
	close(fd);
}

static void a_web_socket_goes_through(void **unused)
{
	char text[4096];
	uint64_t left = pair_metric(follower, FORWARDED("left"));
	int fd = ask_exec("t", SAID);
	const char *rest = hear_head(fd, text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	assert_non_null(strstr(text, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	assert_non_null(strstr(text, "Upgrade: websocket\r\n"));
	while (strlen(rest) < strlen(SAID))
		assert_true(hear_some(fd, text, sizeof text));
	assert_string_equal(rest, SAID);
	for (int i = 0; i < 3; i++)
		expect_echo(fd, TYPED);
	assert_int_equal(pair_metric(follower, "berth_http_forwards_upgraded"), 1);
	close(fd);
	until_no_node_talks();
	await_follower(FORWARDED("left"), left + 1);
	await_follower("berth_http_forwards_upgraded", 0);
}

// A node that says more than anybody reads waits, and nothing is lost.
static void a_slow_reader_holds_the_node_up(void **unused)
{
	static uint32_t words[PIECE_BYTES / 4];
	atomic_store(&flooded, 0);
	uint64_t broken = pair_metric(follower, FORWARDED("broken"));
	int fd = ask_exec("flood", "");
	uint64_t before, now = 0;
	do {
		before = now;
		rest_ms(300);
		now = atomic_load(&flooded);
	} while (now != before || now == 0);
	assert_true(now < FLOOD_BYTES);
	uint8_t head[256];
	size_t size = 0;
	while (size < 4 || memcmp(head + size - 4, "\r\n\r\n", 4) != 0)
		assert_int_equal(recv(fd, head + size++, 1, 0), 1);
	assert_int_equal(recv(fd, head, 10, MSG_WAITALL), 10);
	for (uint32_t n = 0; n < FLOOD_BYTES / 4; n += PIECE_BYTES / 4) {
		assert_int_equal(recv(fd, words, sizeof words, MSG_WAITALL), sizeof words);
		for (uint32_t i = 0; i < PIECE_BYTES / 4; i++)
			assert_int_equal(words[i], n + i);
	}
	// The node went away and has not closed its WebSocket.
	expect_close(fd, 1011, "the leader of the cluster went away");
	await_follower(FORWARDED("broken"), broken + 1);
}

static void a_slow_node_holds_the_client_up(void **unused)
{
	static char sent[PIECE_BYTES], heard[PIECE_BYTES];
	char text[4096];
	int fd = ask_exec("t", "");
	hear_head(fd, text, sizeof text);
	// Nobody reads the echo, so the node stops to read, too.
	size_t size = 0;
	for (int quiet = 0; quiet < 5;) {
		for (size_t i = 0; i < sizeof sent; i++)
			sent[i] = (char)((size + i) % 251);
		ssize_t n = send(fd, sent, sizeof sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		size += n > 0 ? (size_t)n : 0;
		quiet = n > 0 ? 0 : quiet + 1;
		if (n <= 0)
			rest_ms(60);
		assert_true(size < 512u * 1024 * 1024);
	}
	for (size_t at = 0; at < size;) {
		ssize_t n = recv(fd, heard, sizeof heard, 0);
		assert_true(n > 0);
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(heard[i], (char)((at + (size_t)i) % 251));
		at += (size_t)n;
	}
	close(fd);
	until_no_node_talks();
}

static void a_refusal_is_told_as_the_leader_has_it(void **unused)
{
	char text[4096];
	int fd = ask_exec("refused", "");
	const char *body = hear_head(fd, text, sizeof text);
	while (strlen(body) < 5)
		assert_true(hear_some(fd, text, sizeof text));
	assert_memory_equal(text, "HTTP/1.1 417 ", 13);
	assert_string_equal(body, "never");
	close(fd);
	fd = ask_follower(
		"allocation/12345678-1234-1234-1234-123456789abc/exec?task=t", UPGRADE, "");
	body = hear_head(fd, text, sizeof text);
	while (strlen(body) < 4 || strlen(body + 4) < (size_t)(unsigned char)body[1] - 2)
		assert_true(hear_some(fd, text, sizeof text));
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	assert_memory_equal(body + 2, "\x03\xf0", 2);
	assert_string_equal(
		body + 4, "Unknown allocation \"12345678-1234-1234-1234-123456789abc\"");
	close(fd);
}

// The leader is none any more: whoever has a WebSocket through it learns of it at once.
static void another_leader_ends_it(void **unused)
{
	char text[4096];
	uint64_t broken = pair_metric(follower, FORWARDED("broken"));
	int fd = ask_exec("t", "");
	hear_head(fd, text, sizeof text);
	expect_echo(fd, TYPED);
	struct cluster_status follows = pair_status(CLUSTER_FOLLOWER, "http://127.0.0.1:1", 8);
	server_knows(follower, &follows);
	expect_close(fd, 1011, "the leader of the cluster went away");
	until_no_node_talks();
	assert_int_equal(pair_metric(follower, FORWARDED("broken")), broken + 1);
	all_is_well(NULL);
}

static void expect_refused(const char *task, const char *headers, const char *reason)
{
	char text[4096], what[128];
	snprintf(what, sizeof what, "allocation/%s/exec?task=%s", id, task);
	int fd = ask_follower(what, headers, "");
	const char *frame = hear_head(fd, text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	while (hear_some(fd, text, sizeof text))
		continue;
	assert_memory_equal(frame + 2, "\x03\xf3", 2);
	if (strncmp(frame + 4, reason, strlen(reason)) != 0)
		fail_msg("closed with: %s", frame + 4);
	close(fd);
}

static void without_a_leader_it_is_closed(void **unused)
{
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	expect_refused("t", UPGRADE "X-Berth-Forwarded: other\r\n", "No cluster leader");
	server_knows(follower, &alone);
	expect_refused("t", UPGRADE, "No cluster leader");
	all_is_well(NULL);
}

// Who is asked and does not lead says so, and the next one is asked.
static void one_that_leads_no_more_is_not_believed(void **unused)
{
	char text[4096];
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	uint64_t repeated = pair_metric(follower, "berth_http_forwards_repeated_total");
	server_knows(leader, &alone);
	int fd = ask_exec("t", "");
	await_follower("berth_http_forwards_repeated_total", repeated + 1);
	all_is_well(NULL);
	hear_head(fd, text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	expect_echo(fd, TYPED);
	close(fd);
	until_no_node_talks();
}

// What may have begun is not begun again.
static void what_was_asked_is_not_asked_twice(void **unused)
{
	struct cluster_status next = pair_status(CLUSTER_FOLLOWER, "http://127.0.0.1:1", 8);
	char text[4096];
	uint64_t lost = pair_metric(follower, FORWARDED("lost"));
	int fd = ask_exec("silent", "");
	for (int ms = 0; atomic_load(&open_talks) == 0; ms++) {
		assert_true(ms < 10000);
		rest_ms(1);
	}
	server_knows(follower, &next);
	const char *frame = hear_head(fd, text, sizeof text);
	while (hear_some(fd, text, sizeof text))
		continue;
	assert_memory_equal(frame + 4, "No cluster leader: it did not answer", 36);
	close(fd);
	assert_int_equal(pair_metric(follower, FORWARDED("lost")), lost + 1);
	all_is_well(NULL);
	until_no_node_talks();
}

static void a_follower_that_stops_says_so(void **unused)
{
	char text[4096];
	int fd = ask_exec("t", "");
	hear_head(fd, text, sizeof text);
	expect_echo(fd, TYPED);
	server_stop(follower);
	expect_close(fd, 1001, "the server stops");
	until_no_node_talks();
	begin_follower();
}

// A log that is followed comes as it is written, and ends with its reader; also for who would take an old answer, which
// the follower cannot give.
static void a_stream_comes_as_it_is_written(void **unused)
{
	static const char *const stale[] = {"", "&stale"};
	for (size_t i = 0; i < 2; i++) {
		char what[128], text[65536];
		snprintf(what, sizeof what, "fs/logs/%s?follow=true%s", id, stale[i]);
		int fd = ask_follower(what, "", "");
		hear_head(fd, text, sizeof text);
		while (!strstr(text, "line\n\r\n5\r\nline\n"))
			assert_true(hear_some(fd, text, sizeof text));
		assert_true(atomic_load(&open_talks) > 0);
		close(fd);
		until_no_node_talks();
	}
}

static void a_stream_ends_with_its_leader(void **unused)
{
	struct cluster_status next = pair_status(CLUSTER_FOLLOWER, "http://127.0.0.1:1", 8);
	char what[128], text[65536];
	snprintf(what, sizeof what, "fs/logs/%s?follow=true", id);
	int fd = ask_follower(what, "", "");
	hear_head(fd, text, sizeof text);
	server_knows(follower, &next);
	while (hear_some(fd, text, sizeof text))
		continue;
	// No last chunk: the client sees that it is not whole.
	assert_null(strstr(text, "\r\n0\r\n\r\n"));
	close(fd);
	until_no_node_talks();
	all_is_well(NULL);
}

#define IN_BOTH                                                                              \
	cmocka_unit_test_setup(a_web_socket_goes_through, all_is_well),                      \
		cmocka_unit_test_setup(a_refusal_is_told_as_the_leader_has_it, all_is_well), \
		cmocka_unit_test_setup(another_leader_ends_it, all_is_well),                 \
		cmocka_unit_test_setup(without_a_leader_it_is_closed, all_is_well),          \
		cmocka_unit_test_setup(one_that_leads_no_more_is_not_believed, all_is_well), \
		cmocka_unit_test_setup(what_was_asked_is_not_asked_twice, all_is_well),      \
		cmocka_unit_test_setup(a_follower_that_stops_says_so, all_is_well),          \
		cmocka_unit_test_setup(a_stream_comes_as_it_is_written, all_is_well),        \
		cmocka_unit_test_setup(a_stream_ends_with_its_leader, all_is_well)

int main(void)
{
	const struct CMUnitTest in_clear[] = {IN_BOTH,
		cmocka_unit_test_setup(a_slow_reader_holds_the_node_up, all_is_well),
		cmocka_unit_test_setup(a_slow_node_holds_the_client_up, all_is_well)};
	const struct CMUnitTest secure[] = {IN_BOTH};
	int failed = cmocka_run_group_tests(in_clear, begin_in_clear, end_pair);
	return failed + cmocka_run_group_tests(secure, begin_secure, end_all);
}
