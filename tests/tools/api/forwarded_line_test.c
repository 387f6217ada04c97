// What only a node can answer, asked of a member that follows: the leader, with HTTP or with HTTPS, and behind it the
// agent's end of the line. WebSockets go through both ways, and streams as they come.
#include "state/base/time_units.h"
#include "tests/tools/api/line_stage.h"
#include "tests/tools/api/pair.h"
#include "tests/tools/tls/made.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// Frames.
#define SAID "\x81\x0csaid at once"
#define TYPED "\x81\x05typed"
#define PATTERN_BYTES 251u
#define FORWARDED(outcome) "berth_http_forwarded_total{outcome=\"" outcome "\"}"

static struct made made;
static char ca[128], certificate[128], key[128];
static char url[64];

static void rest_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)(ms * NS_PER_MS)}, NULL);
}

static int all_is_well(void **unused)
{
	struct cluster_status leads = pair_status(CLUSTER_LEADER, url, 7);
	struct cluster_status follows = pair_status(CLUSTER_FOLLOWER, url, 7);
	server_knows(leader, &leads);
	server_knows(follower, &follows);
	return 0;
}

static void begin_follower(uint32_t hold_ms)
{
	follower = server_start(&(struct server_options){
		.is_of_cluster = true, .forward_tls = {.ca_file = ca}, .forward_hold_ms = hold_ms});
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
	begin_follower(PAIR_HOLD_MS);
	stage_begin(leader);
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
	stage_end();
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
	assert_true(stage_say_text(fd, text));
	return fd;
}

static int ask_exec(const char *task, const char *behind)
{
	char what[128];
	snprintf(what, sizeof what, "allocation/%s/exec?task=%s", stage.id, task);
	return ask_follower(what, STAGE_UPGRADE, behind);
}

// The head, and what came with it, which is returned.
static const char *hear_head(int fd, char *text, size_t room)
{
	*text = '\0';
	while (!strstr(text, "\r\n\r\n"))
		assert_true(stage_hear(fd, text, room));
	return strstr(text, "\r\n\r\n") + 4;
}

static void expect_echo(int fd, const char *words)
{
	char text[256] = "";
	assert_true(stage_say_text(fd, words));
	while (strlen(text) < strlen(words))
		assert_true(stage_hear(fd, text, sizeof text));
	assert_string_equal(text, words);
}

static void hear_whole(int fd, void *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = recv(fd, (char *)data + at, size - at, 0);
		assert_true(n > 0);
		at += (size_t)n;
	}
}

static void await_follower(const char *metric, uint64_t value)
{
	for (int i = 0; i < 6000 && pair_metric(follower, metric) != value; i++)
		rest_ms(10);
	assert_int_equal(pair_metric(follower, metric), value);
}

// A frame that closes and nothing else, and then the end.
static void expect_close(int fd, unsigned code, const char *reason)
{
	char text[256] = "";
	while (stage_hear(fd, text, sizeof text))
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
	assert_non_null(strstr(text, STAGE_ACCEPTED));
	assert_non_null(strstr(text, "Upgrade: websocket\r\n"));
	while (strlen(rest) < strlen(SAID))
		assert_true(stage_hear(fd, text, sizeof text));
	assert_string_equal(rest, SAID);
	for (int i = 0; i < 3; i++)
		expect_echo(fd, TYPED);
	assert_int_equal(pair_metric(follower, "berth_http_forwards_upgraded"), 1);
	close(fd);
	stage_until_quiet();
	await_follower(FORWARDED("left"), left + 1);
	await_follower("berth_http_forwards_upgraded", 0);
}

// A node that says more than anybody reads waits, and nothing is lost.
static void a_slow_reader_holds_the_node_up(void **unused)
{
	static char piece[STAGE_PIECE_BYTES];
	atomic_store(&stage.flooded, 0);
	uint64_t broken = pair_metric(follower, FORWARDED("broken"));
	int fd = ask_exec("flood", "");
	uint64_t before, now = 0;
	do {
		before = now;
		rest_ms(300);
		now = atomic_load(&stage.flooded);
	} while (now != before || now == 0);
	assert_true(now < STAGE_FLOOD_BYTES);
	uint8_t head[256];
	size_t size = 0;
	while (size < 4 || memcmp(head + size - 4, "\r\n\r\n", 4) != 0)
		hear_whole(fd, head + size++, 1);
	hear_whole(fd, head, 10);
	for (size_t at = 0; at < STAGE_FLOOD_BYTES; at += sizeof piece) {
		hear_whole(fd, piece, sizeof piece);
		assert_true(stage_is_flood(piece, sizeof piece, at));
	}
	// The node went away and has not closed its WebSocket.
	expect_close(fd, 1011, "the leader of the cluster went away");
	await_follower(FORWARDED("broken"), broken + 1);
}

static void a_slow_node_holds_the_client_up(void **unused)
{
	// More than once all that differs, so that each piece that is sent is within.
	static char sent[STAGE_PIECE_BYTES + PATTERN_BYTES], heard[STAGE_PIECE_BYTES];
	char text[4096];
	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (char)(i % PATTERN_BYTES);
	int fd = ask_exec("t", "");
	hear_head(fd, text, sizeof text);
	// Nobody reads the echo, so the node stops to read, too.
	size_t size = 0;
	for (int quiet = 0; quiet < 5;) {
		ssize_t n = send(fd, sent + size % PATTERN_BYTES, STAGE_PIECE_BYTES,
			MSG_NOSIGNAL | MSG_DONTWAIT);
		size += n > 0 ? (size_t)n : 0;
		quiet = n > 0 ? 0 : quiet + 1;
		if (n <= 0)
			rest_ms(60);
		assert_true(size < 512u * 1024 * 1024);
	}
	rest_ms(3 * PAIR_HOLD_MS); // longer than a leader may be silent
	for (size_t at = 0; at < size;) {
		ssize_t n = recv(fd, heard, sizeof heard, 0);
		assert_true(n > 0);
		assert_memory_equal(heard, sent + at % PATTERN_BYTES, n);
		at += (size_t)n;
	}
	close(fd);
	stage_until_quiet();
}

static void a_refusal_is_told_as_the_leader_has_it(void **unused)
{
	char text[4096];
	int fd = ask_exec("refused", "");
	const char *body = hear_head(fd, text, sizeof text);
	while (strlen(body) < 5)
		assert_true(stage_hear(fd, text, sizeof text));
	assert_memory_equal(text, "HTTP/1.1 417 ", 13);
	assert_string_equal(body, "never");
	close(fd);
	fd = ask_follower(
		"allocation/12345678-1234-1234-1234-123456789abc/exec?task=t", STAGE_UPGRADE, "");
	body = hear_head(fd, text, sizeof text);
	while (strlen(body) < 4 || strlen(body + 4) < (size_t)(unsigned char)body[1] - 2)
		assert_true(stage_hear(fd, text, sizeof text));
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
	stage_until_quiet();
	assert_int_equal(pair_metric(follower, FORWARDED("broken")), broken + 1);
	all_is_well(NULL);
}

static void expect_refused(const char *task, const char *headers, const char *reason)
{
	char text[4096], what[128];
	snprintf(what, sizeof what, "allocation/%s/exec?task=%s", stage.id, task);
	int fd = ask_follower(what, headers, "");
	const char *frame = hear_head(fd, text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	while (stage_hear(fd, text, sizeof text))
		continue;
	assert_memory_equal(frame + 2, "\x03\xf3", 2);
	if (strncmp(frame + 4, reason, strlen(reason)) != 0)
		fail_msg("closed with: %s", frame + 4);
	close(fd);
}

static void without_a_leader_it_is_closed(void **unused)
{
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	expect_refused("t", STAGE_UPGRADE "X-Berth-Forwarded: other\r\n", "No cluster leader");
	server_knows(follower, &alone);
	expect_refused("t", STAGE_UPGRADE, "No cluster leader");
	all_is_well(NULL);
}

// Who is asked and does not lead says so, and the next one is asked: by a follower that waits for it, however slow the
// machine is.
static void one_that_leads_no_more_is_not_believed(void **unused)
{
	char text[4096];
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	struct server *usual = follower;
	begin_follower(60000);
	server_knows(leader, &alone);
	int fd = ask_exec("t", "");
	while (pair_metric(follower, "berth_http_forwards_repeated_total") == 0)
		rest_ms(10);
	all_is_well(NULL);
	hear_head(fd, text, sizeof text);
	assert_memory_equal(text, "HTTP/1.1 101 ", 13);
	expect_echo(fd, TYPED);
	close(fd);
	stage_until_quiet();
	server_stop(follower);
	follower = usual;
}

// What may have begun is not begun again.
static void what_was_asked_is_not_asked_twice(void **unused)
{
	struct cluster_status next = pair_status(CLUSTER_FOLLOWER, "http://127.0.0.1:1", 8);
	char text[4096];
	uint64_t lost = pair_metric(follower, FORWARDED("lost"));
	int fd = ask_exec("silent", "");
	for (int ms = 0; atomic_load(&stage.answering) == 0; ms++) {
		assert_true(ms < 60000);
		rest_ms(1);
	}
	server_knows(follower, &next);
	const char *frame = hear_head(fd, text, sizeof text);
	while (stage_hear(fd, text, sizeof text))
		continue;
	assert_memory_equal(frame + 4, "No cluster leader: it did not answer", 36);
	close(fd);
	assert_int_equal(pair_metric(follower, FORWARDED("lost")), lost + 1);
	all_is_well(NULL);
	stage_until_quiet();
}

static void a_follower_that_stops_says_so(void **unused)
{
	char text[4096];
	int fd = ask_exec("t", "");
	hear_head(fd, text, sizeof text);
	expect_echo(fd, TYPED);
	server_stop(follower);
	expect_close(fd, 1001, "the server stops");
	stage_until_quiet();
	begin_follower(PAIR_HOLD_MS);
}

// A log that is followed comes as it is written, and ends with its reader; also for who would take an old answer, which
// the follower cannot give.
static void a_stream_comes_as_it_is_written(void **unused)
{
	static const char *const stale[] = {"", "&stale"};
	for (size_t i = 0; i < 2; i++) {
		char what[128], text[65536];
		snprintf(what, sizeof what, "fs/logs/%s?follow=true%s", stage.id, stale[i]);
		int fd = ask_follower(what, "", "");
		hear_head(fd, text, sizeof text);
		while (!strstr(text, "line\n\r\n5\r\nline\n"))
			assert_true(stage_hear(fd, text, sizeof text));
		assert_true(atomic_load(&stage.answering) > 0);
		close(fd);
		stage_until_quiet();
	}
}

static void a_stream_ends_with_its_leader(void **unused)
{
	struct cluster_status next = pair_status(CLUSTER_FOLLOWER, "http://127.0.0.1:1", 8);
	char what[128], text[65536];
	snprintf(what, sizeof what, "fs/logs/%s?follow=true", stage.id);
	int fd = ask_follower(what, "", "");
	hear_head(fd, text, sizeof text);
	server_knows(follower, &next);
	while (stage_hear(fd, text, sizeof text))
		continue;
	// No last chunk: the client sees that it is not whole.
	assert_null(strstr(text, "\r\n0\r\n\r\n"));
	close(fd);
	stage_until_quiet();
	all_is_well(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_web_socket_goes_through, all_is_well),
		cmocka_unit_test_setup(a_refusal_is_told_as_the_leader_has_it, all_is_well),
		cmocka_unit_test_setup(another_leader_ends_it, all_is_well),
		cmocka_unit_test_setup(without_a_leader_it_is_closed, all_is_well),
		cmocka_unit_test_setup(one_that_leads_no_more_is_not_believed, all_is_well),
		cmocka_unit_test_setup(what_was_asked_is_not_asked_twice, all_is_well),
		cmocka_unit_test_setup(a_follower_that_stops_says_so, all_is_well),
		cmocka_unit_test_setup(a_stream_comes_as_it_is_written, all_is_well),
		cmocka_unit_test_setup(a_stream_ends_with_its_leader, all_is_well),
		cmocka_unit_test_setup(a_slow_reader_holds_the_node_up, all_is_well),
		cmocka_unit_test_setup(a_slow_node_holds_the_client_up, all_is_well),
	};
	int failed = cmocka_run_group_tests_name("in clear", tests, begin_in_clear, end_pair);
	return failed + cmocka_run_group_tests_name("over TLS", tests, begin_secure, end_all);
}
