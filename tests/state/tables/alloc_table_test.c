// How allocations are found, and what their versions hold of their own.
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct placed {
	struct controller c;
	struct command_place place;
};

static void build(struct placed *p)
{
	static const struct resources small = {1000, 1000, 100};

	controller_init(&p->c, (struct state_limits){0});
	controller_open(&p->c);
	controller_register(&p->c, 1, NULL);
	controller_job(&p->c, build_job("web", &small, 1));
	controller_place(&p->c, "ann", "web", 1, 3, &p->place);
	state_read_begin();
}

static void finish(struct placed *p)
{
	state_read_end();
	controller_verify(&p->c);
	controller_free(&p->c);
}

static void the_newest_of_a_node_are_found_without_the_table(void **unused)
{
	struct placed p;

	build(&p);
	struct cds_lfht *table = p.c.state->tables[STATE_ALLOCATIONS].hash.buckets;
	for (uint32_t i = 0; i < 3; i++) {
		const struct uuid *id = &p.place.items[i].allocation;
		struct alloc_cell *cell = alloc_cell_find(p.c.state, id);
		assert_non_null(cell);
		assert_int_equal(cds_lfht_del(table, &cell->by_id), 0);
		assert_null(alloc_cell_find(p.c.state, id));
		assert_ptr_equal(alloc_cell_find_near(p.c.state, id, 0), cell);
		cds_lfht_node_init(&cell->by_id);
		cds_lfht_add(table, uuid_hash(id), &cell->by_id);
	}
	finish(&p);
}

static void readers_find_what_is_published(void **unused)
{
	struct placed p;

	build(&p);
	const struct uuid *id = &p.place.items[0].allocation;
	struct alloc_cell *cell = alloc_cell_find(p.c.state, id);
	struct allocation *published = cell->published;
	assert_ptr_equal(state_allocation(p.c.state, id), published);
	cell->published = NULL;
	assert_null(state_allocation(p.c.state, id));
	assert_ptr_equal(alloc_cell_find(p.c.state, id), cell);
	cell->published = published;
	finish(&p);
}

static void only_those_with_devices_have_room_for_them(void **unused)
{
	struct allocation a = {.devices = NULL};
	struct device_set held = {{0, 6}};

	assert_true(device_set_is_empty(allocation_devices(&a)));
	allocation_set_devices(&a, &held);
	assert_ptr_not_equal(a.devices, &held);
	held.groups[1] = 2;
	assert_int_equal(allocation_devices(&a)->groups[1], 6);
	allocation_set_devices(&a, allocation_devices(&a));
	assert_int_equal(allocation_devices(&a)->groups[1], 6);
	allocation_set_devices(&a, &(struct device_set){{0}});
	assert_null(a.devices);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_of_a_node_are_found_without_the_table),
		cmocka_unit_test(readers_find_what_is_published),
		cmocka_unit_test(only_those_with_devices_have_room_for_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
