// The cell of one allocation. For state/ only; applier thread unless said otherwise.
#pragma once
#include "state/records/allocation.h"
#include <urcu-qsbr.h>
#include <urcu/rculfhash.h>
#include <urcu/rculist.h>

// How an allocation is counted on its node (nodes/node_room.h).
enum alloc_room { ROOM_NONE, ROOM_LIVING, ROOM_STOPPING };

struct job_cell;
struct eval_cell;
struct deployment_cell;

struct alloc_cell {
	struct allocation *published; // RCU; NULL: not there yet
	struct allocation *working;   // applier only
	struct cds_list_head on_node; // RCU list
	// Of the tables, for state/ only.
	struct job_cell *job_cell;
	struct eval_cell *eval_cell;             // the evaluation that counts it; NULL: none
	struct deployment_cell *deployment_cell; // the deployment that counts it while it lives
	struct cds_lfht_node by_id;
	uint32_t position, change_position; // in creation order; among the changes of its client
	uint32_t of_job;                    // its place among those of its job
	bool is_ended;                      // its newest version is terminal
	uint8_t room;                       // enum alloc_room, by its newest version
	uint8_t plan_mark;                  // while a plan is checked
	uint8_t counted_status; // in the summary of its job: 1 + enum alloc_client; 0: not counted
	union {
		struct cds_list_head
			terminal;    // while it is terminal: ended_list(), oldest change first
		struct rcu_head rcu; // once it is out of every table
	};
};

// Under read lock; NULL when it is not there (yet, or any more).
static inline const struct allocation *allocation_published(const struct alloc_cell *cell)
{
	const struct allocation *a = __atomic_load_n(&cell->published, __ATOMIC_ACQUIRE);
	return a && !a->record.deleted ? a : NULL;
}
// The id is in its versions alone.
static inline const struct uuid *alloc_cell_id(const struct alloc_cell *cell)
{
	return &cell->working->id;
}
static inline bool alloc_cell_is_there(const struct alloc_cell *cell)
{
	return cell->working && !cell->working->record.deleted;
}
static inline bool alloc_cell_is_living(const struct alloc_cell *cell)
{
	return alloc_cell_is_there(cell) && !allocation_is_terminal(cell->working);
}
