// Virtual machines and their workers in the tables: what is kept beside their records, and every way in which one
// changes. For state/ only; applier thread unless said otherwise.
//
// A cell is the place of a name. It outlives its record: a record that is made again under the name takes the same
// cell, and a worker's cell stays as long as machines are scheduled on it, with or without the worker.
#pragma once
#include "state/records/nodes/vm.h"
#include "state/tables/table.h"

struct vm_worker_cell;

// A machine on a worker, as readers see it: there while the published record of the machine says so.
struct vm_instance {
	struct rcu_head rcu; // first: rcu_free()
	struct uuid id;
	struct vm_cell *cell;
	struct vm_worker_cell *worker;
	struct cds_lfht_node by_id;
	struct cds_list_head of_worker; // RCU list
};

struct vm_cell {
	CELL_OF(struct vm, char *name);
	struct vm_instance *instance; // of the published record; NULL: it has none
	// What is counted of the working record.
	struct vm_worker_cell *worker;  // the worker that it is scheduled on; NULL: none
	struct cds_list_head of_worker; // struct vm_worker_cell.machines, with worker
	struct vm_share share;          // of the worker
	struct resources holds;         // of the node at holds_slot
	uint32_t holds_slot;
	uint8_t counted_status; // 1 + enum vm_status; 0: not counted
};

// Leads from a node to its worker; there while the worker's published or working record names the node.
struct vm_worker_node {
	struct rcu_head rcu; // first: rcu_free()
	struct uuid id;
	struct vm_worker_cell *cell;
	struct cds_lfht_node by_id;
};

struct vm_worker_cell {
	CELL_OF(struct vm_worker, char *name);
	struct vm_worker_node *nodes[2];
	uint64_t described_index; // newest change of what placement reads, without use and pauses
	struct cds_list_head
		machines; // struct vm_cell.of_worker: machines that are scheduled on it
	uint32_t machine_count;
	struct array used;           // named_count, by machines (row D5)
	struct vm_share held;        // by machines, besides (row D16)
	struct cds_list_head listed; // struct vm_instance.of_worker; RCU list
	uint32_t listed_count;
	_Atomic uint64_t
		listed_index; // newest published change of a listed machine, or of the list
	bool is_counted;
};

extern const struct kind vm_kind, vm_worker_kind;

static inline bool vm_cell_is_there(const struct vm_cell *cell)
{
	return cell && cell_is_there(&cell->cell);
}
// The machine of that name, or NULL when it is not there. Applier thread only.
static inline struct vm_cell *vm_cell_find(const struct state *state, struct text name)
{
	struct vm_cell *cell = (struct vm_cell *)table_find(state, STATE_VMS, &name);
	return vm_cell_is_there(cell) ? cell : NULL;
}
// Finds a machine by its published instance; its working record may say something else already.
struct vm_cell *vm_cell_find_instance(const struct state *, const struct uuid *);
// Whether the tables can rely on the record.
bool vm_is_sound(const void *record);
// Makes the record unscheduled: it runs nowhere and holds nothing.
void vm_leave_worker(struct vm *);

static inline bool vm_worker_cell_is_there(const struct vm_worker_cell *cell)
{
	return cell && cell_is_there(&cell->cell);
}
// The worker of that name, as vm_cell_find().
static inline struct vm_worker_cell *vm_worker_cell_find(
	const struct state *state, struct text name)
{
	struct vm_worker_cell *cell =
		(struct vm_worker_cell *)table_find(state, STATE_VM_WORKERS, &name);
	return vm_worker_cell_is_there(cell) ? cell : NULL;
}
// The worker that the node is; NULL: the node is no worker.
struct vm_worker_cell *vm_worker_cell_of_node(const struct state *, const struct uuid *node);
// The worker's node, or NULL.
struct node_cell *vm_worker_cell_node(const struct state *, const struct vm_worker_cell *);
bool vm_worker_is_sound(const void *record);
bool vm_counts_are_sound(const struct array *counts); // named_count
