#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "state/etcd/etcd.h"
#include "tests/support/etcd/etcd_server.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_MS 20000u
#define TTL_S 2
#define RENEWED_MS 3000u
#define RENEWAL_EVERY_US 300000u
#define STEP_US 50000u
#define STEPS_MAX 400u

static struct etcd_server server;
static struct etcd *etcd;

static int begin_all(void **unused)
{
	char message[ETCD_MESSAGE_BYTES];
	etcd_server_start(&server, 0);
	struct etcd_settings settings = {.endpoints = server.url, .timeout_ms = TIMEOUT_MS};
	return etcd_open(&settings, &etcd, message, sizeof message);
}

static int end_all(void **unused)
{
	etcd_close(etcd);
	etcd_server_stop(&server);
	return 0;
}

static int put_under(const char *key, int64_t lease)
{
	struct etcd_put one = {key, "x", 1, lease};
	struct etcd_txn txn = {.puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	return etcd_txn(etcd, &txn, TIMEOUT_MS, &result);
}

static bool see_lease(void *context, const struct etcd_item *item)
{
	*(int64_t *)context = item->lease;
	return true;
}

// The lease of a key, 0 when it is not there.
static int64_t lease_of(const char *key)
{
	int64_t lease = 0;
	struct etcd_range range = {.key = key, .visit = see_lease, .context = &lease};
	struct etcd_range_result result;
	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	return lease;
}

static int64_t grant(int64_t ttl_s)
{
	int64_t lease, granted_s;
	assert_int_equal(etcd_lease_grant(etcd, ttl_s, TIMEOUT_MS, &lease, &granted_s), 0);
	assert_true(lease != 0);
	assert_true(granted_s >= ttl_s);
	return lease;
}

static uint64_t lease_clock_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

// For longer than it would last. Returns false when it ended where this machine was too late for a renewal.
static bool renew_for_long(int64_t lease)
{
	uint64_t begun_ms = lease_clock_ms(), renewed_ms = begun_ms;

	while (renewed_ms - begun_ms < RENEWED_MS) {
		int64_t left_s;
		usleep(RENEWAL_EVERY_US);
		int error = etcd_lease_renew(etcd, lease, TIMEOUT_MS, &left_s);
		if (error != 0 && lease_clock_ms() - renewed_ms >= TTL_S * 1000)
			return false;
		assert_int_equal(error, 0);
		assert_int_equal(left_s, TTL_S);
		renewed_ms = lease_clock_ms();
	}
	return true;
}

static void a_key_is_there_as_long_as_its_lease_is_renewed(void **unused)
{
	int64_t lease, left_s;

	do {
		lease = grant(TTL_S);
		(void)put_under("leased", lease);
	} while (!renew_for_long(lease) || lease_of("leased") != lease);
	for (uint32_t i = 0; lease_of("leased"); i++) {
		assert_true(i < STEPS_MAX);
		usleep(STEP_US);
	}
	assert_int_equal(etcd_lease_renew(etcd, lease, TIMEOUT_MS, &left_s), -ENOENT);
	assert_int_equal(put_under("leased", lease), -ENOENT);
}

static void a_revoked_lease_takes_its_keys_with_it(void **unused)
{
	int64_t lease = grant(60), left_s;
	assert_int_equal(put_under("revoked", lease), 0);
	assert_int_equal(etcd_lease_revoke(etcd, lease, TIMEOUT_MS), 0);
	assert_int_equal(lease_of("revoked"), 0);
	assert_int_equal(etcd_lease_revoke(etcd, lease, TIMEOUT_MS), -ENOENT);
	assert_int_equal(etcd_lease_renew(etcd, lease, TIMEOUT_MS, &left_s), -ENOENT);
	assert_int_equal(etcd_lease_renew(etcd, 4711, TIMEOUT_MS, &left_s), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_there_as_long_as_its_lease_is_renewed),
		cmocka_unit_test(a_revoked_lease_takes_its_keys_with_it),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
