// What a task needs before its driver starts it, and what of that may change while it runs: the seam between tasks and
// who makes it (tools/agent/prepare). Nothing here blocks. Main thread.
#pragma once
#include "tools/agent/task/task.h"

enum preparedness {
	PREPARED,       // the driver may start it
	PREPARING,      // later
	PREPARING_ENDS, // it failed, and its events say why
};

// How far a preparation came, for its caller.
struct preparation_news {
	bool has_noted; // the task has a new event
	bool may_help;  // to begin anew, as the restart policy allows
};

struct preparation {
	// Goes on with what a task needs that is about to start.
	enum preparedness (*advance)(
		void *context, struct task *, const struct task_start *, struct preparation_news *);
	// Follows what a running task was given. May end its present run.
	void (*follow)(
		void *context, struct task *, const struct task_start *, struct preparation_news *);
	void *context;
};
