// What a follower hands on to its leader, and what it answers itself.
#include "state/base/memory.h"
#include "tests/tools/api/pair.h"
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define FORWARDED(outcome) "berth_http_forwarded_total{outcome=\"" outcome "\"}"
#define UNDER_WAY "berth_http_forwards_under_way"

static int well(void **unused)
{
	pair_is_well();
	return 0;
}

static int begin(void **unused)
{
	pair_begin(NULL);
	for (uint32_t n = 0; n < 20; n++)
		server_node(leader, n);
	server_node(follower, 1000);
	server_job(leader, "web");
	return 0;
}

static void expect(struct server *s, const char *method, const char *path, const char *body,
	long status, const char *text)
{
	struct response r = http(s, method, path, body);
	if (r.status != status || (text && strcmp(r.body, text) != 0))
		fail_msg("%s %s answered %ld: %s", method, path, r.status, r.body);
	response_free(&r);
}

static void await_metric(struct server *s, const char *name, uint64_t value)
{
	for (int i = 0; i < 6000 && pair_metric(s, name) != value; i++)
		usleep(10000);
	assert_int_equal(pair_metric(s, name), value);
}

static void a_read_is_the_leaders(void **unused)
{
	struct response direct = http(leader, "GET", "/v1/nodes", NULL);
	struct response handed_on = http(follower, "GET", "/v1/nodes", NULL);
	assert_int_equal(handed_on.status, 200);
	assert_string_equal(handed_on.body, direct.body);
	assert_int_equal(handed_on.index, direct.index);
	assert_true(response_has(&handed_on, "Content-Type: application/json"));
	assert_true(response_has(&handed_on, "X-Nomad-KnownLeader: true"));
	assert_true(response_has(&handed_on, "X-Nomad-LastContact: 0"));
	response_free(&handed_on);
	response_free(&direct);
}

static void a_stale_read_is_answered_here(void **unused)
{
	static const char *const queries[] = {"?stale", "?stale=", "?stale=true"};
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		char path[64];
		snprintf(path, sizeof path, "/v1/nodes%s", queries[i]);
		struct response r = http(follower, "GET", path, NULL);
		assert_int_equal(r.status, 200);
		assert_non_null(strstr(r.body, "node-001000"));
		assert_null(strstr(r.body, "node-000001"));
		assert_true(response_has(&r, "X-Nomad-KnownLeader: true"));
		assert_true(response_has(&r, "X-Nomad-LastContact: 17"));
		response_free(&r);
	}
	struct response r = http(follower, "GET", "/v1/nodes?stale=false", NULL);
	assert_null(strstr(r.body, "node-001000"));
	response_free(&r);
	expect(follower, "GET", "/v1/nodes?stale=perhaps", NULL, 400, NULL);
}

static void a_stale_read_says_when_nobody_leads(void **unused)
{
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	alone.last_contact_ms = 4321;
	server_knows(follower, &alone);
	struct response r = http(follower, "GET", "/v1/nodes?stale", NULL);
	assert_int_equal(r.status, 200);
	assert_true(response_has(&r, "X-Nomad-KnownLeader: false"));
	assert_true(response_has(&r, "X-Nomad-LastContact: 4321"));
	response_free(&r);
}

static void a_write_is_the_leaders(void **unused)
{
	server_job(follower, "through");
	expect(leader, "GET", "/v1/job/through", NULL, 200, NULL);
	expect(follower, "GET", "/v1/job/through?stale", NULL, 404, NULL);
	expect(follower, "DELETE", "/v1/job/through?purge=true", NULL, 200, NULL);
	expect(leader, "GET", "/v1/job/through", NULL, 404, NULL);
}

static void a_query_is_sent_as_it_came(void **unused)
{
	static const char *const paths[] = {"/v1/nodes?prefix=0&per_page=2&pretty",
		"/v1/nodes?filter=Name+%3D%3D+%22node-000003%22", "/v1/nodes?pretty&resources=true",
		"/v1/job/we%62?namespace=default", "/v1/job/a%2Fb%20c", "/v1/nodes?per_page=x",
		"/v1/nodes?prefix=%zz", "/v1/evaluations?namespace=*&next_token=%26%3D%25"};
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct response direct = http(leader, "GET", paths[i], NULL);
		struct response handed_on = http(follower, "GET", paths[i], NULL);
		assert_int_equal(handed_on.status, direct.status);
		assert_string_equal(handed_on.body, direct.body);
		response_free(&handed_on);
		response_free(&direct);
	}
}

static void a_blocking_query_waits_for_the_leader(void **unused)
{
	char text[65536];
	struct response now = http(follower, "GET", "/v1/jobs", NULL);
	int fd = http_wait(follower, "/v1/jobs", now.index, NULL);
	struct pollfd waits = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&waits, 1, 100), 0);
	server_job(leader, "awaited");
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "200 OK"));
	assert_non_null(strstr(text, "awaited"));
	response_free(&now);
}

static void a_stale_blocking_query_waits_for_this_state(void **unused)
{
	char text[65536];
	struct response now = http(follower, "GET", "/v1/nodes?stale", NULL);
	char query[64];
	snprintf(query, sizeof query, "GET /v1/nodes?stale&index=%lu&wait=60s HTTP/1.0\r\n\r\n",
		now.index);
	int fd = server_connect(follower);
	assert_int_equal(send(fd, query, strlen(query), MSG_NOSIGNAL), strlen(query));
	struct pollfd waits = {.fd = fd, .events = POLLIN};
	server_node(leader, 500);
	assert_int_equal(poll(&waits, 1, 100), 0);
	server_node(follower, 1001);
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "node-001001"));
	response_free(&now);
}

static void nobody_leads(void **unused)
{
	struct cluster_status alone = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	server_knows(follower, &alone);
	uint64_t before = pair_metric(follower, FORWARDED("no_leader"));
	struct response r = http(follower, "GET", "/v1/nodes", NULL);
	assert_int_equal(r.status, 500);
	assert_string_equal(r.body, "No cluster leader");
	assert_true(response_has(&r, "X-Berth-Not-Leader: true"));
	response_free(&r);
	expect(follower, "PUT", "/v1/system/gc", "", 500, "No cluster leader");
	assert_int_equal(pair_metric(follower, FORWARDED("no_leader")), before + 2);
}

// A leader that is no server of ours: what it hears, and what it says.
struct fake {
	int listener;
	char url[64], heard[4096];
};

static void fake_listen(struct fake *f)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	f->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(f->listener >= 0);
	assert_int_equal(bind(f->listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(f->listener, 8), 0);
	assert_int_equal(getsockname(f->listener, (struct sockaddr *)&address, &size), 0);
	snprintf(f->url, sizeof f->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
}

static void follow(const char *url, uint64_t term)
{
	struct cluster_status status = pair_status(CLUSTER_FOLLOWER, url, term);
	server_knows(follower, &status);
}

// Takes the next connection, and reads the head of a request.
static int fake_accept(struct fake *f)
{
	int fd = accept(f->listener, NULL, NULL);
	size_t used = 0;
	assert_true(fd >= 0);
	f->heard[0] = '\0';
	while (!strstr(f->heard, "\r\n\r\n")) {
		ssize_t got = recv(fd, f->heard + used, sizeof f->heard - 1 - used, 0);
		assert_true(got > 0);
		used += (size_t)got;
		f->heard[used] = '\0';
	}
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static int ask_follower(const char *head)
{
	int fd = server_connect(follower);
	say(fd, head);
	return fd;
}

// Reads until this was there.
static void await_text(int fd, const char *part)
{
	char text[16384];
	size_t used = 0;
	do {
		struct pollfd answers = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&answers, 1, 20000), 1);
		ssize_t got = recv(fd, text + used, sizeof text - 1 - used, 0);
		assert_true(got > 0);
		used += (size_t)got;
		text[used] = '\0';
	} while (!strstr(text, part));
}

static void await_end(int fd)
{
	char rest[4096];
	struct pollfd ends = {.fd = fd, .events = POLLIN};
	do {
		assert_int_equal(poll(&ends, 1, 20000), 1);
	} while (recv(fd, rest, sizeof rest, 0) > 0);
	close(fd);
}

static void a_stream_goes_through(void **unused)
{
	int fd = ask_follower("GET /v1/event/stream?index=now HTTP/1.1\r\nHost: localhost\r\n\r\n");
	await_text(fd, "{}\n");
	server_job(leader, "streamed");
	await_text(fd, "\"Key\":\"streamed\"");
	await_metric(follower, UNDER_WAY, 1); // what was answered before is dropped, too
	close(fd);
	await_metric(follower, UNDER_WAY, 0);
	await_metric(leader, "berth_http_event_streams", 0);
}

static void a_client_that_leaves_ends_what_waits_for_it(void **unused)
{
	struct response now = http(leader, "GET", "/v1/jobs", NULL);
	int fd = http_wait(follower, "/v1/jobs", now.index, NULL);
	await_metric(leader, "berth_http_parked", 1);
	close(fd);
	await_metric(follower, UNDER_WAY, 0);
	await_metric(leader, "berth_http_parked", 0);
	response_free(&now);
}

static void a_leader_that_is_gone_is_none(void **unused)
{
	follow("http://127.0.0.1:1", 7);
	uint64_t before = pair_metric(follower, "berth_http_forwards_repeated_total");
	uint64_t unreachable = pair_metric(follower, FORWARDED("unreachable"));
	struct response r = http(follower, "GET", "/v1/nodes", NULL);
	assert_int_equal(r.status, 500);
	assert_non_null(strstr(r.body, "No cluster leader: "));
	assert_non_null(
		strstr(r.body, " leads, and cannot be reached at http://127.0.0.1:1 from here"));
	assert_true(response_has(&r, "X-Berth-Not-Leader: true"));
	expect(follower, "PUT", "/v1/system/gc", "", 500, r.body);
	response_free(&r);
	assert_int_equal(pair_metric(follower, FORWARDED("unreachable")), unreachable + 2);
	assert_true(pair_metric(follower, "berth_http_forwards_repeated_total") > before);
	await_metric(follower, UNDER_WAY, 0);
}

// In place of the usual one, which is returned: it waits for a leader however slow the machine is.
static struct server *begin_patient_follower(void)
{
	struct server *usual = follower;
	follower = server_start(
		&(struct server_options){.is_of_cluster = true, .forward_hold_ms = 60000});
	server_node(follower, 1000);
	follow(NULL, 7);
	return usual;
}

static void end_patient_follower(struct server *usual)
{
	server_stop(follower);
	follower = usual;
}

static void a_request_waits_for_the_next_leader(void **unused)
{
	char url[64], text[65536];
	struct server *usual = begin_patient_follower();
	int fd = ask_follower("GET /v1/jobs HTTP/1.0\r\nHost: localhost\r\n\r\n");
	int write = ask_follower("PUT /v1/system/gc HTTP/1.0\r\nHost: localhost\r\n\r\n");
	await_metric(follower, UNDER_WAY, 2);
	follow(pair_url(leader, url), 8);
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, "200 OK"));
	http_waited(write, text, sizeof text);
	assert_non_null(strstr(text, "200 OK"));
	end_patient_follower(usual);
}

static void a_leader_that_answers_slowly_is_waited_for(void **unused)
{
	struct fake f;
	char text[4096];
	fake_listen(&f);
	follow(f.url, 7);
	int fd = ask_follower("GET /v1/nodes HTTP/1.0\r\nHost: localhost\r\n\r\n");
	int at = fake_accept(&f);
	usleep(2000 * PAIR_HOLD_MS);
	say(at, "HTTP/1.1 200 OK\r\nX-Nomad-Index: 5\r\nX-Nomad-Later: a\r\n"
		"Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n");
	await_text(fd, "[1");
	usleep(50000);
	say(at, "1\r\n]\r\n0\r\n\r\n");
	http_waited(fd, text, sizeof text);
	assert_string_equal(text, "]");
	close(at);
	close(f.listener);
}

static void what_the_leader_hears(void **unused)
{
	struct fake f;
	char text[4096];
	fake_listen(&f);
	follow(f.url, 7);
	int fd = ask_follower("PUT /v1/system/gc?a=%20b&c HTTP/1.0\r\nHost: localhost\r\n"
			      "X-Nomad-Token: secret\r\nAuthorization: Bearer b\r\n"
			      "Content-Type: text/x\r\nAccept-Encoding: gzip\r\n"
			      "X-Forwarded-For: 10.9.9.9\r\nCookie: c\r\n\r\n");
	int at = fake_accept(&f);
	assert_ptr_equal(strstr(f.heard, "PUT /v1/system/gc?a=%20b&c HTTP/1.1\r\n"), f.heard);
	static const char *const lines[] = {"\r\nX-Nomad-Token: secret\r\n",
		"\r\nAuthorization: Bearer b\r\n", "\r\nContent-Type: text/x\r\n",
		"\r\nAccept-Encoding: gzip\r\n", "\r\nX-Berth-Forwarded: test\r\n",
		"\r\nContent-Length: 0\r\n"};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		assert_non_null(strstr(f.heard, lines[i]));
	assert_null(strstr(f.heard, "10.9.9.9"));
	assert_null(strstr(f.heard, "Cookie"));
	assert_null(strstr(f.heard, "Expect"));
	say(at, "HTTP/1.1 418 I'm a teapot\r\nContent-Length: 3\r\nContent-Type: x/y\r\n"
		"Content-Encoding: gzip\r\nX-Nomad-Index: 9\r\nConnection: close\r\n\r\nabc");
	http_waited(fd, text, sizeof text);
	assert_ptr_equal(strstr(text, "HTTP/1.1 418"), text);
	assert_non_null(strstr(text, "\r\nContent-Type: x/y\r\n"));
	assert_non_null(strstr(text, "\r\nContent-Encoding: gzip\r\n"));
	assert_non_null(strstr(text, "\r\nX-Nomad-Index: 9\r\n"));
	assert_non_null(strstr(text, "\r\nContent-Length: 3\r\n"));
	assert_non_null(strstr(text, "\r\n\r\nabc"));
	close(at);
	close(f.listener);
}

// A read is asked anew, of whoever leads then; of a change nobody knows whether it was begun.
static void a_leader_that_breaks_off(void **unused)
{
	struct fake f;
	char text[4096], url[64];
	fake_listen(&f);
	follow(f.url, 7);
	int change = ask_follower("PUT /v1/system/gc HTTP/1.0\r\nHost: localhost\r\n\r\n");
	close(fake_accept(&f));
	http_waited(change, text, sizeof text);
	assert_ptr_equal(strstr(text, "HTTP/1.1 500"), text);
	assert_non_null(strstr(text, "No cluster leader: it did not answer, and the change may"));
	int read = ask_follower("GET /v1/jobs HTTP/1.0\r\nHost: localhost\r\n\r\n");
	int at = fake_accept(&f);
	follow(pair_url(leader, url), 8);
	http_waited(read, text, sizeof text);
	assert_ptr_equal(strstr(text, "HTTP/1.1 200"), text);
	close(at);
	close(f.listener);
}

static void an_answer_that_breaks_off_is_no_whole_one(void **unused)
{
	struct fake f;
	fake_listen(&f);
	follow(f.url, 7);
	uint64_t before = pair_metric(follower, FORWARDED("broken"));
	int fd = ask_follower("GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n");
	int at = fake_accept(&f);
	say(at, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n");
	await_text(fd, "[1");
	close(at);
	await_end(fd);
	await_metric(follower, FORWARDED("broken"), before + 1);
	// The same of a leader that goes on, but leads no more.
	fd = ask_follower("GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n");
	at = fake_accept(&f);
	say(at, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n");
	await_text(fd, "[1");
	follow("http://127.0.0.1:1", 8);
	await_end(fd);
	await_metric(follower, FORWARDED("broken"), before + 2);
	close(at);
	close(f.listener);
}

static void nothing_is_forwarded_twice(void **unused)
{
	uint64_t before = pair_metric(follower, FORWARDED("looped"));
	struct response r =
		http_with(follower, "GET", "/v1/nodes", NULL, 0, "X-Berth-Forwarded: other");
	assert_int_equal(r.status, 500);
	assert_string_equal(r.body, "No cluster leader");
	response_free(&r);
	assert_int_equal(pair_metric(follower, FORWARDED("looped")), before + 1);
	// The leader takes it.
	r = http_with(leader, "GET", "/v1/nodes", NULL, 0, "X-Berth-Forwarded: other");
	assert_int_equal(r.status, 200);
	response_free(&r);
	// Two that take each other for the leader.
	char url[64];
	struct cluster_status confused = pair_status(CLUSTER_FOLLOWER, pair_url(follower, url), 7);
	server_knows(leader, &confused);
	expect(follower, "PUT", "/v1/system/gc", "", 500, "No cluster leader");
}

static void a_deposed_leader_answers_no_consistent_read(void **unused)
{
	char text[4096], url[64];
	struct response now = http(leader, "GET", "/v1/nodes", NULL);
	int fd = http_wait(leader, "/v1/nodes", now.index, NULL);
	await_metric(leader, "berth_http_parked", 1);
	struct cluster_status deposed = pair_status(CLUSTER_LEADER, NULL, 7);
	server_knows(leader, &deposed);
	expect(leader, "GET", "/v1/nodes", NULL, 500, "No cluster leader");
	expect(leader, "PUT", "/v1/system/gc", "", 500, "No cluster leader");
	expect(leader, "GET", "/v1/nodes?stale", NULL, 200, NULL);
	expect(leader, "GET", "/healthz", NULL, 200, "ok\n");
	server_node(leader, 600);
	http_waited(fd, text, sizeof text);
	assert_ptr_equal(strstr(text, "HTTP/1.1 500"), text);
	// Another one leads, which this one learns.
	struct cluster_status follows = pair_status(CLUSTER_FOLLOWER, pair_url(follower, url), 8);
	struct cluster_status leads = pair_status(CLUSTER_LEADER, pair_url(follower, url), 8);
	server_knows(leader, &follows);
	server_knows(follower, &leads);
	struct response r = http(leader, "GET", "/v1/nodes", NULL);
	assert_non_null(strstr(r.body, "node-001000"));
	response_free(&r);
	response_free(&now);
}

static void a_member_that_takes_over_answers_what_waited(void **unused)
{
	char text[65536], url[64];
	struct server *usual = begin_patient_follower();
	int fd = ask_follower("GET /v1/nodes HTTP/1.0\r\nHost: localhost\r\n\r\n");
	await_metric(follower, UNDER_WAY, 1);
	struct cluster_status leads = pair_status(CLUSTER_LEADER, pair_url(follower, url), 8);
	server_knows(follower, &leads);
	http_waited(fd, text, sizeof text);
	assert_ptr_equal(strstr(text, "HTTP/1.1 200"), text);
	assert_non_null(strstr(text, "node-001000"));
	end_patient_follower(usual);
}

static void the_leaders_log_is_asked_of_any_member(void **unused)
{
	static const char question[] =
		"GET /v1/agent/monitor?server_id=leader&plain HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct server *const members[] = {leader, follower};
	for (size_t i = 0; i < 2; i++) {
		char text[16] = "";
		int fd = server_connect(members[i]);
		assert_int_equal(
			send(fd, question, sizeof question - 1, MSG_NOSIGNAL), sizeof question - 1);
		assert_int_equal(recv(fd, text, 12, MSG_WAITALL), 12);
		assert_string_equal(text, "HTTP/1.1 200");
		close(fd);
	}
}

// How it goes on when there is a node is told by forwarded_line_test.c.
static void a_web_socket_is_the_leaders(void **unused)
{
	char text[4096];
	uint64_t before = pair_metric(follower, FORWARDED("answered"));
	int fd = ask_follower("GET /v1/client/allocation/"
			      "11111111-1111-4111-8111-111111111111/exec HTTP/1.1\r\n"
			      "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
			      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
			      "Sec-WebSocket-Version: 13\r\n\r\n");
	http_waited(fd, text, sizeof text);
	assert_non_null(strstr(text, " 101 "));
	assert_non_null(strstr(text, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
	assert_non_null(strstr(text, "Unknown allocation"));
	await_metric(follower, FORWARDED("answered"), before + 1);
}

// Where nothing else is spoken, nothing else is asked for.
static void an_upgrade_that_nobody_has_is_no_matter(void **unused)
{
	char text[65536];
	int fd = ask_follower("GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n"
			      "Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n");
	http_waited(fd, text, sizeof text);
	assert_ptr_equal(strstr(text, "HTTP/1.1 200"), text);
	assert_non_null(strstr(text, "node-000003"));
}

static void a_member_stops_whatever_is_on_its_way(void **unused)
{
	char url[64], first[4096];
	struct server *stays = follower;
	struct cluster_status status = pair_status(CLUSTER_FOLLOWER, pair_url(leader, url), 7);
	follower = server_start(&(struct server_options){.is_of_cluster = true});
	server_knows(follower, &status);
	struct response now = http(leader, "GET", "/v1/jobs", NULL);
	int waits = http_wait(follower, "/v1/jobs", now.index, NULL);
	int streams =
		ask_follower("GET /v1/event/stream?index=now HTTP/1.1\r\nHost: localhost\r\n\r\n");
	await_text(streams, "{}\n");
	await_metric(follower, UNDER_WAY, 2);
	status = pair_status(CLUSTER_FOLLOWER, NULL, 7);
	server_knows(follower, &status);
	int leaderless = ask_follower("GET /v1/jobs HTTP/1.0\r\nHost: localhost\r\n\r\n");
	await_metric(follower, UNDER_WAY, 3);
	server_stop(follower);
	follower = stays;
	await_end(waits);
	await_end(streams);
	http_waited(leaderless, first, sizeof first);
	await_metric(leader, "berth_http_parked", 0);
	response_free(&now);
}

// Sends a body of many megabytes for as long as somebody takes it.
struct torrent {
	int fd;
	size_t size;
	_Atomic size_t sent;
};

static void *send_torrent(void *context)
{
	struct torrent *t = context;
	static char block[65536];
	memset(block, 'x', sizeof block);
	while (t->sent < t->size) {
		ssize_t sent = send(t->fd, block, sizeof block, MSG_NOSIGNAL);
		if (sent <= 0)
			break;
		t->sent += (size_t)sent;
	}
	close(t->fd);
	return NULL;
}

#define TORRENT_BYTES (256u << 20)
// What sockets and libcurl hold beside the buffer of an answer.
#define HELD_BYTES_MAX (32u << 20)

static void a_large_answer_waits_for_its_reader(void **unused)
{
	struct fake f;
	char head[256];
	fake_listen(&f);
	follow(f.url, 7);
	int fd = ask_follower("GET /v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n");
	struct torrent t = {.fd = fake_accept(&f), .size = TORRENT_BYTES};
	snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n", TORRENT_BYTES);
	say(t.fd, head);
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, send_torrent, &t), 0);
	size_t before = 0;
	do {
		before = t.sent;
		usleep(200000);
	} while (t.sent != before || before == 0);
	assert_in_range(before, 1, HELD_BYTES_MAX);
	static char taken[1u << 20];
	size_t got_all = 0;
	while (got_all < TORRENT_BYTES) {
		ssize_t got = recv(fd, taken, sizeof taken, 0);
		assert_true(got > 0);
		got_all += (size_t)got;
	}
	pthread_join(thread, NULL);
	close(fd);
	await_metric(follower, UNDER_WAY, 0);
	close(f.listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_read_is_the_leaders, well),
		cmocka_unit_test_setup(a_stale_read_is_answered_here, well),
		cmocka_unit_test_setup(a_stale_read_says_when_nobody_leads, well),
		cmocka_unit_test_setup(a_write_is_the_leaders, well),
		cmocka_unit_test_setup(a_query_is_sent_as_it_came, well),
		cmocka_unit_test_setup(a_blocking_query_waits_for_the_leader, well),
		cmocka_unit_test_setup(a_stale_blocking_query_waits_for_this_state, well),
		cmocka_unit_test_setup(nobody_leads, well),
		cmocka_unit_test_setup(a_stream_goes_through, well),
		cmocka_unit_test_setup(a_client_that_leaves_ends_what_waits_for_it, well),
		cmocka_unit_test_setup(a_leader_that_is_gone_is_none, well),
		cmocka_unit_test_setup(a_request_waits_for_the_next_leader, well),
		cmocka_unit_test_setup(a_leader_that_answers_slowly_is_waited_for, well),
		cmocka_unit_test_setup(what_the_leader_hears, well),
		cmocka_unit_test_setup(a_leader_that_breaks_off, well),
		cmocka_unit_test_setup(an_answer_that_breaks_off_is_no_whole_one, well),
		cmocka_unit_test_setup(nothing_is_forwarded_twice, well),
		cmocka_unit_test_setup(a_deposed_leader_answers_no_consistent_read, well),
		cmocka_unit_test_setup(a_member_that_takes_over_answers_what_waited, well),
		cmocka_unit_test_setup(the_leaders_log_is_asked_of_any_member, well),
		cmocka_unit_test_setup(a_web_socket_is_the_leaders, well),
		cmocka_unit_test_setup(an_upgrade_that_nobody_has_is_no_matter, well),
		cmocka_unit_test_setup(a_member_stops_whatever_is_on_its_way, well),
		cmocka_unit_test_setup(a_large_answer_waits_for_its_reader, well),
	};
	return cmocka_run_group_tests(tests, begin, pair_end);
}
