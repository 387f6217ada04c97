// The newest lines of the process's log in memory, for those who follow it; none while nobody does. Whoever logs waits
// for no reader: old lines give way to new ones, and a reader that is too slow sees that it missed some.
#pragma once
#include "state/base/log.h"

#define LOG_RING_LINES 512u

// One who follows. The caller keeps it where it is until it leaves.
struct log_follower {
	enum log_level least;
	// There is a new line of this level or above. Any thread, also one that holds locks: it must neither block nor
	// log.
	void (*wake)(void *context);
	void *context;
	struct log_follower *next;
};

// From now on lines of this level and above are kept, even when they are not written. Returns the number of the next.
uint64_t log_ring_follow(struct log_follower *);
void log_ring_leave(struct log_follower *); // wake is not called any more when it returns

// Lines are numbered from 0; the ring holds the newest LOG_RING_LINES before the head.
uint64_t log_ring_head(void);
// False when the ring does not hold the line (any more).
bool log_ring_read(uint64_t number, struct log_note *);
