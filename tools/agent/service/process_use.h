// What processes use of processors and memory, as /proc tells.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_use {
	pid_t pid, parent, group, session;
	uint64_t started; // clock ticks since boot
	uint64_t user_ticks, system_ticks;
	int64_t resident_bytes;
	bool is_marked;
};

struct process_uses {
	struct process_use *items;
	uint32_t count, capacity;
	uint64_t taken_ns; // monotonic
};

// All processes of the machine; free them. 0, or -errno: there may be more.
int process_uses_take(struct process_uses *);
void process_uses_free(struct process_uses *);
// Marks the process of this start, its session and group, and all their descendants, and no other.
void process_uses_mark(struct process_uses *, pid_t leader, uint64_t started);
// The same process in another sample; NULL: it was not there.
const struct process_use *process_uses_find(
	const struct process_uses *, const struct process_use *);
int64_t process_swap_bytes(pid_t);

// In hundredths of one core, over the time between two samples.
struct core_share {
	double user_percent, system_percent;
};
struct core_share process_share(const struct process_uses *before, const struct process_uses *after,
	const struct process_use *of_after);

// Clock rate of a core, 0 when it is not known.
double core_mhz(void);
