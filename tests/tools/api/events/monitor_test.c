// The log of a server over HTTP, while it is written.
#include "state/base/base64.h"
#include "state/base/log/log_ring.h"
#include "state/base/uuid.h"
#include "tests/tools/api/pair.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define UNDER_WAY "berth_http_forwards_under_way"

static int set_up(void **unused)
{
	log_configure(LOG_ERROR + 1, false);
	return pair_begin(unused);
}

static int tear_down(void **unused)
{
	log_configure(LOG_INFO, false);
	return pair_end(unused);
}

// What came of a stream so far, chunk sizes included.
struct stream {
	int fd;
	char text[1u << 21];
	size_t size;
};
static struct stream stream;

static bool read_some(void)
{
	struct pollfd p = {.fd = stream.fd, .events = POLLIN};
	if (poll(&p, 1, 20000) != 1)
		fail_msg("nothing came after: %s", stream.text);
	assert_true(stream.size + 1 < sizeof stream.text);
	ssize_t got =
		recv(stream.fd, stream.text + stream.size, sizeof stream.text - 1 - stream.size, 0);
	assert_true(got >= 0);
	stream.size += (size_t)got;
	stream.text[stream.size] = '\0';
	return got > 0;
}

static void await(const char *part)
{
	while (!strstr(stream.text, part))
		if (!read_some())
			fail_msg("the stream ended without %s: %s", part, stream.text);
}

static void follow_as(struct server *of, const char *query, const char *version)
{
	char request[512];
	int size = snprintf(request, sizeof request,
		"GET /v1/agent/monitor%s HTTP/%s\r\nHost: localhost\r\n\r\n", query, version);
	stream.size = 0;
	stream.text[0] = '\0';
	stream.fd = server_connect(of);
	assert_int_equal(send(stream.fd, request, (size_t)size, MSG_NOSIGNAL), size);
	await("\r\n\r\n");
}

static void follow(struct server *of, const char *query)
{
	follow_as(of, query, "1.1");
}

static void say(enum log_level level, const char *what)
{
	struct log_site site = {0};
	if (level >= log_level_now())
		log_write(&site, level, "said", "what=%s", what);
}

// The text of the first frame of the stream.
static const char *first_frame(void)
{
	static char text[LOG_LINE_BYTES + 1];
	size_t size;
	const char *data = strstr(stream.text, "{\"Data\":\"");
	data += strlen("{\"Data\":\"");
	assert_true(base64_decode(data, strcspn(data, "\""), (uint8_t *)text, &size));
	text[size] = '\0';
	return text;
}

static void wake_nobody(void *unused)
{
}

static void lines_come_in_frames_and_heartbeats_between(void **unused)
{
	// Somebody else wants more of the log.
	struct log_follower other = {LOG_DEBUG, wake_nobody, NULL, NULL};
	log_ring_follow(&other);
	follow(leader, "");
	assert_non_null(strstr(stream.text, "Content-Type: application/json\r\n"));
	await("\r\n2\r\n{}\r\n2\r\n{}\r\n");
	say(LOG_DEBUG, "nothing");
	say(LOG_INFO, "hello");
	await(",\"FileEvent\":\"log\"}");
	assert_non_null(strstr(first_frame(), "level=info event=said what=hello\n"));
	close(stream.fd);
	log_ring_leave(&other);
}

static void lines_come_plain_and_as_json(void **unused)
{
	follow(leader, "?plain=true&log_json=true&log_level=DEBUG");
	assert_non_null(strstr(stream.text, "Content-Type: text/plain\r\n"));
	say(LOG_DEBUG, "first");
	await("\"level\":\"debug\",\"event\":\"said\",\"what\":\"first\"}\n");
	assert_null(strstr(stream.text, "{}"));
	close(stream.fd);
}

// Takes the whole lines away that have come; adds how many were said, and how many are told as lost.
static bool count_lines(uint64_t *said, uint64_t *lost)
{
	bool is_last = false;
	char *line = stream.text, *end;
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		const char *told = strstr(line, "event=monitor-lost-lines lines=");
		*said += strstr(line, "event=said") != NULL;
		*lost += told ? strtoull(told + strlen("event=monitor-lost-lines lines="), NULL, 10)
			      : 0;
		is_last = is_last || strstr(line, "the-last");
	}
	stream.size = strlen(line);
	memmove(stream.text, line, stream.size + 1);
	return is_last;
}

static void a_slow_reader_is_told_what_it_missed(void **unused)
{
	uint64_t said = 0, lost = 0, all = 200000;
	follow_as(leader, "?plain=true", "1.0");
	// What the sockets do not take waits in the ring, which is smaller.
	for (uint64_t i = 1; i < all; i++)
		say(LOG_INFO, "much-of-it-and-long-enough-to-fill-what-sockets-hold-of-it");
	say(LOG_INFO, "the-last");
	while (!count_lines(&said, &lost))
		read_some();
	assert_true(lost > 0);
	assert_int_equal(said + lost, all);
	close(stream.fd);
}

// A server notices that a client has left when it has something to say to it.
static void await_nobody_follows(void)
{
	while (log_level_now() != LOG_ERROR + 1)
		usleep(10000);
}

static void expect_refused(const char *query, long status, const char *words)
{
	char path[256];
	snprintf(path, sizeof path, "/v1/agent/monitor%s", query);
	struct response r = http(follower, "GET", path, NULL);
	if (r.status != status || !strstr(r.body, words))
		fail_msg("%s: %ld %s", query, r.status, r.body);
	response_free(&r);
}

static void what_cannot_be_is_refused(void **unused)
{
	struct uuid id = server_node_id(1);
	char text[UUID_TEXT_BYTES], query[128];
	expect_refused("?log_level=zzz", 400, "Unknown log level: zzz");
	expect_refused(
		"?node_id=a&server_id=b", 400, "Cannot target node and server simultaneously");
	expect_refused("?plain=x", 400, "\"plain\" (x)");
	expect_refused("?server_id=nosuch", 400, "unknown Nomad server nosuch");
	expect_refused("?server_id=member-0.elsewhere", 400, "member-0.elsewhere");
	expect_refused("?server_id=member-0x", 400, "member-0x");
	expect_refused("?node_id=12345678-1234-1234-1234-123456789abc", 500,
		"RPC Error:: 404,Unknown node \"12345678-1234-1234-1234-123456789abc\"");
	// Of a node the leader is asked.
	server_node(leader, 1);
	snprintf(query, sizeof query, "?node_id=%s", uuid_format(&id, text));
	expect_refused(query, 404, "No path to node");
	await_nobody_follows();
}

static void wait_for_under_way(uint64_t count)
{
	while (pair_metric(follower, UNDER_WAY) != count)
		usleep(10000);
}

// Both servers are of this process and so of one log: what is handed on says so in the counters.
static void the_leader_is_asked_through_another(void **unused)
{
	static const char *const names[] = {
		"leader", "member-0", "member-0.global", "11111111-1111-4111-8111-111111111111"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char query[128];
		snprintf(query, sizeof query, "?plain=true&server_id=%s", names[i]);
		follow(follower, query);
		say(LOG_INFO, names[i]);
		await(names[i]);
		wait_for_under_way(1);
		close(stream.fd);
		wait_for_under_way(0);
	}
	follow(follower, "?plain=true&server_id=member-1");
	say(LOG_INFO, "its-own");
	await("its-own");
	assert_int_equal(pair_metric(follower, UNDER_WAY), 0);
	close(stream.fd);
	follow(leader, "?plain=true&server_id=leader");
	say(LOG_INFO, "of-the-leader");
	await("of-the-leader");
	close(stream.fd);
	struct response r = http(leader, "GET", "/v1/agent/monitor?server_id=member-1", NULL);
	assert_int_equal(r.status, 501);
	assert_non_null(strstr(r.body, "ask http"));
	response_free(&r);
	await_nobody_follows();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_in_frames_and_heartbeats_between),
		cmocka_unit_test(lines_come_plain_and_as_json),
		cmocka_unit_test(a_slow_reader_is_told_what_it_missed),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(the_leader_is_asked_through_another),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
