// A command log in memory, with a disk's faults. One thread appends at a time; other threads may read and change the
// rest only between appends, but the faults at any time.
#pragma once
#include "state/applier/applier.h"
#include "state/base/time_source.h"
#include <stdatomic.h>

struct memory_batch {
	uint64_t first_index;
	uint32_t entries, size;
	void *data;
	bool has_check; // of the publication before it, where the log has a state
	uint64_t check;
};

struct memory_log {
	struct memory_batch *batches;
	uint32_t count, capacity;
	_Atomic int64_t room_bytes; // what room_bytes() returns
	_Atomic int error;          // append returns it instead of storing; 0: append stores
	_Atomic uint32_t appends;   // calls of append, with refused ones
	_Atomic uintptr_t thread;   // pthread_self() of the newest
	_Atomic uint32_t block;     // append spins while this is 1
	struct manual_time *time;   // moved on by each append; NULL: none is
	uint32_t append_ms;
	bool is_remote; // as command_log.is_remote
	const struct state
		*state; // whose publications are checked as a cluster does it; NULL: none are
};

void memory_log_init(struct memory_log *); // plenty of room, no fault
void memory_log_free(struct memory_log *);
struct command_log memory_log_of(struct memory_log *);
// Decodes one stored batch and replays it. Returns what applier_replay does.
int replay_stored(struct applier *, uint64_t first_index, const void *batch, uint32_t size);
// Replays the first `count` batches. Returns 0, or the error that applier_replay said.
int memory_log_replay(const struct memory_log *, uint32_t count, struct applier *);
