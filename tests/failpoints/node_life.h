// A node for works of walks: one allocation of one task, whose agents come and go, with a runner each (stage.h).
#pragma once
#include "tests/failpoints/walk.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/confine/confine.h"

// What an agent calls for any task, which another walk makes fail: for the excuses of a walk over something else.
#define NODE_LIFE_CALLS                                                    \
	"at state/base/", "at tools/agent/base/", "at tools/agent/check/", \
		"at tools/agent/confine/", "at tools/agent/runner.c", "at tools/agent/task/"

struct node_life {
	char folder[64], group[80]; // both of a name that nobody else has
	char groups[500];           // folder of its control groups; "": it has none
	char message[300];          // why an agent could not begin
};
extern const struct uuid node_life_alloc;
extern struct confine node_life_confine; // of the agent that is there

// As struct walk has them. The allocation's own folder is there by then, and everybody may write to it.
void *node_life_prepare(const struct walk_row *);
void node_life_clear(void *shared);

// False, and message says why not. prepare NULL: tasks need nothing.
bool node_life_open(struct node_life *, const struct prepare_settings *prepare);
void node_life_close(void);
// Asks for the allocation, as a controller does that sees the agent without it. task: its JSON.
struct alloc_run *node_life_ask(const char *task);
// Until the task has come to the phase or its allocation is over; time passes for what waits.
bool node_life_step_to(const struct alloc_run *, enum task_phase);
// walk_said() of what the task tells its user that has gone wrong.
void node_life_say(const struct alloc_run *);
bool node_life_has_note(const struct alloc_run *, const char *type, const char *part);
// Of a file in the allocation's own folder, which confined tasks see, too.
void node_life_path(const struct node_life *, const char *name, char path[static 160]);
// Has the agent forget the allocation, with its groups.
void node_life_forget(void);
