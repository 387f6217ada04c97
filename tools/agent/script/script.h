// Commands that the agent runs inside tasks, to their ends: scripts of checks and of templates. Each has a thread, so
// that nothing waits for it. It has no input; what it writes is kept up to a bound, and the rest is thrown away.
//
//	a process: beside the task's own, where that is (tools/agent/exec)
//	a container: by its engine (tools/agent/exec, too)
#pragma once
#include "tools/agent/script/script_end.h"
#include "tools/agent/task/task.h"

struct script;

// Nothing of it is needed once the script has begun, but the confinement and wake_fd.
struct script_start {
	const struct task *task; // which runs
	const struct alloc_spec *alloc;
	const struct node_facts *node;
	const struct task_folders *folders; // on the node
	const struct confine *confine;      // NULL: tasks are not confined
	char *const *arguments;             // NULL-ended
	int64_t timeout_ns;
	int wake_fd; // an eventfd, which is written to when the script is over
};

// Whether tasks of this driver can have scripts.
bool script_may_run_in(const struct driver *);
// The task's folders as it sees them itself.
void script_folders(const struct task *, const struct task_folders *on_node, struct task_folders *);
// NULL, and a sentence, when it cannot begin.
struct script *script_begin(const struct script_start *, char *message, uint32_t message_size);
// Has it killed; it is over a moment later.
void script_stop(struct script *);
bool script_is_over(const struct script *);
// Waits until it is over, and frees it. NULL: nobody wants to know how it ended.
void script_finish(struct script *, struct script_end *);
