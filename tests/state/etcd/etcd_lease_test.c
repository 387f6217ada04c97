#include "state/etcd/etcd.h"
#include "tests/support/etcd/etcd_server.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define TIMEOUT_MS 5000u
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

static void a_key_is_there_as_long_as_its_lease_is_renewed(void **unused)
{
	int64_t lease = grant(2), left_s;
	assert_int_equal(put_under("leased", lease), 0);
	for (uint32_t i = 0; i < 10; i++) {
		usleep(300 * 1000);
		assert_int_equal(etcd_lease_renew(etcd, lease, TIMEOUT_MS, &left_s), 0);
		assert_int_equal(left_s, 2);
	}
	assert_int_equal(lease_of("leased"), lease);
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
