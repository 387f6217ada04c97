// The forwarder without a server: what waits, what is given up, and how much is under way.
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "tests/support/etcd/etcd_server.h"
#include "tests/support/etcd/fake_server.h"
#include "tests/support/shared_time.h"
#include "tools/api/forward/forwarder.h"
#include <linux/filter.h>
#include <poll.h>
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

static _Atomic int role, knows_leader;
static _Atomic uint32_t woken;
static char leader_url[64] = "http://127.0.0.1:1"; // nobody listens there

static void tell(void *context, struct cluster_status *status)
{
	*status = (struct cluster_status){
		.role = (enum cluster_role)role, .knows_leader = knows_leader, .term = 3};
	snprintf(status->leader.http, sizeof status->leader.http, "%s", leader_url);
	snprintf(status->leader.id, sizeof status->leader.id, "leader");
	snprintf(status->leader.name, sizeof status->leader.name, "m1");
}

static void note_wake(void *context)
{
	woken++;
}

static struct forwarder *start_at(const struct time_source *time, uint32_t hold_ms)
{
	struct forwarder *f;
	const struct forwarder_settings settings = {
		.cluster = tell, .hold_ms = hold_ms, .time = time, .wake = note_wake};
	assert_int_equal(forwarder_start(&settings, &f), 0);
	woken = 0;
	return f;
}

static struct forwarder *start(uint32_t hold_ms)
{
	return start_at(&time_source_real, hold_ms);
}

static struct exchange *begun(struct forwarder *f, const char *method)
{
	struct exchange *x = exchange_create(method, "/v1/jobs", NULL, 0);
	assert_true(forwarder_begin(f, x));
	return x;
}

static void await_stage(struct exchange *x, enum exchange_stage stage)
{
	for (int i = 0; i < 12000 && exchange_stage_of(x) != stage; i++)
		usleep(5000);
	assert_int_equal(exchange_stage_of(x), stage);
	for (int i = 0; i < 60000 && !woken; i++)
		usleep(1000);
	assert_int_equal(woken, 1);
}

static void await_none(struct forwarder *f)
{
	struct forward_counts counts;
	for (int i = 0; i < 12000; i++) {
		forwarder_count(f, &counts);
		if (!counts.under_way)
			break;
		usleep(5000);
	}
	assert_int_equal(counts.under_way, 0);
}

static void what_nobody_takes_is_given_up(void **unused)
{
	static const char *const methods[] = {"GET", "PUT"};
	role = CLUSTER_FOLLOWER;
	for (int i = 0; i < 4; i++) {
		knows_leader = i % 2;
		struct forwarder *f = start(50);
		struct exchange *x = begun(f, methods[i / 2]);
		await_stage(x, EXCHANGE_HAS_FAILED);
		x->carrier->drop(x);
		await_none(f);
		forwarder_stop(f);
	}
}

static uint64_t outcomes_of(struct forwarder *f, enum forward_outcome outcome)
{
	struct forward_counts counts;

	forwarder_count(f, &counts);
	return counts.outcomes[outcome];
}

// Handshakes come through, and nothing that is longer: the machine looks as if it was cut off after them.
static int listen_deaf(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 64, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)};
	const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
	uint16_t port;
	int fd = listen_anywhere(&port);

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter), 0);
	snprintf(leader_url, sizeof leader_url, "http://127.0.0.1:%u", port);
	return fd;
}

static void a_leader_that_cannot_be_reached_is_not_waited_for(void **unused)
{
	char expected[128];
	int listener = listen_deaf();
	role = CLUSTER_FOLLOWER;
	knows_leader = true;
	struct forwarder *f = start(200);
	struct exchange *read = begun(f, "GET");
	await_stage(read, EXCHANGE_HAS_FAILED);
	snprintf(expected, sizeof expected,
		"No cluster leader: m1 leads, and cannot be reached at %s from here", leader_url);
	assert_string_equal(read->failure, expected);
	assert_int_equal(read->failure_status, 500);
	assert_int_equal(outcomes_of(f, FORWARD_UNREACHABLE), 1);
	read->carrier->drop(read);
	woken = 0;
	// It may have got there, though nobody has said so.
	struct exchange *change = begun(f, "PUT");
	await_stage(change, EXCHANGE_IS_LOST);
	change->carrier->drop(change);
	await_none(f);
	forwarder_stop(f);
	close(listener);
}

enum { HOLD_MS = 5000, NEXT_TRY_MS = 100 };
static struct shared_time stopped_time = {1795225440000000000};

static const char *leave_late(void *context, uint32_t request, size_t *size)
{
	static const char answer[] =
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

	*size = sizeof answer - 1;
	if (request > 0)
		return answer;
	shared_time_advance_ms(&stopped_time, HOLD_MS * 2);
	return NULL;
}

// As a blocking query does: the time for the next leader begins when the first is gone.
static void what_a_leader_had_for_long_is_for_the_next_one(void **unused)
{
	const struct time_source stopped = {shared_time_ns, shared_time_ns, &stopped_time, NULL};
	struct fake_server server = {.answer = leave_late};
	struct forward_counts counts;
	fake_server_start(&server);
	snprintf(leader_url, sizeof leader_url, "%s", server.url);
	role = CLUSTER_FOLLOWER;
	knows_leader = true;
	struct forwarder *f = start_at(&stopped, HOLD_MS);
	struct exchange *x = begun(f, "GET");
	do {
		usleep(1000);
		forwarder_count(f, &counts);
	} while (counts.repeated == 0);
	shared_time_advance_ms(&stopped_time, NEXT_TRY_MS);
	await_stage(x, EXCHANGE_IS_OVER);
	assert_int_equal(x->head.status, 200);
	x->carrier->drop(x);
	forwarder_stop(f);
	fake_server_stop(&server);
}

static void what_waits_is_for_whoever_takes_over(void **unused)
{
	role = CLUSTER_FOLLOWER;
	knows_leader = false;
	struct forwarder *f = start(60000);
	struct exchange *x = begun(f, "PUT");
	usleep(50000);
	assert_int_equal(exchange_stage_of(x), EXCHANGE_WAITS);
	role = CLUSTER_LEADER;
	usleep(250000);
	// It does not know that it still leads.
	assert_int_equal(exchange_stage_of(x), EXCHANGE_WAITS);
	knows_leader = true;
	await_stage(x, EXCHANGE_IS_HERE);
	x->carrier->drop(x);
	forwarder_stop(f);
}

static void only_so_many_are_under_way(void **unused)
{
	static struct exchange *all[FORWARDS_MAX];
	role = CLUSTER_FOLLOWER;
	knows_leader = false;
	struct forwarder *f = start(60000);
	for (uint32_t i = 0; i < FORWARDS_MAX; i++)
		all[i] = begun(f, "GET");
	struct exchange *more = exchange_create("GET", "/", NULL, 0);
	assert_false(forwarder_begin(f, more));
	for (uint32_t i = 0; i < FORWARDS_MAX; i++)
		all[i]->carrier->drop(all[i]);
	await_none(f);
	assert_true(forwarder_begin(f, more));
	// It ends with what was dropped before.
	more->carrier->drop(more);
	forwarder_stop(f);
}

// They last, and leave room for the others.
static void only_so_many_ask_for_another_protocol(void **unused)
{
	static struct exchange *all[FORWARD_UPGRADES_MAX];
	struct forward_counts counts;
	role = CLUSTER_FOLLOWER;
	knows_leader = false;
	struct forwarder *f = start(60000);
	for (uint32_t i = 0; i <= FORWARD_UPGRADES_MAX; i++) {
		struct exchange *x = exchange_create("GET", "/", NULL, 0);
		x->is_upgrade = true;
		assert_int_equal(forwarder_begin(f, x), i < FORWARD_UPGRADES_MAX);
		if (i < FORWARD_UPGRADES_MAX)
			all[i] = x;
		else
			exchange_free(x);
	}
	struct exchange *plain = begun(f, "GET");
	forwarder_count(f, &counts);
	assert_int_equal(counts.upgrades, FORWARD_UPGRADES_MAX);
	assert_int_equal(counts.under_way, FORWARD_UPGRADES_MAX + 1);
	plain->carrier->drop(plain);
	for (uint32_t i = 0; i < FORWARD_UPGRADES_MAX; i++)
		all[i]->carrier->drop(all[i]);
	await_none(f);
	forwarder_count(f, &counts);
	assert_int_equal(counts.upgrades, 0);
	forwarder_stop(f);
}

static struct exchange *with_body(size_t size)
{
	char *body = memory_take(size);
	struct exchange *x = exchange_create("PUT", "/v1/jobs", body, size);
	free(body);
	return x;
}

// A connection over which something was asked.
static int accept_request(int listener)
{
	int fd = accept(listener, NULL, NULL);
	struct pollfd asked = {.fd = fd, .events = POLLIN};

	assert_true(fd >= 0);
	assert_int_equal(poll(&asked, 1, -1), 1);
	return fd;
}

// What a leader does not take at once follows as it reads on.
static void a_large_request_for_another_protocol_is_sent_whole(void **unused)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	enum { BODY_BYTES = 8 * 1024 * 1024, PIECE_BYTES = 256 * 1024 };
	char *piece = memory_take(PIECE_BYTES);
	uint16_t port;
	int listener = listen_anywhere(&port);
	size_t left = BODY_BYTES, size = 0;

	snprintf(leader_url, sizeof leader_url, "http://127.0.0.1:%u", port);
	role = CLUSTER_FOLLOWER;
	knows_leader = true;
	struct forwarder *f = start(60000);
	struct exchange *x = with_body(BODY_BYTES);
	x->is_upgrade = true;
	assert_true(forwarder_begin(f, x));
	int fd = accept_request(listener);
	// Its thread asks for another one only once it has found no more room for the first.
	struct exchange *other = begun(f, "GET");
	int further = accept_request(listener);
	other->carrier->drop(other);
	for (char *end = NULL; !end; end = strstr(piece, "\r\n\r\n")) {
		ssize_t got = recv(fd, piece + size, 1, 0);
		assert_int_equal(got, 1);
		assert_true(++size < PIECE_BYTES);
	}
	while (left > 0) {
		ssize_t got = recv(fd, piece, PIECE_BYTES, 0);
		assert_in_range(got, 1, left);
		left -= (size_t)got;
	}
	assert_int_equal(send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL), sizeof answer - 1);
	await_stage(x, EXCHANGE_IS_OVER);
	assert_int_equal(x->head.status, 200);
	x->carrier->drop(x);
	await_none(f);
	forwarder_stop(f);
	close(fd);
	close(further);
	close(listener);
	free(piece);
}

// Large bodies that wait for a leader do not take all memory; small ones still go.
static void bodies_are_bounded_together(void **unused)
{
	enum { BODY_BYTES = 1024 * 1024, COUNT = FORWARD_BODY_BYTES_MAX / BODY_BYTES };
	static struct exchange *all[COUNT];
	role = CLUSTER_FOLLOWER;
	knows_leader = false;
	struct forwarder *f = start(60000);
	for (int i = 0; i < COUNT; i++) {
		all[i] = with_body(BODY_BYTES);
		assert_true(forwarder_begin(f, all[i]));
	}
	struct exchange *more = with_body(1), *plain = begun(f, "GET");
	assert_false(forwarder_begin(f, more));
	for (int i = 0; i < COUNT; i++)
		all[i]->carrier->drop(all[i]);
	plain->carrier->drop(plain);
	await_none(f);
	assert_true(forwarder_begin(f, more));
	more->carrier->drop(more);
	forwarder_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_takes_is_given_up),
		cmocka_unit_test(a_leader_that_cannot_be_reached_is_not_waited_for),
		cmocka_unit_test(what_a_leader_had_for_long_is_for_the_next_one),
		cmocka_unit_test(what_waits_is_for_whoever_takes_over),
		cmocka_unit_test(only_so_many_are_under_way),
		cmocka_unit_test(only_so_many_ask_for_another_protocol),
		cmocka_unit_test(a_large_request_for_another_protocol_is_sent_whole),
		cmocka_unit_test(bodies_are_bounded_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
