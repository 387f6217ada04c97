// Whatever the system or libcurl refuses to who asks a server of HTTP: it is said, and the next one is served.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/time_source.h"
#include "tests/failpoints/call_walk.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/support/etcd/fake_server.h"
#include "tools/api/forward/forwarder.h"
#include "tools/http_client/http_socket.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_MS 20000u

enum { ASKED = 3 };

static const struct walk_row rows[] = {
	{FAILPOINT_CLIENT_HANDLE, "enomem", NULL, false, false},
	{FAILPOINT_CLIENT_ASK, "econnreset", NULL, false, false},
	{FAILPOINT_FORWARD_EPOLL, "emfile", NULL, false, false},
	{FAILPOINT_FORWARD_WAKE, "emfile", NULL, false, false},
	{FAILPOINT_FORWARD_HANDLES, "enomem", NULL, false, false},
	{FAILPOINT_FORWARD_HANDLE, "enomem", NULL, false, false},
	{FAILPOINT_FORWARD_WATCH, "enospc", NULL, false, false},
	{FAILPOINT_FORWARD_ENTER, "enospc", NULL, false, false},
	{FAILPOINT_FORWARD_WAIT, "enomem", NULL, false, false, "who=forwarder"},
};

static void *prepare(const struct walk_row *row)
{
	return walk_shared(1);
}

static void clear(void *shared)
{
	assert_int_equal(munmap(shared, 1), 0);
}

static const char *answer_well(void *context, uint32_t request, size_t *size)
{
	static const char text[] =
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

	*size = sizeof text - 1;
	return text;
}

static bool take_answer(void *context, long status, const char *data, size_t size)
{
	return true;
}

static bool ask_once(const char *url)
{
	struct http_client *client = http_client_create();
	struct http_request request = {
		.url = url, .timeout_ms = TIMEOUT_MS, .take_body = take_answer};
	struct http_result result = {.error = "libcurl cannot be set up"};
	bool is_answered = client && http_client_ask(client, &request, &result);

	walk_said(is_answered ? "" : result.error);
	http_client_destroy(client);
	return is_answered && result.status == 200;
}

// The server is no WebSocket's, which is another sentence.
static bool open_once(const char *url)
{
	char kept[64] = "";
	struct http_request request = {
		.url = url, .timeout_ms = TIMEOUT_MS, .take_body = take_answer};
	struct http_beginning body = {.text = kept, .room = sizeof kept};
	struct http_result result;
	struct http_socket *s = http_socket_open(&request, 1024, &result, &body);

	CHECK(!s);
	walk_said(result.status == 200 ? "" : result.error);
	return result.status == 200;
}

static bool ask_server(void *shared)
{
	struct fake_server server = {.answer = answer_well};
	bool is_well = true;

	fake_server_start(&server);
	for (uint32_t i = 0; i < ASKED; i++) {
		is_well = ask_once(server.url) && is_well;
		is_well = open_once(server.url) && is_well;
	}
	fake_server_stop(&server);
	return is_well;
}

static const char *leader_url;

static void tell_leader(void *context, struct cluster_status *status)
{
	*status =
		(struct cluster_status){.role = CLUSTER_FOLLOWER, .knows_leader = true, .term = 3};
	snprintf(status->leader.http, sizeof status->leader.http, "%s", leader_url);
	snprintf(status->leader.id, sizeof status->leader.id, "leader");
}

static void wake_nobody(void *context)
{
}

static struct exchange *forward(struct forwarder *f, bool is_upgrade)
{
	struct exchange *x = exchange_create("GET", "/v1/jobs", NULL, 0);

	x->is_upgrade = is_upgrade;
	CHECK(forwarder_begin(f, x));
	return x;
}

static uint32_t failures(void)
{
	uint32_t count = calls_failures();

	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		count += failpoint_failures(rows[i].point);
	return count;
}

// An exchange whose forwarder cannot go on does not end.
static bool end_forwarded(struct exchange *x)
{
	enum exchange_stage stage = EXCHANGE_WAITS;

	for (uint32_t tries = 0; tries < (failures() > 0 ? 300 : 10000); tries++) {
		stage = exchange_stage_of(x);
		if (stage != EXCHANGE_WAITS && stage != EXCHANGE_ANSWERS)
			break;
		usleep(2000);
	}
	// The client is told so by who asked.
	walk_said(stage == EXCHANGE_IS_OVER ? "" : "the leader did not answer");
	x->carrier->drop(x);
	return stage == EXCHANGE_IS_OVER;
}

// What fails for one of them is no matter of the other.
static bool forward_two(struct forwarder *f)
{
	struct exchange *plain = forward(f, false), *upgrade = forward(f, true);
	bool is_over = end_forwarded(plain);

	return end_forwarded(upgrade) && is_over;
}

static bool ask_leader_of_cluster(void *shared)
{
	struct fake_server server = {.answer = answer_well};
	struct forwarder *f = NULL;
	const struct forwarder_settings settings = {.cluster = tell_leader,
		.hold_ms = 300,
		.time = &time_source_real,
		.wake = wake_nobody};
	int error = forwarder_start(&settings, &f);
	bool is_well = true;

	if (error < 0) {
		walk_said(error_text(error));
		return false;
	}
	fake_server_start(&server);
	leader_url = server.url;
	for (uint32_t i = 0; i < ASKED; i++)
		is_well = forward_two(f) && is_well;
	forwarder_stop(f);
	fake_server_stop(&server);
	return is_well;
}

static const struct area {
	const char *name, *folder;
	bool (*work)(void *shared);
} areas[] = {{"client", "at tools/http_client/", ask_server},
	{"forward", "at tools/api/forward/", ask_leader_of_cluster}};
static bool (*walked)(void *shared);

static void look(void *shared)
{
	CHECK(walked(shared));
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = walked(shared);

	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static void look_at_nothing(void *shared)
{
}

static void what_cannot_be_asked_is_said_and_the_next_is_served(void **given)
{
	char **words = *given;
	struct walk w = {rows, sizeof rows / sizeof rows[0], prepare, work, look, clear};

	for (size_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
		const char *const ours[] = {areas[i].folder, NULL};
		const struct call_walk_excuses excuses = {.only = ours, .only_always = true};
		if (strcmp(words[1], areas[i].name) != 0)
			continue;
		walked = areas[i].work;
		if (!words[2])
			walk_area(&w, words[1]);
		w.look = look_at_nothing; // it would be the same work once more
		if (words[2])
			walk_calls(&w, &excuses);
	}
}

// AREA: its failpoints; AREA calls: all that is called there.
int main(int argc, char **argv)
{
	assert_true(argc == 2 || argc == 3);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			what_cannot_be_asked_is_said_and_the_next_is_served, argv),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
