// The order of ids against a sorted array with marks, whatever comes and goes.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/tables/id_order.h"
#include "state/tables/tables.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define IDS 4000u
#define TABLE STATE_EVALUATIONS

struct model {
	struct state *state;
	struct prng prng;
	struct uuid ids[IDS]; // sorted
	bool is_there[IDS];
};

static int by_id(const void *a, const void *b)
{
	return uuid_compare(a, b);
}

// Some ids differ in their last bytes only, and the least and the greatest of all are among them.
static struct model *model_create(void)
{
	struct model *m = memory_take(sizeof *m);
	prng_seed(&m->prng, 11);
	m->state = state_create(&(struct state_limits){64, 64, 64, 64, 4});
	assert_non_null(m->state);
	for (uint32_t i = 2; i < IDS; i++) {
		m->ids[i] = prng_uuid(&m->prng);
		if (i % 4 == 0)
			memset(m->ids[i].bytes, 7, 10);
	}
	memset(&m->ids[1], 0xff, sizeof m->ids[1]);
	qsort(m->ids, IDS, sizeof m->ids[0], by_id);
	return m;
}

static void model_destroy(struct model *m)
{
	state_destroy(m->state);
	free(m);
}

static void change_some(struct model *m, uint32_t changes, uint32_t come_percent)
{
	for (uint32_t c = 0; c < changes; c++) {
		uint32_t i = (uint32_t)prng_below(&m->prng, IDS);
		bool comes = prng_below(&m->prng, 100) < come_percent;
		if (comes == m->is_there[i])
			continue;
		m->is_there[i] = comes;
		id_order_note(m->state->tables[TABLE].ids, &m->ids[i], comes);
	}
}

static uint32_t expected_from(const struct model *m, const struct uuid *from, bool reverse,
	struct uuid *ids, uint32_t room)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < IDS && count < room; k++) {
		uint32_t i = reverse ? IDS - 1 - k : k;
		int order = uuid_compare(&m->ids[i], from);
		if (m->is_there[i] && (reverse ? order <= 0 : order >= 0))
			ids[count++] = m->ids[i];
	}
	return count;
}

static uint32_t expected_between(
	const struct model *m, const struct uuid *first, const struct uuid *last)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < IDS; i++)
		count += m->is_there[i] && uuid_compare(&m->ids[i], first) >= 0 &&
			 uuid_compare(&m->ids[i], last) <= 0;
	return count;
}

static void compare_somewhere(struct model *m)
{
	static struct uuid found[IDS], expected[IDS];
	struct uuid some = prng_uuid(&m->prng);
	const struct uuid *from =
		prng_below(&m->prng, 2) ? &some : &m->ids[prng_below(&m->prng, IDS)];
	const struct uuid *to = &m->ids[prng_below(&m->prng, IDS)];
	bool reverse = prng_below(&m->prng, 2);
	uint32_t room = (uint32_t)prng_below(&m->prng, prng_below(&m->prng, 2) ? 20 : IDS);
	uint32_t count = state_ids_from(m->state, TABLE, from, reverse, found, room);
	assert_int_equal(count, expected_from(m, from, reverse, expected, room));
	if (count)
		assert_memory_equal(found, expected, count * sizeof found[0]);
	assert_int_equal(
		state_ids_between(m->state, TABLE, from, to), expected_between(m, from, to));
}

static void is_the_order_of_what_is_there(void **unused)
{
	struct model *m = model_create();
	state_ids_settle(m->state, TABLE);
	for (uint32_t round = 0; round < 300; round++) {
		change_some(m, (uint32_t)prng_below(&m->prng, round % 10 ? 30 : 6000),
			round / 50 % 2 ? 20 : 80);
		state_ids_settle(m->state, TABLE);
		compare_somewhere(m);
	}
	change_some(m, 100000, 0);
	state_ids_settle(m->state, TABLE);
	compare_somewhere(m);
	model_destroy(m);
}

static void keeps_sixteen_bytes_an_id(void **unused)
{
	struct model *m = model_create();
	state_ids_settle(m->state, TABLE);
	change_some(m, 20000, 100);
	state_ids_settle(m->state, TABLE);
	struct uuid greatest = m->ids[IDS - 1];
	uint32_t count = state_ids_between(m->state, TABLE, &m->ids[0], &greatest);
	assert_true(count > IDS / 2);
	assert_in_range(state_ids_bytes(m->state, TABLE), count * 16, count * 17);
	model_destroy(m);
}

// What nobody asks for costs nothing, and changes that nobody takes are bounded.
static void keeps_nothing_until_somebody_asks(void **unused)
{
	struct model *m = model_create();
	change_some(m, 1000, 100);
	assert_int_equal(state_ids_bytes(m->state, TABLE), 0);
	state_ids_settle(m->state, TABLE);
	change_some(m, 1000, 100);
	assert_true(state_ids_bytes(m->state, TABLE) > 0);
	assert_true(state_ids_settle_soon(m->state, TABLE));
	state_ids_settle(m->state, TABLE);
	assert_true(state_ids_between(m->state, TABLE, &m->ids[0], &m->ids[IDS - 1]) > 0);
	for (uint32_t i = 0; i < 10000; i++)
		id_order_note(m->state->tables[TABLE].ids, &m->ids[i % IDS], true);
	assert_false(state_ids_settle_soon(m->state, TABLE));
	state_ids_settle(m->state, TABLE);
	assert_true(state_ids_settle_soon(m->state, TABLE));
	uint64_t settled_bytes = state_ids_bytes(m->state, TABLE);
	for (uint32_t i = 0; i < 1u << 20; i++) {
		id_order_note(m->state->tables[TABLE].ids, &m->ids[i % IDS], true);
		assert_true(state_ids_bytes(m->state, TABLE) <= settled_bytes + (24u << 20));
	}
	assert_int_equal(state_ids_bytes(m->state, TABLE), settled_bytes);
	// The order is made again, of the records of the state: it has none.
	state_ids_settle(m->state, TABLE);
	assert_int_equal(state_ids_between(m->state, TABLE, &m->ids[0], &m->ids[IDS - 1]), 0);
	assert_true(state_ids_settle_soon(m->state, TABLE));
	model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_order_of_what_is_there),
		cmocka_unit_test(keeps_sixteen_bytes_an_id),
		cmocka_unit_test(keeps_nothing_until_somebody_asks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
