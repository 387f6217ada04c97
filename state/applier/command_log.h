// Where the applier stores its batches. The applier declares it and state/store implements it, so that the applier
// depends on no particular log. Tests implement it in memory.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct command_log {
	// Makes one batch durable. first_index is the index of its first entry. Blocks; as many threads at a
	// time as `together` says, each with another batch: what is durable behind one that is not counts only
	// once that one is. Returns 0, -ENOSPC (nothing was written; may be tried again), -ECANCELED (the
	// process ends, and nobody knows whether it was written), or another negative error, after which
	// nothing may be acknowledged any more and the process must stop.
	int (*append)(void *context, uint64_t first_index, uint32_t entries, const void *batch,
		uint32_t size);
	// Bytes that may still be written before changes should be refused; any thread.
	int64_t (*room_bytes)(void *context);
	void *context;
	// Other machines keep it: while an append to it goes on for long, nodes and people are sent away, to come
	// again.
	bool is_remote;
	// Batches that may be on their way at a time; 0 is 1.
	uint32_t together;
};
