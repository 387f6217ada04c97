// One watcher, driven by watchers.c.
#pragma once
#include "placement/watch/frame/watch_tools.h"

#define WATCH_NEVER INT64_MAX

// watchers.c has a table of these. create makes the context that the others get.
struct watcher {
	const char *name;
	void *(*create)(const struct watch_tools *);
	void (*destroy)(void *context);
	// Called after recovery, before any other: reads the whole state (in read sections of its own).
	void (*take_over)(void *context);
	// Called on the applier's thread with a published change: notes what matters, under a lock of its own that is
	// never held while a command is awaited. True: the watcher wants a turn.
	bool (*changed)(void *context, const struct state_change *);
	// Does what is due; unix time. Returns when it wants the next turn (unix ns), or WATCH_NEVER. done: set when
	// something was done.
	int64_t (*turn)(void *context, int64_t now_ns, bool *done);
};
