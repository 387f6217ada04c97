// Who is silent, on a manual clock: nobody waits here.
#include "dataplane/hot/liveness.h"
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tests/dataplane/hot/fleet.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define STALL_MS 500u
#define STEP_MS 10u

// A worker's loop without packets: ticks and sweeps. Nodes below beating beat every second.
struct loop {
	struct fleet *fleet;
	struct manual_time time;
	struct liveness_clock clock;
	uint64_t missed;
	uint32_t cursor, beating;
};

static void loop_start(struct loop *l)
{
	*l = (struct loop){.fleet = fleet_create(), .time.monotonic_ns = 5000 * NS_PER_MS};
	liveness_clock_start(&l->clock, l->time.monotonic_ns, STALL_MS);
	struct hot_worker *w = &l->fleet->worker;
	w->now_ms = liveness_clock_tick(
		&l->clock, l->time.monotonic_ns, l->missed, &l->fleet->counters);
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		liveness_arm(w->table, slot, w->now_ms);
}

static void loop_turn(struct loop *l, uint64_t gap_ms)
{
	struct hot_worker *w = &l->fleet->worker;
	manual_time_advance_ms(&l->time, gap_ms);
	w->now_ms = liveness_clock_tick(
		&l->clock, l->time.monotonic_ns, l->missed, &l->fleet->counters);
	if (l->time.monotonic_ns / NS_PER_MS % 1000 < gap_ms)
		for (uint32_t slot = 0; slot < l->beating; slot++)
			liveness_arm(w->table, slot, w->now_ms);
	liveness_sweep(w, &l->cursor, NODE_BLOCK_SLOTS);
}

static void loop_run(struct loop *l, uint64_t ms)
{
	for (uint64_t passed = 0; passed < ms; passed += STEP_MS)
		loop_turn(l, STEP_MS);
}

static uint32_t expired_count(const struct loop *l)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < l->fleet->report_count; i++)
		n += l->fleet->reports[i].kind == REPORT_EXPIRED;
	return n;
}

static void clock_follows_time_however_small_its_steps(void **state)
{
	struct hot_counters counters = {0};
	struct liveness_clock clock;
	liveness_clock_start(&clock, 77, STALL_MS);
	uint64_t now_ns = 77;
	uint32_t ms = 0;
	for (uint32_t i = 0; i < 100000; i++) // less than a microsecond each
		ms = liveness_clock_tick(&clock, now_ns += 130, 0, &counters);
	assert_int_equal(ms, 13);
	assert_int_equal(counters.clock_ms, 13);
	assert_int_equal(counters.stalls, 0);
}

static void clock_freezes_over_a_stall(void **state)
{
	struct hot_counters counters = {0};
	struct liveness_clock clock;
	uint64_t now_ns = 0;
	liveness_clock_start(&clock, now_ns, STALL_MS);
	uint32_t before = liveness_clock_tick(&clock, now_ns += 100 * NS_PER_MS, 0, &counters);
	assert_int_equal(before, 100);
	uint32_t after =
		liveness_clock_tick(&clock, now_ns += (STALL_MS * NS_PER_MS) + 1, 0, &counters);
	assert_int_equal(after, before);
	assert_int_equal(counters.stalls, 1);
	assert_int_equal(counters.stalled_ms, STALL_MS);
	assert_int_equal(liveness_clock_tick(&clock, now_ns += STALL_MS * NS_PER_MS, 0, &counters),
		100 + STALL_MS); // as long as allowed
	assert_int_equal(counters.stalls, 1);
}

static void clock_freezes_while_packets_are_lost(void **state)
{
	struct hot_counters counters = {0};
	struct liveness_clock clock;
	uint64_t now_ns = 0;
	liveness_clock_start(&clock, now_ns, STALL_MS);
	liveness_clock_tick(&clock, now_ns += 50 * NS_PER_MS, 0, &counters);
	// Losses seen all through two seconds: frozen from the first until a while after the last.
	for (uint32_t i = 1; i <= 20; i++)
		assert_int_equal(
			liveness_clock_tick(&clock, now_ns += 100 * NS_PER_MS, i, &counters), 50);
	assert_int_equal(counters.stalls, 1);
	for (uint32_t i = 1; i < LIVENESS_HOLD_MS; i++)
		assert_int_equal(
			liveness_clock_tick(&clock, now_ns += NS_PER_MS, 20, &counters), 50);
	assert_int_equal(counters.stalled_ms, 2000 + LIVENESS_HOLD_MS - 1);
	assert_int_equal(liveness_clock_tick(&clock, now_ns += NS_PER_MS, 20, &counters), 51);
	assert_int_equal(
		liveness_clock_tick(&clock, now_ns += 100 * NS_PER_MS, 20, &counters), 151);
}

static void clock_never_shows_the_value_that_means_something_else(void **state)
{
	struct hot_counters counters = {0};
	struct liveness_clock clock;
	liveness_clock_start(&clock, 0, STALL_MS);
	assert_int_equal(liveness_clock_tick(&clock, 0, 0, &counters), 1);
	clock.elapsed_ns = 0xffffffffull * NS_PER_MS;
	assert_int_equal(liveness_clock_tick(&clock, 0, 0, &counters), 0xffffffff);
	assert_int_equal(liveness_clock_tick(&clock, NS_PER_MS, 0, &counters), 1);
	assert_int_equal(liveness_clock_tick(&clock, 2 * NS_PER_MS, 0, &counters), 1);
	assert_int_equal(liveness_clock_tick(&clock, 3 * NS_PER_MS, 0, &counters), 2);
}

static void silent_nodes_expire_and_beating_ones_do_not(void **state)
{
	struct loop l;
	loop_start(&l);
	l.beating = 10;
	loop_run(&l, FLEET_TTL_MS);
	assert_int_equal(expired_count(&l), 0);
	loop_run(&l, 100);
	assert_int_equal(expired_count(&l), FLEET_NODES - 10);
	assert_int_equal(l.fleet->counters.expired, FLEET_NODES - 10);
	for (uint32_t i = 0; i < l.fleet->report_count; i++) {
		assert_in_range(l.fleet->reports[i].slot, 10, FLEET_NODES - 1);
		assert_int_equal(l.fleet->reports[i].generation, l.fleet->reports[i].slot + 1);
	}
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		assert_int_equal(l.fleet->table->lines[slot].flags, slot < 10 ? 0 : NODE_LINE_DOWN);
	loop_run(&l, 10 * FLEET_TTL_MS); // once each
	assert_int_equal(expired_count(&l), FLEET_NODES - 10);
	fleet_destroy(l.fleet);
}

static void a_stopped_worker_expires_nobody(void **state)
{
	struct loop l;
	loop_start(&l);
	l.beating = FLEET_NODES;
	loop_run(&l, FLEET_TTL_MS - 100);
	l.beating = 0; // from here on nothing is heard
	loop_turn(&l, 10000);
	loop_turn(&l, 10000);
	loop_turn(&l, 3600 * 1000);
	assert_int_equal(expired_count(&l), 0);
	assert_int_equal(l.fleet->counters.stalls, 3);
	assert_int_equal(l.fleet->counters.stalled_ms, 3620 * 1000);
	// Every deadline has moved by the gaps: the nodes have all of their time left.
	loop_run(&l, FLEET_TTL_MS - 1000);
	assert_int_equal(expired_count(&l), 0);
	loop_run(&l, 1200);
	assert_int_equal(expired_count(&l), FLEET_NODES);
	fleet_destroy(l.fleet);
}

static void lost_packets_expire_nobody(void **state)
{
	struct loop l;
	loop_start(&l);
	for (uint32_t i = 0; i < 4 * FLEET_TTL_MS / 100; i++) {
		l.missed += 7; // an overload that lasts
		loop_run(&l, 100);
	}
	assert_int_equal(expired_count(&l), 0);
	loop_run(&l, FLEET_TTL_MS + LIVENESS_HOLD_MS + 100);
	assert_int_equal(expired_count(&l), FLEET_NODES);
	fleet_destroy(l.fleet);
}

// A flood that lasts delays the judgement for a while, and not for ever.
static void a_flood_does_not_keep_the_dead_alive(void **state)
{
	struct loop l;
	loop_start(&l);
	for (uint32_t i = 0; i < (LIVENESS_LOSS_MS_MAX + 2 * FLEET_TTL_MS + 1000) / 100; i++) {
		l.missed += 7;
		loop_run(&l, 100);
	}
	assert_int_equal(expired_count(&l), FLEET_NODES);
	// From here on the clock stands still half of the time.
	uint32_t before = l.fleet->worker.now_ms;
	for (uint32_t i = 0; i < 2 * LIVENESS_LOSS_MS_MAX / 100; i++) {
		l.missed += 7;
		loop_run(&l, 100);
	}
	assert_in_range(l.fleet->worker.now_ms - before, LIVENESS_LOSS_MS_MAX - 1000,
		LIVENESS_LOSS_MS_MAX + 1000);
	fleet_destroy(l.fleet);
}

static void grace_after_a_restart_is_on_top_of_the_ttl(void **state)
{
	struct loop l;
	loop_start(&l);
	const uint32_t grace_ms = 30000;
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		liveness_arm(l.fleet->table, slot, l.fleet->worker.now_ms + grace_ms);
	loop_run(&l, grace_ms + FLEET_TTL_MS);
	assert_int_equal(expired_count(&l), 0);
	loop_run(&l, 100);
	assert_int_equal(expired_count(&l), FLEET_NODES);
	fleet_destroy(l.fleet);
}

static void thirty_two_bits_may_wrap(void **state)
{
	struct loop l;
	loop_start(&l);
	l.clock.elapsed_ns = (0x100000000ull - 5000) * NS_PER_MS;
	loop_turn(&l, 0);
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		liveness_arm(l.fleet->table, slot, l.fleet->worker.now_ms);
	l.beating = 10;
	loop_run(&l, FLEET_TTL_MS);
	assert_true(l.fleet->worker.now_ms < 20000); // it has
	assert_int_equal(expired_count(&l), 0);
	loop_run(&l, 100);
	assert_int_equal(expired_count(&l), FLEET_NODES - 10);
	// A time that falls on a value that means something else is armed all the same.
	liveness_arm(l.fleet->table, 0, NODE_NOT_ARMED);
	assert_int_equal(l.fleet->table->last_heard_ms[0], NODE_NOT_ARMED + 1);
	fleet_destroy(l.fleet);
}

static void full_rings_only_defer(void **state)
{
	struct loop l;
	loop_start(&l);
	l.fleet->reports_left = 5;
	loop_run(&l, FLEET_TTL_MS + 100);
	assert_int_equal(expired_count(&l), 5);
	assert_true(l.fleet->counters.reports_deferred > 0);
	l.fleet->reports_left = UINT32_MAX;
	loop_run(&l, 100);
	assert_int_equal(expired_count(&l), FLEET_NODES);
	bool seen[FLEET_NODES] = {false};
	for (uint32_t i = 0; i < l.fleet->report_count; i++) {
		assert_false(seen[l.fleet->reports[i].slot]);
		seen[l.fleet->reports[i].slot] = true;
	}
	fleet_destroy(l.fleet);
}

static void a_deferred_return_is_tried_again(void **state)
{
	struct loop l;
	loop_start(&l);
	struct node_table *table = l.fleet->table;
	const uint32_t heard_elsewhere = l.fleet->worker.now_ms - LIVENESS_HEARD_ELSEWHERE_MS;
	table->lines[3].flags = NODE_LINE_DOWN;
	table->last_heard_ms[3] = heard_elsewhere;
	l.fleet->reports_left = 0;
	loop_run(&l, 100);
	assert_int_equal(table->lines[3].flags, NODE_LINE_DOWN);
	assert_int_equal(table->last_heard_ms[3], heard_elsewhere);
	l.fleet->reports_left = 1;
	loop_run(&l, 100);
	assert_int_equal(l.fleet->report_count, 1);
	assert_int_equal(l.fleet->counters.returned, 1);
	assert_int_equal(table->lines[3].flags, 0);
	// The owner heard it first, and the other worker's note came late: nothing is reported.
	table->last_heard_ms[3] = heard_elsewhere;
	loop_run(&l, 100);
	assert_int_equal(l.fleet->report_count, 1);
	assert_in_range(l.fleet->worker.now_ms - table->last_heard_ms[3], 0, 100);
	fleet_destroy(l.fleet);
}

static void a_return_without_room_waits_for_the_sweep_alone(void **state)
{
	struct loop l;
	loop_start(&l);
	struct route route = route_from(1, false, false);
	uint8_t frame[FRAME_BYTES_MAX], data[PACKET_BYTES_MAX];
	static const uint8_t flags[] = {NODE_LINE_DOWN, NODE_LINE_NEW};
	for (uint32_t slot = 0; slot < sizeof flags; slot++) {
		l.fleet->table->lines[slot].flags = flags[slot];
		l.fleet->reports_left = 0;
		uint32_t bytes = fleet_heartbeat(l.fleet, slot, 1, frame);
		fleet_receive(l.fleet, data, udp_build(&route, frame, bytes, data));
		loop_run(&l, 100);
		assert_int_equal(l.fleet->report_count, slot);
		l.fleet->reports_left = 1;
		loop_run(&l, 100);
		assert_int_equal(l.fleet->report_count, slot + 1);
		assert_int_equal(l.fleet->reports[slot].kind, REPORT_RETURNED);
		assert_int_equal(l.fleet->table->lines[slot].flags, 0);
	}
	fleet_destroy(l.fleet);
}

static void expiry_and_return_follow_each_other(void **state)
{
	struct loop l;
	loop_start(&l);
	struct route route = route_from(1, false, false);
	uint8_t frame[FRAME_BYTES_MAX], data[PACKET_BYTES_MAX];
	l.beating = FLEET_NODES - 1; // all but the last
	for (uint32_t round = 0; round < 3; round++) {
		loop_run(&l, FLEET_TTL_MS + 100);
		assert_int_equal(l.fleet->report_count, 2 * round + 1);
		assert_int_equal(l.fleet->reports[2 * round].kind, REPORT_EXPIRED);
		assert_int_equal(l.fleet->reports[2 * round].slot, FLEET_NODES - 1);
		uint32_t bytes = fleet_heartbeat(l.fleet, FLEET_NODES - 1, round + 1, frame);
		fleet_receive(l.fleet, data, udp_build(&route, frame, bytes, data));
		assert_int_equal(l.fleet->report_count, 2 * round + 2);
		assert_int_equal(l.fleet->reports[2 * round + 1].kind, REPORT_RETURNED);
	}
	fleet_destroy(l.fleet);
}

static void slots_that_are_gone_are_disarmed_quietly(void **state)
{
	struct loop l;
	loop_start(&l);
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		l.fleet->table->lines[slot].generation = 0;
	loop_run(&l, FLEET_TTL_MS + 100);
	assert_int_equal(l.fleet->report_count, 0);
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++)
		assert_int_equal(l.fleet->table->last_heard_ms[slot], NODE_NOT_ARMED);
	fleet_destroy(l.fleet);
}

// Another worker that had not seen yet that the node is down armed it once more.
static void a_node_that_is_down_does_not_expire_again(void **state)
{
	struct loop l;
	loop_start(&l);
	l.beating = FLEET_NODES;
	l.fleet->table->lines[3].flags = NODE_LINE_DOWN;
	loop_run(&l, 2000);
	l.beating = 0;
	loop_run(&l, FLEET_TTL_MS + 1100);
	assert_int_equal(expired_count(&l), FLEET_NODES - 1);
	assert_int_equal(l.fleet->table->last_heard_ms[3], NODE_NOT_ARMED);
	assert_int_equal(l.fleet->table->lines[3].flags, NODE_LINE_DOWN);
	fleet_destroy(l.fleet);
}

// Random columns, budgets and owners: what one round reports is what a naive look at each slot reports.
static void one_round_of_slices_looks_at_each_own_slot_once(void **state)
{
	struct prng prng;
	prng_seed(&prng, 7);
	for (uint32_t round = 0; round < 200; round++) {
		struct fleet *f = fleet_create();
		struct hot_worker *w = &f->worker;
		uint32_t used = 1 + (uint32_t)prng_below(&prng, FLEET_SLOTS), own = 0, expected = 0;
		f->table->slots_used = used;
		f->table->block_owner[0] = (uint16_t)prng_below(&prng, 2);
		f->table->block_owner[1] = (uint16_t)prng_below(&prng, 2);
		w->now_ms = (uint32_t)prng_u64(&prng) | 1;
		memset((void *)f->table->last_heard_ms, 0, FLEET_SLOTS * 4);
		for (uint32_t i = 0; i < 40; i++) {
			uint32_t slot = (uint32_t)prng_below(&prng, FLEET_SLOTS);
			f->table->lines[slot].generation = 1;
			uint32_t ago = (uint32_t)prng_below(&prng, 2 * FLEET_TTL_MS + 2);
			liveness_arm(f->table, slot, w->now_ms - ago);
		}
		for (uint32_t slot = 0; slot < used; slot++) {
			bool ours = node_table_owner(f->table, slot) == w->number;
			uint32_t heard_ms = f->table->last_heard_ms[slot];
			own += ours;
			expected += ours && heard_ms != NODE_NOT_ARMED &&
				    w->now_ms - heard_ms > FLEET_TTL_MS;
		}
		uint32_t cursor = (uint32_t)prng_below(&prng, FLEET_SLOTS), swept = 0;
		uint32_t budget = 1 + (uint32_t)prng_below(&prng, 500);
		while (swept < own) {
			uint32_t slice = liveness_sweep(w, &cursor, budget);
			assert_in_range(slice, 1, budget);
			swept += slice;
		}
		assert_int_equal(f->report_count, expected);
		if (own == 0)
			assert_int_equal(liveness_sweep(w, &cursor, budget), 0);
		fleet_destroy(f);
	}
}

static void an_empty_table_is_swept_at_once(void **state)
{
	struct fleet *f = fleet_create();
	uint32_t cursor = 0;
	f->table->slots_used = 0;
	assert_int_equal(liveness_sweep(&f->worker, &cursor, 1000), 0);
	fleet_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clock_follows_time_however_small_its_steps),
		cmocka_unit_test(clock_freezes_over_a_stall),
		cmocka_unit_test(clock_freezes_while_packets_are_lost),
		cmocka_unit_test(clock_never_shows_the_value_that_means_something_else),
		cmocka_unit_test(silent_nodes_expire_and_beating_ones_do_not),
		cmocka_unit_test(a_stopped_worker_expires_nobody),
		cmocka_unit_test(lost_packets_expire_nobody),
		cmocka_unit_test(a_flood_does_not_keep_the_dead_alive),
		cmocka_unit_test(grace_after_a_restart_is_on_top_of_the_ttl),
		cmocka_unit_test(thirty_two_bits_may_wrap),
		cmocka_unit_test(full_rings_only_defer),
		cmocka_unit_test(a_deferred_return_is_tried_again),
		cmocka_unit_test(a_return_without_room_waits_for_the_sweep_alone),
		cmocka_unit_test(expiry_and_return_follow_each_other),
		cmocka_unit_test(slots_that_are_gone_are_disarmed_quietly),
		cmocka_unit_test(a_node_that_is_down_does_not_expire_again),
		cmocka_unit_test(one_round_of_slices_looks_at_each_own_slot_once),
		cmocka_unit_test(an_empty_table_is_swept_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
