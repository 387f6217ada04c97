// What members know of each other: the log is cut behind all of them, who is too far behind takes a snapshot, who has
// another state or is of another cluster fails, who reads an older format holds the leadership of others, and whose
// time of day is another than that of most leaves it to them.
#include "state/base/log.h"
#include "state/log/batch.h"
#include "tests/state/cluster/etcd_keys.h"
#include "tests/state/cluster/member.h"
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OTHER "00000000-0000-4000-8000-%012u"
#define STRANGER "00000000-0000-4000-8000-00000000000f"

static struct member one, two;

static int begin(void **unused)
{
	member_create(&one, "one");
	member_create(&two, "two");
	member_init(&one);
	member_join(&two);
	return 0;
}

static int end(void **unused)
{
	member_remove(&one);
	member_remove(&two);
	etcd_keys_remove_all();
	return 0;
}

static void stop_and_close(struct member *m)
{
	member_stop(m);
	member_close(m);
}

static void put_number(const char *what, uint64_t number)
{
	char text[24];
	etcd_keys_put(what, text,
		(uint32_t)snprintf(text, sizeof text, "%llu", (unsigned long long)number));
}

static void lead_and_fill(void)
{
	member_start(&one);
	member_await_leadership(&one);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(member_register(&one, i), OUTCOME_DONE);
}

static void what_all_have_is_cut(void **unused)
{
	char stored[64];

	lead_and_fill();
	uint64_t index = state_index(one.core.state);
	member_start(&two);
	snprintf(stored, sizeof stored, "stored/%s", two.identity.member);
	AWAIT(etcd_keys_number(stored) == index);
	AWAIT(etcd_keys_number("cut") == index);
	// The batch that ends at the index stays: who has it is not asked before the next cut.
	assert_int_equal(etcd_keys_count("log/"), 1);
	assert_int_equal(etcd_keys_newest_index(), index);
	stop_and_close(&two);
	assert_int_equal(member_register(&one, 9), OUTCOME_DONE);
	AWAIT(etcd_keys_number(stored) == index);
	// Who is away holds it, also when there has been time for another cut.
	const struct etcd_counters *etcd = cluster_etcd(one.cluster);
	uint64_t asked = atomic_load(&etcd->requests);
	AWAIT(atomic_load(&etcd->requests) > asked + 80);
	assert_int_equal(etcd_keys_number("cut"), index);
	member_start(&two); // goes on behind the cut by itself
	AWAIT(state_index(two.core.state) == state_index(one.core.state));
	member_assert_equal(&one, &two);
	assert_int_equal(two.fetched, 0);
	stop_and_close(&two);
	stop_and_close(&one);
}

// As if it had been away until the log took too much.
static void who_is_too_far_behind_takes_a_snapshot(void **unused)
{
	char stored[64];

	member_start(&two); // alone: nobody to take one of
	member_await_leadership(&two);
	stop_and_close(&two);
	lead_and_fill();
	snprintf(stored, sizeof stored, "stored/%s", two.identity.member);
	put_number(stored, 1000);
	AWAIT(etcd_keys_number("cut") == state_index(one.core.state));
	member_start(&two);
	AWAIT(two.fetched > 0);
	assert_string_equal(two.fetched_from, MEMBER_HTTP);
	assert_false(two.leads);
	stop_and_close(&two);
	stop_and_close(&one);
}

// It deleted the key of its leadership itself, and has to tell who asked before it begins anew.
static void who_restores_has_not_lost(void **unused)
{
	lead_and_fill();
	const struct etcd_counters *etcd = cluster_etcd(one.cluster);
	cluster_restore_decide(one.cluster, 5);
	uint64_t asked = atomic_load(&etcd->requests);
	AWAIT(atomic_load(&etcd->requests) > asked + 20); // the clerk has looked more than once
	assert_int_equal(one.lost, 0);
	stop_and_close(&one);
}

// The leader's state was another one before the newest batch.
static void another_state_is_told(void **unused)
{
	enum { CHECK_AT = LOG_PIECE_HEADER_BYTES - 8 };
	uint32_t size;

	lead_and_fill();
	struct cluster_key key = cluster_log_key(MEMBER_CLUSTER, etcd_keys_newest_index(), 0);
	const char *what = key.text + strlen("/berth/" MEMBER_CLUSTER "/");
	uint8_t *value = etcd_keys_get(what, &size);
	assert_non_null(value);
	value[CHECK_AT] ^= 1;
	etcd_keys_put(what, value, size);
	free(value);
	member_start(&two);
	AWAIT(two.failed > 0);
	assert_non_null(strstr(two.sentence, "is not that of the leader"));
	stop_and_close(&two);
	stop_and_close(&one);
}

// A cluster of the same name was begun anew: the directory is of the one before.
static void another_cluster_is_not_followed(void **unused)
{
	static const char meta[] = "{\"id\": \"" STRANGER "\", \"format\": 1, \"base\": 0}";

	etcd_keys_put("meta", meta, sizeof meta - 1);
	member_start(&two);
	AWAIT(two.failed > 0);
	assert_non_null(strstr(two.sentence, "is another one"));
	assert_false(two.leads);
	assert_int_equal(state_index(two.core.state), 0);
	stop_and_close(&two);
}

static void put_stranger(int format)
{
	char json[256];

	etcd_keys_put("members/" STRANGER, json,
		(uint32_t)snprintf(json, sizeof json,
			"{\"id\":\"" STRANGER "\",\"name\":\"old\",\"http\":\"\",\"wire\":\"\","
			"\"format\":%d}",
			format));
}

static bool sees_stranger(bool is_alive)
{
	struct cluster_status status;

	cluster_status(one.cluster, &status);
	for (uint32_t i = 0; i < status.member_count; i++)
		if (strcmp(status.members[i].id, STRANGER) == 0)
			return status.members[i].is_alive == is_alive;
	return false;
}

// Members are upgraded one after the other; the newest wait for the last.
static void who_reads_less_is_not_led_by_who_writes_more(void **unused)
{
	put_stranger((int)LOG_FORMAT - 1);
	etcd_keys_put("alive/" STRANGER, "", 0);
	member_start(&one);
	AWAIT(sees_stranger(true));
	usleep(500000); // longer than a turn of the keeper's
	uint32_t size;
	uint8_t *leader = etcd_keys_get("leader", &size);
	assert_null(leader);
	assert_false(one.leads);
	etcd_keys_delete("alive/" STRANGER);
	member_await_leadership(&one);
	stop_and_close(&one);
}

static void put_other(uint32_t number, int64_t ahead_ms)
{
	char key[64], text[256];
	int64_t now_ms = (int64_t)(time_wall_ns(&time_source_real) / NS_PER_MS);

	snprintf(key, sizeof key, "members/" OTHER, number);
	etcd_keys_put(key, text,
		(uint32_t)snprintf(text, sizeof text,
			"{\"id\":\"" OTHER "\",\"name\":\"o%u\",\"http\":\"\",\"wire\":\"\"}",
			number, number));
	snprintf(key, sizeof key, "alive/" OTHER, number);
	etcd_keys_put(
		key, text, (uint32_t)snprintf(text, sizeof text, "%" PRId64, now_ms + ahead_ms));
}

static void remove_other(uint32_t number)
{
	char key[64];

	snprintf(key, sizeof key, "alive/" OTHER, number);
	etcd_keys_delete(key);
}

static bool is_alone_in_its_time(void)
{
	struct cluster_status status;

	cluster_status(one.cluster, &status);
	return status.clock_is_odd;
}

// A leader that is an hour behind or ahead takes all requests for wrong ones. Of two that say two things one leads:
// nobody knows which of them is right.
static void whose_clock_is_odd_leaves_the_leadership_to_others(void **unused)
{
	uint32_t size;

	put_other(1, 3600000);
	put_other(2, 3600000 + 5000);
	member_start(&one);
	AWAIT(is_alone_in_its_time());
	usleep(500000); // longer than a turn of the keeper's
	assert_null(etcd_keys_get("leader", &size));
	remove_other(1); // it is remembered
	usleep(1200000); // longer than turns of the clerk's
	assert_true(is_alone_in_its_time());
	assert_false(one.leads);
	put_other(2, 5000);
	member_await_leadership(&one);
	assert_false(is_alone_in_its_time());
	put_other(1, -3600000);
	put_other(2, -3600000);
	AWAIT(is_alone_in_its_time());
	usleep(500000);
	assert_true(one.leads); // who leads is only told
	stop_and_close(&one);
}

// The answer to the transaction that made the key got lost, and so did that to the question whether it did.
static void who_leads_comes_to_know_it(void **unused)
{
	char member[64], alive[64];
	uint32_t size;

	put_stranger((int)LOG_FORMAT - 1);
	etcd_keys_put("alive/" STRANGER, "", 0); // so that it does not try by itself
	member_start(&one);
	AWAIT(sees_stranger(true));
	snprintf(member, sizeof member, "members/%s", one.identity.member);
	snprintf(alive, sizeof alive, "alive/%s", one.identity.member);
	uint8_t *json = etcd_keys_get(member, &size);
	assert_non_null(json);
	etcd_keys_put_beside("leader", json, size, alive);
	free(json);
	member_await_leadership(&one);
	stop_and_close(&one);
}

static uint64_t failovers_of(const struct member *m)
{
	return atomic_load(&cluster_etcd(m->cluster)->failovers);
}

// Of two endpoints the first is dead, which each leaves once. The member that has the first place comes back to it.
static void each_begins_with_another_endpoint(void **unused)
{
	char endpoints[2 * ETCD_SERVER_URL_BYTES];

	snprintf(endpoints, sizeof endpoints, "http://127.0.0.1:%u, %s", free_port(),
		etcd_keys_server()->url);
	one.endpoints = two.endpoints = endpoints;
	member_start(&one);
	member_await_leadership(&one);
	member_start(&two);
	assert_int_equal(member_register(&one, 1), OUTCOME_DONE);
	AWAIT(state_index(two.core.state) == state_index(one.core.state));
	bool is_one_first = strcmp(one.identity.member, two.identity.member) < 0;
	AWAIT(failovers_of(is_one_first ? &one : &two) >= 2);
	assert_int_equal(failovers_of(is_one_first ? &two : &one), 1);
	stop_and_close(&two);
	stop_and_close(&one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_all_have_is_cut, begin, end),
		cmocka_unit_test_setup_teardown(who_is_too_far_behind_takes_a_snapshot, begin, end),
		cmocka_unit_test_setup_teardown(who_restores_has_not_lost, begin, end),
		cmocka_unit_test_setup_teardown(another_state_is_told, begin, end),
		cmocka_unit_test_setup_teardown(another_cluster_is_not_followed, begin, end),
		cmocka_unit_test_setup_teardown(
			who_reads_less_is_not_led_by_who_writes_more, begin, end),
		cmocka_unit_test_setup_teardown(each_begins_with_another_endpoint, begin, end),
		cmocka_unit_test_setup_teardown(
			whose_clock_is_odd_leaves_the_leadership_to_others, begin, end),
		cmocka_unit_test_setup_teardown(who_leads_comes_to_know_it, begin, end),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, etcd_keys_begin, etcd_keys_end);
}
