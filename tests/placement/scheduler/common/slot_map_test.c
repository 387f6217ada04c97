#include "placement/scheduler/common/slot_map.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLOTS 3000u

static void numbers_stay_with_their_slots(void **state)
{
	struct slot_map map;
	struct prng prng;
	uint32_t model[SLOTS] = {0};

	prng_seed(&prng, 1);
	slot_map_begin(&map, SLOTS);
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t slot = (uint32_t)prng_below(&prng, SLOTS);
		model[slot] = (uint32_t)prng_below(&prng, 5);
		slot_map_put(&map, slot, model[slot]);
	}
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		assert_int_equal(slot_map_get(&map, slot), model[slot]);
	assert_int_equal(slot_map_get(&map, SLOTS), 0);
	assert_int_equal(slot_map_get(&map, UINT32_MAX), 0);
	slot_map_release(&map);
}

static void the_last_slot_of_a_full_page_has_its_place(void **state)
{
	struct slot_map map;

	slot_map_begin(&map, 2 * SLOT_MAP_PAGE);
	slot_map_put(&map, 2 * SLOT_MAP_PAGE - 1, 9);
	assert_int_equal(slot_map_get(&map, 2 * SLOT_MAP_PAGE - 1), 9);
	assert_int_equal(slot_map_get(&map, 2 * SLOT_MAP_PAGE - 2), 0);
	assert_int_equal(slot_map_get(&map, 2 * SLOT_MAP_PAGE), 0);
	slot_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay_with_their_slots),
		cmocka_unit_test(the_last_slot_of_a_full_page_has_its_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
