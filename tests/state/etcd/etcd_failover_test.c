#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "state/etcd/etcd.h"
#include "tests/support/etcd/etcd_server.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TIMEOUT_MS 100000u // where nothing is about how long it takes
#define SHORT_MS 400u
// A machine that is busy may be late by so much; a timeout of TCP takes minutes.
#define LATE_MS 60000u
// Many of these in one test.
#define TINY_MS 5u
#define SMALL_QUOTA (4u * 1024 * 1024)
#define PIECE_BYTES (256u * 1024)

static struct etcd_server server;

static int begin_all(void **unused)
{
	etcd_server_start(&server, 0);
	return 0;
}

static int end_all(void **unused)
{
	etcd_server_stop(&server);
	return 0;
}

static struct etcd *open_within(
	const char *endpoints, const char *user, const char *password, uint32_t timeout_ms)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *etcd;
	struct etcd_settings settings = {.endpoints = endpoints,
		.user = user,
		.password = password,
		.timeout_ms = timeout_ms};
	assert_int_equal(etcd_open(&settings, &etcd, message, sizeof message), 0);
	return etcd;
}

static struct etcd *open_at(const char *endpoints, const char *user, const char *password)
{
	return open_within(endpoints, user, password, TIMEOUT_MS);
}

static int put_within(struct etcd *etcd, const void *value, uint32_t size, uint32_t timeout_ms)
{
	struct etcd_put one = {"key", value, size, 0};
	struct etcd_txn txn = {.puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	int error = etcd_txn(etcd, &txn, timeout_ms, &result);
	assert_int_equal(result.error, error);
	assert_int_equal(result.succeeded, error == 0);
	return error;
}

static int put(struct etcd *etcd)
{
	return put_within(etcd, "x", 1, TIMEOUT_MS);
}

static int get(struct etcd *etcd, uint32_t timeout_ms)
{
	struct etcd_range range = {.key = "key"};
	struct etcd_range_result result;
	return etcd_range(etcd, &range, timeout_ms, &result);
}

static void the_next_endpoint_is_asked_when_the_first_is_dead(void **unused)
{
	char endpoints[2 * ETCD_SERVER_URL_BYTES];
	snprintf(endpoints, sizeof endpoints, "http://127.0.0.1:%u/, %s", free_port(), server.url);
	struct etcd *etcd = open_at(endpoints, NULL, NULL);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(put(etcd), 0);
		assert_int_equal(get(etcd, TIMEOUT_MS), 0);
	}
	// The dead one is asked once and then left.
	assert_int_equal(etcd_counters(etcd)->failovers, 1);
	assert_int_equal(etcd_counters(etcd)->failures, 1);
	etcd_close(etcd);
}

// Clients that have one list spread over it; who prefers what is dead goes on with the next.
static void another_endpoint_may_be_preferred(void **unused)
{
	char endpoints[3 * ETCD_SERVER_URL_BYTES];
	snprintf(endpoints, sizeof endpoints, "http://127.0.0.1:%u, %s", free_port(), server.url);
	struct etcd *etcd = open_at(endpoints, NULL, NULL);
	etcd_prefer(etcd, 3); // counted round: the second
	assert_int_equal(put(etcd), 0);
	assert_int_equal(etcd_counters(etcd)->requests, 1);
	assert_int_equal(etcd_counters(etcd)->failovers, 0);
	etcd_prefer(etcd, 0);
	assert_int_equal(put(etcd), 0);
	assert_int_equal(etcd_counters(etcd)->failures, 1);
	assert_int_equal(etcd_counters(etcd)->failovers, 1);
	etcd_close(etcd);
}

static void a_call_waits_for_an_endpoint_until_its_time(void **unused)
{
	char endpoint[ETCD_SERVER_URL_BYTES], trouble[ETCD_MESSAGE_BYTES];
	snprintf(endpoint, sizeof endpoint, "http://127.0.0.1:%u", free_port());
	struct etcd *etcd = open_at(endpoint, NULL, NULL);
	assert_int_equal(put_within(etcd, "x", 1, SHORT_MS), -ETIMEDOUT);
	etcd_trouble(etcd, trouble, sizeof trouble);
	assert_non_null(strstr(trouble, endpoint));
	etcd_close(etcd);
}

static uint64_t now_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

static void a_server_that_stands_still_is_given_up_in_time(void **unused)
{
	struct etcd *etcd = open_at(server.url, NULL, NULL);
	int64_t lease, granted_s, left_s;
	assert_int_equal(etcd_lease_grant(etcd, 60, TIMEOUT_MS, &lease, &granted_s), 0);
	assert_int_equal(put(etcd), 0);
	etcd_server_signal(&server, SIGSTOP);
	uint64_t begun_ms = now_ms();
	assert_int_equal(put_within(etcd, "y", 1, SHORT_MS), -ETIMEDOUT);
	assert_int_equal(get(etcd, SHORT_MS), -ETIMEDOUT);
	assert_int_equal(etcd_lease_renew(etcd, lease, SHORT_MS, &left_s), -ETIMEDOUT);
	uint64_t took_ms = now_ms() - begun_ms;
	etcd_server_signal(&server, SIGCONT);
	assert_true(took_ms >= 3 * SHORT_MS && took_ms < 3 * SHORT_MS + LATE_MS);
	assert_int_equal(put(etcd), 0);
	etcd_close(etcd);
}

static void no_call_is_given_up_before_its_time(void **unused)
{
	struct etcd *etcd = open_at(server.url, NULL, NULL);
	etcd_server_signal(&server, SIGSTOP);
	for (uint32_t i = 0; i < 50; i++) {
		uint64_t begun_ns = time_monotonic_ns(&time_source_real);
		bool is_put = i % 2;
		int error = is_put ? put_within(etcd, "y", 1, TINY_MS) : get(etcd, TINY_MS);
		assert_int_equal(error, -ETIMEDOUT);
		assert_true(time_monotonic_ns(&time_source_real) - begun_ns >= TINY_MS * NS_PER_MS);
	}
	uint64_t requests = etcd_counters(etcd)->requests;
	// One millisecond is a time, too: most of them are asked.
	for (uint32_t i = 0; i < 50; i++)
		assert_int_equal(get(etcd, 1), -ETIMEDOUT);
	etcd_server_signal(&server, SIGCONT);
	assert_true(etcd_counters(etcd)->requests > requests);
	etcd_close(etcd);
}

static void of_two_servers_the_one_that_stands_still_is_left(void **unused)
{
	struct etcd_server other;
	char endpoints[2 * ETCD_SERVER_URL_BYTES];
	etcd_server_start(&other, 0);
	snprintf(endpoints, sizeof endpoints, "%s %s", server.url, other.url);
	struct etcd *etcd = open_within(endpoints, NULL, NULL, SHORT_MS); // so long each is asked
	const struct etcd_counters *counters = etcd_counters(etcd);
	etcd_server_signal(&server, SIGSTOP);
	assert_int_equal(get(etcd, TIMEOUT_MS), 0);
	// On a busy machine the other one may be too late, too: then both are asked again.
	uint64_t failures = counters->failures, requests = counters->requests;
	assert_true(failures > 0);
	assert_int_equal(requests, failures + 1);
	assert_int_equal(put(etcd), 0); // the first one would not have done it
	etcd_server_signal(&server, SIGCONT);
	assert_int_equal(counters->requests, requests + 1);
	assert_int_equal(counters->failovers, 1);
	etcd_close(etcd);
	etcd_server_stop(&other);
}

// Connections that a restart ended are noticed before a request goes out over them.
static void a_restart_between_two_calls_is_no_error(void **unused)
{
	struct etcd *etcd = open_at(server.url, NULL, NULL);
	assert_int_equal(put(etcd), 0);
	etcd_server_kill(&server);
	etcd_server_start_again(&server);
	assert_int_equal(put(etcd), 0);
	etcd_close(etcd);
}

static void a_full_store_says_so_and_goes_on_when_it_is_emptied(void **unused)
{
	struct etcd_server small;
	struct etcd_status status;
	uint8_t *value = memory_take(PIECE_BYTES);
	etcd_server_start(&small, SMALL_QUOTA);
	struct etcd *etcd = open_at(small.url, NULL, NULL);
	assert_int_equal(etcd_status(etcd, TIMEOUT_MS, &status), 0);
	assert_false(status.is_full);
	int error = 0;
	for (uint32_t i = 0; i < 100 && !error; i++)
		error = put_within(etcd, value, PIECE_BYTES, TIMEOUT_MS);
	assert_int_equal(error, -ENOSPC);
	assert_int_equal(put(etcd), -ENOSPC);
	assert_int_equal(etcd_status(etcd, TIMEOUT_MS, &status), 0);
	assert_true(status.is_full);
	assert_true(status.bytes >= status.bytes_used && status.bytes_used > 0);
	assert_memory_equal(status.version, "3.", 2);
	// As an operator does it.
	assert_int_equal(etcd_compact(etcd, status.revision, TIMEOUT_MS), 0);
	const char *const defragment[] = {"defrag", NULL}, *const disarm[] = {
								   "alarm", "disarm", NULL};
	assert_int_equal(etcd_server_control(&small, defragment), 0);
	assert_int_equal(etcd_server_control(&small, disarm), 0);
	assert_int_equal(etcd_status(etcd, TIMEOUT_MS, &status), 0);
	assert_false(status.is_full);
	assert_int_equal(put(etcd), 0);
	etcd_close(etcd);
	etcd_server_stop(&small);
	free(value);
}

static bool ignore_change(void *context, const struct etcd_item *item, bool was_deleted)
{
	return false;
}

static int watch_from_the_start(struct etcd *etcd)
{
	struct etcd_watch watch = {.key = "key", .from = 1, .changed = ignore_change};
	return etcd_watch(etcd, &watch);
}

static void user_and_password_open_what_is_locked(void **unused)
{
	struct etcd_server locked;
	etcd_server_start(&locked, 0);
	const char *const user[] = {"user", "add", "root:pass\"word", NULL};
	const char *const grant[] = {"user", "grant-role", "root", "root", NULL};
	const char *const enable[] = {"auth", "enable", NULL};
	struct etcd *early = open_at(locked.url, "root", "pass\"word");
	assert_int_equal(put(early), 0);
	assert_int_equal(etcd_server_control(&locked, user), 0);
	etcd_server_control(&locked, (const char *const[]){"role", "add", "root", NULL});
	assert_int_equal(etcd_server_control(&locked, grant), 0);
	assert_int_equal(etcd_server_control(&locked, enable), 0);
	struct etcd *nobody = open_at(locked.url, NULL, NULL);
	struct etcd *wrong = open_at(locked.url, "root", "word");
	struct etcd *right = open_at(locked.url, "root", "pass\"word");
	assert_int_equal(put(nobody), -EACCES);
	assert_int_equal(watch_from_the_start(nobody), -EACCES);
	assert_int_equal(put(wrong), -EACCES);
	assert_int_equal(watch_from_the_start(wrong), -EACCES);
	assert_int_equal(put(right), 0);
	assert_int_equal(watch_from_the_start(right), -ECANCELED);
	// Before there were tokens it had none, and a restart forgets them.
	assert_int_equal(put(early), 0);
	etcd_server_kill(&locked);
	etcd_server_start_again(&locked);
	assert_int_equal(put(right), 0);
	assert_int_equal(watch_from_the_start(early), -ECANCELED);
	etcd_close(right);
	etcd_close(wrong);
	etcd_close(nobody);
	etcd_close(early);
	etcd_server_stop(&locked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_endpoint_is_asked_when_the_first_is_dead),
		cmocka_unit_test(another_endpoint_may_be_preferred),
		cmocka_unit_test(a_call_waits_for_an_endpoint_until_its_time),
		cmocka_unit_test(a_server_that_stands_still_is_given_up_in_time),
		cmocka_unit_test(no_call_is_given_up_before_its_time),
		cmocka_unit_test(of_two_servers_the_one_that_stands_still_is_left),
		cmocka_unit_test(a_restart_between_two_calls_is_no_error),
		cmocka_unit_test(a_full_store_says_so_and_goes_on_when_it_is_emptied),
		cmocka_unit_test(user_and_password_open_what_is_locked),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
