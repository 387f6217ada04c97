// The forwarder without a server: what waits, what is given up, and how much is under way.
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "tools/api/forward/forwarder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static _Atomic int role, knows_leader;
static _Atomic uint32_t woken;

static void tell(void *context, struct cluster_status *status)
{
	*status = (struct cluster_status){
		.role = (enum cluster_role)role, .knows_leader = knows_leader, .term = 3};
	// Nobody listens there.
	snprintf(status->leader.http, sizeof status->leader.http, "http://127.0.0.1:1");
	snprintf(status->leader.id, sizeof status->leader.id, "leader");
}

static void note_wake(void *context)
{
	woken++;
}

static struct forwarder *start(uint32_t hold_ms)
{
	struct forwarder *f;
	const struct forwarder_settings settings = {
		.cluster = tell, .hold_ms = hold_ms, .time = &time_source_real, .wake = note_wake};
	assert_int_equal(forwarder_start(&settings, &f), 0);
	woken = 0;
	return f;
}

static struct exchange *begun(struct forwarder *f, const char *method)
{
	struct exchange *x = exchange_create(method, "/v1/jobs", NULL, 0);
	assert_true(forwarder_begin(f, x));
	return x;
}

static void await_stage(struct exchange *x, enum exchange_stage stage)
{
	for (int i = 0; i < 2000 && exchange_stage_of(x) != stage; i++)
		usleep(5000);
	assert_int_equal(exchange_stage_of(x), stage);
	for (int i = 0; i < 2000 && !woken; i++)
		usleep(1000);
	assert_int_equal(woken, 1);
}

static void await_none(struct forwarder *f)
{
	struct forward_counts counts;
	for (int i = 0; i < 2000; i++) {
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
		cmocka_unit_test(what_waits_is_for_whoever_takes_over),
		cmocka_unit_test(only_so_many_are_under_way),
		cmocka_unit_test(only_so_many_ask_for_another_protocol),
		cmocka_unit_test(bodies_are_bounded_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
