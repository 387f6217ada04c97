// What snapshots hold of evaluations, of the work that jobs have, and of the schedulers' configuration.
#pragma once
#include "state/base/bytes.h"
#include "state/tables/tables.h"

// At the end of a job's item:
//	u8 whether it had an evaluation, i64 first mark (unix ns, 0: none); with a mark: i64 newest, u8
//	trigger, u8 job type, i64 priority, uuid node, u64 modify index of the node;
//	for each counter of a group: u32 queued, then u32 allocations by enum alloc_client;
//	u8 a bit for each version that is stable, u64 children pending, running, dead, u8 1 when notes follow,
//	as described in job_notes.c
void job_work_encode(const struct job_keep *, struct bytes_writer *);
bool job_work_decode(struct job_keep *, struct bytes_reader *);

// The version that was newest at index, or NULL; see state_version_at().
const struct evaluation *evaluation_at(const struct eval_cell *, uint64_t index);
bool job_has_evaluations_at(const struct job_cell *, uint64_t index);

// Returns 0, -ERROR_CORRUPT, -ERROR_VERSION or -ERROR_TABLE_FULL.
int evaluation_item_load(struct state *, struct bytes_reader *);
int config_item_load(struct state *, struct bytes_reader *);
