// Virtual machines and their workers in the tables: what is kept beside their records, and every way in which one
// changes. For state/ only; applier thread unless said otherwise.
//
// A cell is the place of a name. It outlives its record, so that what is made again under a name takes up its place,
// and that of a worker is there for as long as machines are scheduled on it, whether the worker is or not.
#pragma once
#include "state/records/vm.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include <stdatomic.h>

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
	struct vm *published; // RCU
	struct vm *working;
	char *name;
	uint64_t index; // at which the cell was made; its key
	struct cds_lfht_node by_name;
	uint32_t position;
	struct vm_instance *instance; // of the published record; NULL: it has none
	// What is counted of the working record.
	struct vm_worker_cell *worker;  // that it is scheduled on; NULL: none
	struct cds_list_head of_worker; // struct vm_worker_cell.machines, with worker
	struct resources holds;         // of the node at the slot
	uint32_t holds_slot;
	uint8_t counted_status; // 1 + enum vm_status; 0: not counted
	bool is_in_grave;
	struct rcu_head rcu;
};

// Leads from a node to its worker; there while the published or the working record says so.
struct vm_worker_node {
	struct uuid id;
	struct vm_worker_cell *cell;
	struct cds_lfht_node by_id;
	struct rcu_head rcu;
};

struct vm_worker_cell {
	struct vm_worker *published; // RCU
	struct vm_worker *working;   // NULL: machines name it, but it was never there
	char *name;
	uint64_t index; // at which it was there first; its key. 0: never
	struct cds_lfht_node by_name;
	uint32_t position;
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
	bool is_in_grave;
	struct rcu_head rcu;
};

struct cluster_settings_cell {
	struct cluster_settings *published; // RCU
	struct cluster_settings *working;
};

struct vm_tables {
	struct cds_lfht *by_name, *instances, *workers, *worker_nodes;
	struct sequence order, worker_order;
	struct cluster_settings_cell settings;
};

void vm_tables_init(struct vm_tables *);
void vms_destroy(struct state *);
void vm_tables_destroy(struct state *); // what is in them

// --- Machines ------------------------------------------------------------------------------------

struct vm_cell *vm_cell_find(const struct state *, struct text name);
static inline bool vm_cell_is_there(const struct vm_cell *cell)
{
	return cell && cell->working && !cell->working->record.deleted;
}
// By what was published last; its working record may say something else already.
struct vm_cell *vm_cell_find_instance(const struct state *, const struct uuid *);
bool vms_have_room(const struct state *);
// What the tables rely on.
bool vm_is_sound(const struct vm *);
// A new one under a name that is free; takes it over, with its indexes set.
void vm_cell_put(struct state *, struct vm *);
// The same of a snapshot: published at once. index: of its cell.
void vm_cell_load(struct state *, struct vm *, uint64_t index);
// A version that may be changed until it is published; after the change vm_cell_changed().
struct vm *vm_cell_revise(struct state *, struct vm_cell *, uint64_t index);
void vm_cell_changed(struct state *, struct vm_cell *);
void vm_cell_delete(struct state *, struct vm_cell *, uint64_t index);
// The record is not scheduled (any more): it runs nowhere and holds nothing.
void vm_leave_worker(struct vm *);
// Readers see another record now.
void vm_published(struct state *, struct vm_cell *, const struct vm *before, const struct vm *now);

// --- Workers -------------------------------------------------------------------------------------

struct vm_worker_cell *vm_worker_cell_find(const struct state *, struct text name);
struct vm_worker_cell *vm_worker_cell_find_or_add(struct state *, struct text name);
static inline bool vm_worker_cell_is_there(const struct vm_worker_cell *cell)
{
	return cell && cell->working && !cell->working->record.deleted;
}
// That the node is; NULL: it is none.
struct vm_worker_cell *vm_worker_cell_of_node(const struct state *, const struct uuid *node);
// Its node, or NULL.
struct node_cell *vm_worker_cell_node(const struct state *, const struct vm_worker_cell *);
bool vm_workers_have_room(const struct state *, struct text name);
bool vm_worker_is_sound(const struct vm_worker *);
// It is described: for the first time, or anew. Takes it over, with its modify index set.
void vm_worker_cell_put(struct state *, struct vm_worker *);
void vm_worker_cell_load(struct state *, struct vm_worker *, uint64_t index);
// Of what it was described by nothing may be changed, and not its node.
struct vm_worker *vm_worker_cell_revise(struct state *, struct vm_worker_cell *, uint64_t index);
// Its machines hold nothing of its node from then on.
void vm_worker_cell_delete(struct state *, struct vm_worker_cell *);
void vm_worker_published(struct vm_tables *, struct vm_worker_cell *);
// Nothing refers to it any more: into its grave.
void vm_worker_cell_bury_if_idle(struct state *, struct vm_worker_cell *);

// What is published of the settings, and by the applier.
void cluster_settings_put(struct state *, struct cluster_settings *);

// --- From their graves ---------------------------------------------------------------------------

// False: a reader may need it still.
bool vm_cell_bury(struct state *, struct vm_cell *);
bool vm_worker_cell_bury(struct state *, struct vm_worker_cell *);
