// One of the watchers, as watchers.c drives it.
#pragma once
#include "placement/watch/frame/watch_tools.h"

#define WATCH_NEVER INT64_MAX

// One table of these in watchers.c. A context is made by create and given to the others.
struct watcher {
	const char *name;
	void *(*create)(const struct watch_tools *);
	void (*destroy)(void *context);
	// After recovery, before anything else: looks at the whole state (in read sections of its own).
	void (*take_over)(void *context);
	// A published change, on the applier's thread: notes what is of interest, under a lock of its own, which no
	// command is waited for with. True: the watcher wants a turn.
	bool (*changed)(void *context, const struct state_change *);
	// Does what is due; unix time. Returns when it wants the next turn (unix ns), or WATCH_NEVER. done: set when
	// something was done.
	int64_t (*turn)(void *context, int64_t now_ns, bool *done);
};
