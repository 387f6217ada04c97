#include "placement/direct/slot_queue.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS 5000u

static void slots_are_taken_in_the_order_in_which_they_came(void **state)
{
	struct slot_queue q = {0};
	for (uint32_t i = 0; i < SLOTS; i++)
		slot_queue_add(&q, i * 7919 % SLOTS);
	slot_queue_add(&q, 0); // waits already
	assert_int_equal(slot_queue_waiting(&q), SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++) {
		assert_int_equal(slot_queue_behind(&q, (SLOTS - 1 - i) / 2),
			(i + (SLOTS - 1 - i) / 2) * 7919 % SLOTS);
		assert_int_equal(slot_queue_take(&q), i * 7919 % SLOTS);
	}
	assert_int_equal(slot_queue_waiting(&q), 0);
	slot_queue_release(&q);
}

struct model {
	uint32_t slots[SLOTS];
	uint32_t count;
	bool is_in[SLOTS];
};

static void model_add(struct model *m, uint32_t slot)
{
	if (!m->is_in[slot])
		m->slots[m->count++] = slot;
	m->is_in[slot] = true;
}

static uint32_t model_take(struct model *m)
{
	uint32_t slot = m->slots[0];
	memmove(m->slots, m->slots + 1, --m->count * sizeof m->slots[0]);
	m->is_in[slot] = false;
	return slot;
}

// The queue is seldom empty, and its room stays in proportion to what waits at once.
static void a_long_run_agrees_with_a_list(void **state)
{
	static struct model m;
	struct slot_queue q = {0};
	struct prng prng;
	prng_seed(&prng, 5);
	for (uint32_t i = 0; i < 200000; i++) {
		bool adds = prng_below(&prng, 2000) + 1 > m.count;
		if (adds) {
			uint32_t slot = (uint32_t)prng_below(&prng, SLOTS);
			slot_queue_add(&q, slot);
			model_add(&m, slot);
		} else {
			assert_int_equal(slot_queue_take(&q), model_take(&m));
		}
		assert_int_equal(slot_queue_waiting(&q), m.count);
	}
	assert_true(q.room <= 4096);
	while (m.count > 0)
		assert_int_equal(slot_queue_take(&q), model_take(&m));
	slot_queue_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_taken_in_the_order_in_which_they_came),
		cmocka_unit_test(a_long_run_agrees_with_a_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
