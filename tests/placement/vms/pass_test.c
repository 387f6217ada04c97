// Withdrawn proposals, and machines of one shape.
#include "placement/vms/pass.h"
#include "placement/vms/shapes.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { VMS = 3 };

struct stage {
	struct vm *vms[VMS];
	struct vm_worker *worker;
	const struct vm_worker *workers[1];
	struct vm_roster roster;
	struct vm_pass *pass;
	struct cluster_settings settings;
};

static void put_cores(struct array *resources, int64_t count)
{
	struct named_count *r = map_item(resources, sizeof *r, "cores");
	r->count = count;
}

// Three machines, the oldest first, that ask for so many cores, and a worker that has `has`.
static void open_stage(struct stage *s, const int64_t *cores, int64_t has)
{
	static const char *const names[VMS] = {"a", "b", "c"};
	*s = (struct stage){.worker = vm_worker_create()};
	for (uint32_t i = 0; i < VMS; i++) {
		s->vms[i] = vm_create();
		s->vms[i]->name = text_copy(text_of(names[i]));
		s->vms[i]->created_at_ns = i + 1;
		put_cores(&s->vms[i]->resources, cores[i]);
	}
	s->worker->name = text_copy(TEXT("k"));
	s->worker->beats = true;
	put_cores(&s->worker->resources, has);
	s->workers[0] = s->worker;
	s->roster = (struct vm_roster){.vms = (const struct vm *const *)s->vms,
		.vm_count = VMS,
		.workers = s->workers,
		.worker_count = 1,
		.now_ns = 10,
		.offline_after_ns = 1000};
	vm_roster_order(&s->roster);
	s->pass = vm_pass_begin(&s->roster, &s->settings);
}

static void close_stage(struct stage *s)
{
	vm_pass_end(s->pass);
	vm_roster_free(&s->roster);
	for (uint32_t i = 0; i < VMS; i++)
		vm_free(s->vms[i]);
	vm_worker_free(s->worker);
}

static struct vm_proposal propose_one(struct stage *s, uint32_t vm)
{
	struct vm_proposal p[VMS];
	assert_int_equal(vm_pass_propose(s->pass, p, VMS), 1);
	assert_ptr_equal(p[0].vm, s->vms[vm]);
	assert_ptr_equal(p[0].worker, s->worker);
	return p[0];
}

static void expect_no_more(struct stage *s)
{
	struct vm_proposal p[VMS];
	assert_int_equal(vm_pass_propose(s->pass, p, VMS), 0);
}

// A vanished machine leaves its room to the next one, which has its shape and found nothing before, and to a smaller
// one.
static void what_is_withdrawn_is_room_for_others(void **state)
{
	static const int64_t cores[VMS] = {2, 2, 1};
	struct stage s;
	open_stage(&s, cores, 2);
	struct vm_proposal first = propose_one(&s, 0);
	expect_no_more(&s);
	vm_pass_withdraw(s.pass, &first, false);
	struct vm_proposal second = propose_one(&s, 1);
	vm_pass_withdraw(s.pass, &second, false);
	(void)propose_one(&s, 2);
	expect_no_more(&s);
	close_stage(&s);
}

// After a refusal a worker gets no machine of that shape again, but may get one of another shape.
static void a_refusal_is_for_the_whole_shape(void **state)
{
	static const int64_t cores[VMS] = {2, 2, 1};
	struct stage s;
	open_stage(&s, cores, 2);
	struct vm_proposal first = propose_one(&s, 0);
	vm_pass_withdraw(s.pass, &first, true);
	(void)propose_one(&s, 2);
	expect_no_more(&s);
	close_stage(&s);
}

static void machines_that_ask_alike_are_of_one_shape(void **state)
{
	static const int64_t cores[VMS] = {2, 1, 2};
	struct vm_shapes shapes;
	uint32_t numbers[VMS];
	struct stage s;
	open_stage(&s, cores, 2);
	vm_shapes_find(&shapes, s.roster.vms, VMS, 65, numbers);
	assert_int_equal(shapes.count, 2);
	assert_int_equal(shapes.words, 2);
	assert_int_equal(numbers[0], numbers[2]);
	assert_int_not_equal(numbers[0], numbers[1]);
	struct vm_shape *two = &shapes.shapes[numbers[0]], *one = &shapes.shapes[numbers[1]];
	assert_int_equal(two->machines, 2);
	assert_int_equal(one->machines, 1);
	for (uint32_t worker = 63; worker < 65; worker++) {
		vm_shape_lacks(&shapes, two, worker);
		vm_shape_lacks(&shapes, one, worker); // the only one of its shape: nothing is kept
		assert_true(vm_shape_is_out(two, worker));
		assert_false(vm_shape_is_out(one, worker));
	}
	vm_shape_refused(&shapes, one, 64);
	two->is_exhausted = true;
	vm_shapes_room(&shapes, 64);
	assert_false(vm_shape_is_out(two, 64));
	assert_true(vm_shape_is_out(two, 63));
	assert_true(vm_shape_is_out(one, 64)); // what is refused stays so
	assert_false(two->is_exhausted);
	vm_shapes_free(&shapes);
	close_stage(&s);
}

static uint32_t placed_with(struct stage *s, bool count_assigned)
{
	struct vm_proposal proposals[VMS];
	vm_pass_end(s->pass);
	s->settings.count_assigned = count_assigned;
	s->pass = vm_pass_begin(&s->roster, &s->settings);
	return vm_pass_propose(s->pass, proposals, VMS);
}

static void put_resource(struct stage *s, const char *name, int64_t count)
{
	((struct named_count *)map_item(&s->worker->resources, sizeof(struct named_count), name))
		->count = count;
}

// Row D16: machines that ask for nothing have their share of what the worker names.
static void what_is_assigned_takes_room(void **state)
{
	static const int64_t cores[VMS] = {0, 0, 0};
	struct stage s;
	open_stage(&s, cores, 100);
	assert_int_equal(placed_with(&s, true), VMS); // of memory the worker says nothing
	put_resource(&s, VM_RESOURCE_MEMORY, 2 * VM_DEFAULT_MEMORY_MIB);
	assert_int_equal(placed_with(&s, true), 2);
	assert_int_equal(placed_with(&s, false), VMS);
	s.vms[0]->memory_mib = 2 * VM_DEFAULT_MEMORY_MIB;
	assert_int_equal(placed_with(&s, true), 1);
	s.worker->default_memory_mib = 100;
	s.vms[0]->memory_mib = 0;
	assert_int_equal(placed_with(&s, true), VMS);
	put_resource(&s, VM_RESOURCE_CORES, 2 * VM_DEFAULT_CPU - 1);
	assert_int_equal(placed_with(&s, true), 1);
	close_stage(&s);
}

static void a_withdrawn_share_is_room_for_others(void **state)
{
	static const int64_t cores[VMS] = {0, 0, 0};
	struct stage s;
	open_stage(&s, cores, 100);
	put_resource(&s, VM_RESOURCE_CORES, VM_DEFAULT_CPU);
	vm_pass_end(s.pass);
	s.settings.count_assigned = true;
	s.pass = vm_pass_begin(&s.roster, &s.settings);
	struct vm_proposal first = propose_one(&s, 0);
	expect_no_more(&s);
	vm_pass_withdraw(s.pass, &first, false);
	(void)propose_one(&s, 1);
	expect_no_more(&s);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_withdrawn_is_room_for_others),
		cmocka_unit_test(a_refusal_is_for_the_whole_shape),
		cmocka_unit_test(machines_that_ask_alike_are_of_one_shape),
		cmocka_unit_test(what_is_assigned_takes_room),
		cmocka_unit_test(a_withdrawn_share_is_room_for_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
