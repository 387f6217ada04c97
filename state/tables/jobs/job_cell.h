// What is kept of one job: its versions, and the lists of what belongs to it. For state/ only; applier thread.
#pragma once
#include "state/records/evaluation.h"
#include "state/records/job_notes.h"
#include "state/tables/state.h"

struct alloc_array;

// Per group name: the next number of an allocation's name, and the job's summary (state.h).
struct group_counter {
	uint32_t next;
	uint32_t name_at, name_size;         // in the characters of the keep
	uint32_t queued;                     // as its evaluations said last
	uint32_t clients[ALLOC_UNKNOWN + 1]; // allocations by enum alloc_client; ended ones stay in
};

// Something happened to nodes or allocations of a job, so its allocations have to be looked at. The mark becomes an
// evaluation (job_reevaluations.h).
struct job_mark {
	int64_t first_ns, newest_ns; // 0: there is none
	uint8_t trigger;             // enum eval_trigger
	uint8_t type;                // enum job_type
	int64_t priority;
	struct uuid node; // of the newest event; zero: none
	uint64_t node_modify_index;
};

// Marks by reports and stops come first; those of nodes can wait.
static inline bool job_mark_is_urgent(const struct job_mark *mark)
{
	return mark->first_ns != 0 && mark->trigger != TRIGGER_NODE_UPDATE;
}

// What is kept of one job: the record that a job cell publishes. Holds a reference to each of its
// versions.
struct job_keep {
	struct record record; // first; deleted: purged or collected, without versions
	int status;         // enum job_status; derived, given to the newest version at publication
	int64_t stopped_ns; // when the job was stopped or ended; 0: it goes on
	bool had_work;      // the job once had an evaluation
	struct job_mark mark;
	struct job_notes *notes; // a reference; NULL: nothing to remember
	struct job_children children;
	uint8_t stable; // a bit for each version; given to them at publication
	uint32_t version_count;
	struct job *versions[JOB_VERSIONS_MAX]; // newest first
	// Counters of the groups of the kept versions. When a group is in no kept version, its counter is forgotten,
	// and counter_floor is at least what it was, so no living name is given twice.
	uint32_t counter_floor;
	uint32_t counter_count;
	uint32_t character_count;
	struct group_counter counters[]; // then the characters of the names
};

struct job_cell {
	struct job_keep *published; // RCU
	struct job_keep *working;   // applier
	char *namespace_name, *id;
	struct namespace_cell *space; // applier
	struct cds_lfht_node by_name;
	struct alloc_array *allocations; // RCU; NULL: it never had any
	uint32_t allocation_count;       // in it, deleted ones that wait for their burial included
	_Atomic uint64_t allocations_index; // of the newest published change of one of them
	uint32_t present_count, live_count; // not deleted; not terminal
	uint32_t position;
	uint64_t index; // at which the cell was made; its key among jobs
	bool is_stopped_listed, is_buried;
	struct cds_list_head stopped;       // applier; jobs that wait for collection
	struct cds_list_head evaluations;   // struct eval_cell.of_job; RCU list
	uint32_t evaluation_count;          // on the list
	_Atomic uint64_t evaluations_index; // of the newest published change of one of them
	uint32_t evaluations_present, evaluations_live; // not deleted; not at their end
	struct cds_list_head blocked;                   // applier; struct eval_cell.blocked
	struct cds_list_head deployments;   // struct deployment_cell.of_job; RCU list, newest first
	uint32_t deployment_count;          // on the list
	uint32_t deployments_active;        // at most one
	_Atomic uint64_t deployments_index; // of the newest published change of one of them
	bool is_marked, is_system_listed;
	bool is_urgent;              // is_marked: on the list of what was reported
	struct cds_list_head marked; // applier; in the order of their first marks
	int64_t evaluated_ns; // applier; when nodes last made an evaluation of it; 0: not since the start
	struct cds_list_head system;   // applier; jobs that want to be on every node
	struct cds_list_head children; // applier; job_cell.sibling of its children
	struct cds_list_head sibling;  // applier; among its parent's children or in state.orphans
	struct job_cell *parent;       // the job that counts it; NULL: it is not there
	bool is_child;                 // it is on one of those lists
	uint8_t counted_child;         // with parent: enum job_status as which it is counted
	struct rcu_head rcu;
};

// NULL when the job is not there (any more), or has no cell.
static inline struct job_keep *job_cell_keep(const struct job_cell *cell)
{
	return cell && cell->working && !cell->working->record.deleted ? cell->working : NULL;
}
static inline const char *job_keep_characters(const struct job_keep *keep)
{
	return (const char *)&keep->counters[keep->counter_count];
}
// Whether nothing refers to a deleted job any more, so that it may be buried.
static inline bool job_cell_is_idle(const struct job_cell *cell)
{
	return cell->allocation_count == 0 && cell->evaluation_count == 0 &&
	       cell->deployment_count == 0 && !cell->is_marked;
}
