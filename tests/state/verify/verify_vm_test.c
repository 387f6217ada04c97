// Each invariant of virtual machines and workers is broken once, and has to be found.
#include "state/base/memory.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include "state/tables/vms/vm_table.h"
#include "tests/state/vms.h"
#include "tests/support/broken.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct broken {
	struct controller c;
	struct vm_cell *cell, *waiting;
	struct vm_worker_cell *worker, *other;
};

// Two nodes that are workers; "a" is on the first and holds something of it, "b" waits.
static void build(struct broken *b)
{
	static const struct worker_setting settings[] = {
		{"vm.resource." VM_RESOURCE_CORES, "4"}, {"vm.worker", "1"}, {0}};

	controller_init(&b->c, (struct state_limits){.vms = 8, .vm_workers = 4});
	controller_open(&b->c);
	count_assigned(&b->c, false);
	assert_int_equal(register_worker(&b->c, 0, "w", settings, NULL), OUTCOME_DONE);
	assert_int_equal(register_worker(&b->c, 1, "x", settings, NULL), OUTCOME_DONE);
	assert_int_equal(create_vm(&b->c, build_vm("a", 2)), OUTCOME_DONE);
	assert_int_equal(create_vm(&b->c, build_vm("b", 1)), OUTCOME_DONE);
	assert_int_equal(assign_vm(&b->c, "a", "w"), VM_ASSIGNED);
	state_read_begin();
	b->cell = vm_cell_find(b->c.state, TEXT("a"));
	b->waiting = vm_cell_find(b->c.state, TEXT("b"));
	b->worker = vm_worker_cell_find(b->c.state, TEXT("w"));
	b->other = vm_worker_cell_find(b->c.state, TEXT("x"));
	state_read_end();
	controller_verify(&b->c);
}

#define BREAKS(b, what, value) BREAKS_STATE(&(b)->c, what, value)

static void machines(void **unused)
{
	struct broken b;

	build(&b);
	struct vm *vm = b.cell->working;
	BREAKS(&b, b.cell->published, NULL);
	BREAKS(&b, b.cell->cell.index, 999);
	BREAKS(&b, b.cell->counted_status, 1 + VM_FAILED);
	BREAKS(&b, b.cell->worker, b.other);
	BREAKS(&b, b.cell->worker, NULL);
	BREAKS(&b, b.cell->instance, NULL);
	BREAKS(&b, b.cell->instance->worker, b.other);
	BREAKS(&b, b.cell->instance->id.bytes[3], 77);
	BREAKS(&b, vm->instance.bytes[3], 77);
	BREAKS(&b, vm->status, VM_RUNNING);
	BREAKS(&b, vm->record.modify_index, 9999);
	BREAKS(&b, vm->record.create_index, 9999);
	BREAKS(&b, vm->record.deleted, true);
	BREAKS(&b, vm->name, b.waiting->name);
	BREAKS(&b, vm->worker, b.other->name);
	BREAKS(&b, b.c.state->counts.vms[VM_PENDING], 1);
	BREAKS(&b, b.waiting->working->instance.bytes[3], 77);
	BREAKS(&b, b.waiting->worker, b.worker);
	controller_free(&b.c);
}

static void what_they_hold(void **unused)
{
	struct broken b;

	build(&b);
	struct vm *vm = b.cell->working;
	struct node_cell *node = &b.c.state->cells[0];
	assert_int_equal(vm->holds.cpu_mhz, 2000);
	BREAKS(&b, vm->holds.cpu_mhz, 1000);
	BREAKS(&b, vm->holds_slot, 1);
	BREAKS(&b, vm->holds_index, 0);
	BREAKS(&b, b.cell->holds.memory_mb, 1);
	BREAKS(&b, b.cell->holds_slot, 1);
	BREAKS(&b, node->used.cpu_mhz, 0);
	BREAKS(&b, node->published_use.used.cpu_mhz, 0);
	BREAKS(&b, node->working->total.cpu_mhz, 1999);
	controller_free(&b.c);
}

static void workers(void **unused)
{
	struct broken b;

	build(&b);
	struct vm_worker *worker = b.worker->working;
	BREAKS(&b, b.worker->published, NULL);
	BREAKS(&b, b.worker->cell.index, 999);
	BREAKS(&b, b.worker->described_index, 9999);
	BREAKS(&b, b.worker->machine_count, 2);
	BREAKS(&b, b.worker->listed_count, 0);
	BREAKS(&b, ARRAY_AT(&b.worker->used, struct named_count, 0)->count, 3);
	BREAKS(&b, b.worker->used.count, 0);
	BREAKS(&b, b.other->working->node, (struct uuid){{0}});
	BREAKS(&b, worker->node.bytes[3], 77);
	BREAKS(&b, worker->name, (char[]){""});
	BREAKS(&b, worker->record.modify_index, 9999);
	BREAKS(&b, b.other->working->node, worker->node);
	BREAKS(&b, b.c.state->counts.vm_workers, 1);
	BREAKS(&b, b.c.state->tables[STATE_CLUSTER_SETTINGS].one->published, NULL);
	controller_free(&b.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines),
		cmocka_unit_test(what_they_hold),
		cmocka_unit_test(workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
