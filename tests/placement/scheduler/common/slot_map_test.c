#include "placement/scheduler/common/slot_map.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLOTS 3000u

static void numbers_stay_with_their_slots(void **state)
{
	struct arena arena = {0};
	struct slot_map map;
	struct prng prng;
	uint32_t model[SLOTS] = {0};

	prng_seed(&prng, 1);
	slot_map_begin(&map, SLOTS, &arena);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t slot = (uint32_t)prng_below(&prng, SLOTS);
		model[slot] = (uint32_t)prng_below(&prng, 5);
		slot_map_put(&map, slot, model[slot]);
	}
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		assert_int_equal(slot_map_get(&map, slot), model[slot]);
	assert_int_equal(slot_map_get(&map, SLOTS), 0);
	assert_int_equal(slot_map_get(&map, UINT32_MAX), 0);
	arena_release(&arena);
}

static void the_last_slot_of_a_full_page_has_its_place(void **state)
{
	struct arena arena = {0};
	struct slot_map map;

	slot_map_begin(&map, 2 * SLOT_MAP_PAGE, &arena);
	slot_map_put(&map, 2 * SLOT_MAP_PAGE - 1, 9);
	assert_int_equal(slot_map_get(&map, 2 * SLOT_MAP_PAGE - 1), 9);
	assert_int_equal(slot_map_get(&map, 2 * SLOT_MAP_PAGE - 2), 0);
	assert_int_equal(slot_map_get(&map, 2 * SLOT_MAP_PAGE), 0);
	arena_release(&arena);
}

#define FAR_SLOTS 10000000u
#define FAR_NUMBERS 5000u

// Few slots of a large fleet, anywhere: pages collide, and nothing is kept for the others.
static void a_map_is_as_large_as_what_is_in_it(void **state)
{
	struct arena arena = {0};
	struct slot_map map;
	struct prng prng;
	uint32_t slots[FAR_NUMBERS];

	prng_seed(&prng, 2);
	slot_map_begin(&map, FAR_SLOTS, &arena);
	assert_null(map.entries);
	for (uint32_t i = 0; i < FAR_NUMBERS; i++) {
		slots[i] = (uint32_t)prng_below(&prng, FAR_SLOTS / 8) * 8;
		slot_map_put(&map, slots[i], slots[i] + 1);
		assert_true(map.page_count <= i + 1);
		assert_true(map.mask < 16 || map.mask < 4 * map.page_count);
		assert_true(2 * map.page_count <= map.mask + 1); // so that a search ends soon
	}
	for (uint32_t i = 0; i < FAR_NUMBERS; i++) {
		assert_int_equal(slot_map_get(&map, slots[i]), slots[i] + 1);
		assert_int_equal(slot_map_get(&map, slots[i] + 1), 0);
		assert_int_equal(slot_map_get(&map, slots[i] ^ 3), 0);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay_with_their_slots),
		cmocka_unit_test(the_last_slot_of_a_full_page_has_its_place),
		cmocka_unit_test(a_map_is_as_large_as_what_is_in_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
