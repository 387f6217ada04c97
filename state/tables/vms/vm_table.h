// Virtual machines and their workers in the tables: what is kept beside their records, and every way in which one
// changes. For state/ only; applier thread unless said otherwise.
//
// A cell is the place of a name. It outlives its record, so that what is made again under a name takes up its place,
// and that of a worker is there for as long as machines are scheduled on it, whether the worker is or not.
#pragma once
#include "state/records/nodes/vm.h"
#include "state/tables/table.h"

struct vm_worker_cell;

// What a worker runs, as readers see it: there while the published record of a machine says so.
struct vm_instance {
	struct uuid id;
	struct vm_cell *cell;
	struct vm_worker_cell *worker;
	struct cds_lfht_node by_id;
	struct cds_list_head of_worker; // RCU list
	struct rcu_head rcu;
};

struct vm_cell {
	CELL_OF(struct vm, char *name);
	struct vm_instance *instance; // of the published record; NULL: it has none
	// What is counted of the working record.
	struct vm_worker_cell *worker;  // that it is scheduled on; NULL: none
	struct cds_list_head of_worker; // struct vm_worker_cell.machines, with worker
	struct resources holds;         // of the node at the slot
	uint32_t holds_slot;
	uint8_t counted_status; // 1 + enum vm_status; 0: not counted
};

// Leads from a node to its worker; there while the published or the working record says so.
struct vm_worker_node {
	struct uuid id;
	struct vm_worker_cell *cell;
	struct cds_lfht_node by_id;
	struct rcu_head rcu;
};

struct vm_worker_cell {
	CELL_OF(struct vm_worker, char *name);
	struct vm_worker_node *nodes[2];
	uint64_t
		described_index; // where what a machine is placed by changed last, use and pauses not
	struct cds_list_head machines; // struct vm_cell.of_worker: those that are scheduled on it
	uint32_t machine_count;
	struct array used;           // named_count, by them (row D5)
	struct cds_list_head listed; // struct vm_instance.of_worker; RCU list
	uint32_t listed_count;
	_Atomic uint64_t
		listed_index; // of the newest published change of one of them, or of the list
	bool is_counted;
};

extern const struct kind vm_kind, vm_worker_kind;

static inline struct vm_cell *vm_cell_find(const struct state *state, struct text name)
{
	return (struct vm_cell *)table_find(state, STATE_VMS, &name);
}
static inline bool vm_cell_is_there(const struct vm_cell *cell)
{
	return cell && cell_is_there(&cell->cell);
}
// By what was published last; its working record may say something else already.
struct vm_cell *vm_cell_find_instance(const struct state *, const struct uuid *);
// What the tables rely on.
bool vm_is_sound(const struct vm *);
// After a change of a version that cell_revise() gave.
void vm_cell_changed(struct state *, struct vm_cell *);
// The record is not scheduled (any more): it runs nowhere and holds nothing.
void vm_leave_worker(struct vm *);
// Workers

static inline struct vm_worker_cell *vm_worker_cell_find(
	const struct state *state, struct text name)
{
	return (struct vm_worker_cell *)table_find(state, STATE_VM_WORKERS, &name);
}
static inline bool vm_worker_cell_is_there(const struct vm_worker_cell *cell)
{
	return cell && cell_is_there(&cell->cell);
}
// That the node is; NULL: it is none.
struct vm_worker_cell *vm_worker_cell_of_node(const struct state *, const struct uuid *node);
// Its node, or NULL.
struct node_cell *vm_worker_cell_node(const struct state *, const struct vm_worker_cell *);
bool vm_worker_is_sound(const struct vm_worker *);
bool vm_counts_are_sound(const struct array *counts); // named_count
