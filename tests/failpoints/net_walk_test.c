// Whatever the system refuses to who asks others over sockets: it is said, what was acknowledged is there, and the next
// one is served.
#include "dataplane/port/shared/shared_port.h"
#include "dataplane/port/xdp.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/time_source.h"
#include "state/etcd/etcd.h"
#include "tests/failpoints/walk.h"
#include "tests/support/etcd/etcd_server.h"
#include "tests/support/etcd/fake_server.h"
#include "tools/api/forward/forwarder.h"
#include "tools/http_client/http_client.h"
#include "tools/http_client/http_socket.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_MS 800u

enum { KEYS = 4, ASKED = 3 };

static const struct walk_row rows[] = {
	{FAILPOINT_XDP_SOCKET, "emfile", NULL, false, false},
	{FAILPOINT_XDP_ASK, "enobufs", NULL, false, false},
	{FAILPOINT_XDP_ANSWER, "enobufs", NULL, false, false},
	{FAILPOINT_XDP_PROGRAM, "emfile", NULL, false, false},
	{FAILPOINT_CLIENT_HANDLE, "enomem", NULL, false, false},
	{FAILPOINT_CLIENT_ASK, "econnreset", NULL, false, false},
	{FAILPOINT_FORWARD_EPOLL, "emfile", NULL, false, false},
	{FAILPOINT_FORWARD_WAKE, "emfile", NULL, false, false},
	{FAILPOINT_FORWARD_HANDLES, "enomem", NULL, false, false},
	{FAILPOINT_FORWARD_HANDLE, "enomem", NULL, false, false},
	{FAILPOINT_FORWARD_WATCH, "enospc", NULL, false, false},
	{FAILPOINT_FORWARD_ENTER, "enospc", NULL, false, false},
	{FAILPOINT_ETCD_HANDLES, "enomem", NULL, false, true},
	{FAILPOINT_ETCD_HANDLE, "enomem", NULL, false, true},
	{FAILPOINT_ETCD_SOCKET, "emfile", NULL, false, false},
	{FAILPOINT_ETCD_ANSWER, "econnreset", NULL, false, false},
};

struct asking {
	uint32_t number; // of the walk's
	bool is_kept[KEYS];
};

static struct etcd_server etcd_server;

static void *prepare_asking(const struct walk_row *row)
{
	static uint32_t number;
	struct asking *a = walk_shared(sizeof *a);

	a->number = number++;
	return a;
}

static void clear_asking(void *shared)
{
	assert_int_equal(munmap(shared, sizeof(struct asking)), 0);
}

static bool is_done(int error)
{
	walk_said(error < 0 ? error_text(error) : "");
	return error == 0;
}

static bool ask_kernel(void *shared)
{
	const char *path;
	uint32_t program;
	bool is_well = true;

	for (uint32_t i = 0; i < ASKED; i++)
		is_well = is_done(xdp_program("lo", &program)) && is_well;
	return is_done(shared_port_program(&path)) && is_well;
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

static bool forward_once(struct forwarder *f, bool is_upgrade)
{
	struct exchange *x = exchange_create("GET", "/v1/jobs", NULL, 0);
	enum exchange_stage stage = EXCHANGE_WAITS;

	x->is_upgrade = is_upgrade;
	CHECK(forwarder_begin(f, x));
	for (uint32_t tries = 0; tries < 300; tries++) {
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

static bool ask_leader_of_cluster(void *shared)
{
	struct fake_server server = {.answer = answer_well};
	struct forwarder *f = NULL;
	const struct forwarder_settings settings = {.cluster = tell_leader,
		.hold_ms = 300,
		.time = &time_source_real,
		.wake = wake_nobody};
	int error = forwarder_start(&settings, &f);
	bool is_well = is_done(error);

	if (!is_well)
		return false;
	fake_server_start(&server);
	leader_url = server.url;
	for (uint32_t i = 0; i < ASKED; i++)
		is_well = forward_once(f, i % 2) && is_well;
	forwarder_stop(f);
	fake_server_stop(&server);
	return is_well;
}

struct kept_value {
	const struct asking *asking;
	uint32_t key;
	bool is_right;
};

static void write_key(const struct asking *a, uint32_t key, char text[static 32])
{
	snprintf(text, 32, "walk/%u/%u", a->number, key);
}

// Only where nothing is: twice would be told from once.
static bool keep_once(struct etcd *etcd, struct asking *a, uint32_t key)
{
	char text[32];
	write_key(a, key, text);
	struct etcd_compare compare = {text, true, 0};
	struct etcd_put put = {text, text, (uint32_t)strlen(text), 0};
	struct etcd_txn txn = {
		.compares = &compare, .compare_count = 1, .puts = &put, .put_count = 1};
	struct etcd_txn_result result = {0};
	int error = etcd_txn(etcd, &txn, TIMEOUT_MS, &result);
	error = error ? error : result.error;

	if (error == 0)
		a->is_kept[key] = true; // now, or since a try whose answer was lost
	return is_done(error);
}

static bool keep_all(void *shared)
{
	struct asking *a = shared;
	char message[ETCD_MESSAGE_BYTES] = "";
	struct etcd_settings settings = {.endpoints = etcd_server.url, .timeout_ms = TIMEOUT_MS};
	struct etcd *etcd = NULL;
	bool is_well = true;

	if (etcd_open(&settings, &etcd, message, sizeof message) != 0) {
		walk_said(message);
		return false;
	}
	for (uint32_t key = 0; key < KEYS; key++)
		is_well = keep_once(etcd, a, key) && is_well;
	etcd_close(etcd);
	return is_well;
}

static bool see_kept(void *context, const struct etcd_item *item)
{
	struct kept_value *seen = context;
	char text[32];

	write_key(seen->asking, seen->key, text);
	seen->is_right = item->size == strlen(text) && memcmp(item->value, text, item->size) == 0;
	return true;
}

static void look_at_kept(void *shared)
{
	struct asking *a = shared;
	char message[ETCD_MESSAGE_BYTES] = "", text[32];
	struct etcd_settings settings = {.endpoints = etcd_server.url, .timeout_ms = TIMEOUT_MS};
	struct etcd *etcd;

	CHECK(etcd_open(&settings, &etcd, message, sizeof message) == 0);
	for (uint32_t key = 0; key < KEYS; key++) {
		struct kept_value seen = {a, key, false};
		struct etcd_range range = {.key = text, .visit = see_kept, .context = &seen};
		struct etcd_range_result result;
		write_key(a, key, text);
		CHECK(!a->is_kept[key] ||
			(etcd_range(etcd, &range, TIMEOUT_MS, &result) == 0 && seen.is_right));
	}
	etcd_close(etcd);
	CHECK(keep_all(a));
}

static void look_at_kernel(void *shared)
{
	CHECK(ask_kernel(shared));
}

static void look_at_server(void *shared)
{
	CHECK(ask_server(shared));
}

static void look_at_leader(void *shared)
{
	CHECK(ask_leader_of_cluster(shared));
}

static const struct {
	const char *area;
	bool (*work)(void *shared);
	void (*look)(void *shared);
} areas[] = {{"xdp", ask_kernel, look_at_kernel}, {"client", ask_server, look_at_server},
	{"forward", ask_leader_of_cluster, look_at_leader}, {"etcd", keep_all, look_at_kept}};

static void what_others_cannot_be_asked_is_said_and_nothing_is_lost(void **area)
{
	const bool needs_etcd = strcmp(*area, "etcd") == 0;

	if (needs_etcd)
		etcd_server_start(&etcd_server, 0);
	for (uint32_t i = 0; i < sizeof areas / sizeof areas[0]; i++) {
		const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare_asking,
			areas[i].work, areas[i].look, clear_asking};
		if (strcmp(*area, areas[i].area) == 0)
			walk_area(&w, *area);
	}
	if (needs_etcd)
		etcd_server_stop(&etcd_server);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			what_others_cannot_be_asked_is_said_and_nothing_is_lost, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
