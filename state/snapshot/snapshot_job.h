// What snapshots hold of jobs and of their versions.
#pragma once
#include "state/base/bytes.h"
#include "state/tables/tables.h"

// The job as of an index, and what is kept of it; false: it was not there, and nothing of it.
//	u64 index of its cell, text16 namespace, text16 id, u64 create index, u64 modify index, i64 stopped (unix ns, 0:
//	not), u8 versions (0: deleted, but something of it is not), each: u64 modify index, newest first; u32 counter
//	floor, u16 counters, each: text16 group, u32 next;
//	u8 whether it had an evaluation, i64 first mark (unix ns, 0: none); with a mark: i64 newest, u8
//	trigger, u8 job type, i64 priority, uuid node, u64 modify index of the node;
//	for each counter of a group: u32 queued, then u32 allocations by enum alloc_client;
//	u8 a bit for each version that is stable, u64 children pending, running, dead, u8 1 when notes follow,
//	as described in job_notes.c
bool job_item_encode(const struct job_cell *, uint64_t index, struct bytes_writer *);
// Return 0, -ERROR_CORRUPT, -ERROR_VERSION or -ERROR_TABLE_FULL.
int job_version_item_load(struct state *, struct bytes_reader *);
int job_item_load(struct state *, struct bytes_reader *);
