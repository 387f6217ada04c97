// One task of an allocation, from waiting for its turn to its end, with restarts. A state machine; drivers (struct
// driver) act on the machine.
#pragma once
#include "state/base/limits.h"
#include "state/base/prng.h"
#include "tools/agent/task/environment.h"
#include "tools/agent/task/process.h"

enum task_phase {
	PHASE_WAITING, // its turn has not come
	PHASE_RUNNING,
	PHASE_STOPPING,   // told to end
	PHASE_RESTARTING, // waits for its next start
	PHASE_ENDED,
};

// Whether a task that is told to end, or has ended, is to begin anew because a person wants it: the restart policy is
// not asked, and does not count it.
enum task_anew {
	ANEW_NOT,
	ANEW_AT_ONCE,
	ANEW_IN_TURN, // when its turn comes in the lifecycle
};

#define TASK_EVENTS_KEPT 10u
struct task_note {
	char type[32], message[160];
	int64_t time_ns;
	int exit_code;
};

struct task;

struct mock {
	int64_t ends_ns; // unix; 0: only when it is told to end
	int64_t kill_after_ns;
	int exit_code, exit_signal;
};

// How the driver finds a task that runs away from this node.
struct handle {
	uint32_t version, size; // size 0: it does not run elsewhere
	char bytes[TASK_HANDLE_BYTES_MAX];
};

// Decodes a description's handle: false when it is not base64, or too long.
bool handle_read(struct handle *, int64_t version, const char *base64);

// What is kept of how the task was prepared (preparation.h) begins with this.
struct prepared {
	// Ends what is under way, and frees what is kept.
	void (*forget)(struct task *);
};

struct driver;

struct task {
	const struct task_spec *spec;
	const struct driver *driver;
	enum task_phase phase;
	bool failed;
	bool is_nodes_fault; // the machine caused its newest end
	bool has_run;
	bool is_starting;   // by its driver, over several turns: what it is to run does not run yet
	bool is_unwanted;   // told to end for good
	bool is_restarting; // told to end, and then to begin anew
	enum task_anew anew;         // the same, by a person
	uint32_t restarts, attempts; // attempts: in the present interval
	int64_t interval_ns;         // unix; when the interval began
	int64_t started_ns, finished_ns, last_restart_ns;
	int64_t due_ns;  // unix; next work, 0: none
	bool is_forced;  // SIGKILL was sent
	int64_t poll_ns; // unix; next turn of its driver, 0: none
	uint32_t news;   // of its driver, that were taken
	struct process process;
	struct talk *talk; // the driver's, with a virtual machine that is told to end
	struct mock mock;
	struct handle handle;      // of the present run
	struct prepared *prepared; // the preparation's (preparation.h); NULL: nothing is kept
	int64_t prepare_ns;        // unix; its next turn, 0: none
	bool has_artifacts;        // they are fetched once
	char **variables; // "NAME=value" that its templates made, NULL-ended; the preparation's; NULL: none
	uint32_t note_count;
	struct task_note notes[TASK_EVENTS_KEPT];
};

struct confine;
struct machine_settings;

// What a driver needs to start a task.
struct task_start {
	const struct node_facts *node;
	const struct alloc_spec *alloc;
	const struct task_folders *folders;
	const char *data_folder;
	const struct machine_settings *machines;
	const char *output_path, *error_path, *exit_path;
	int64_t now_ns; // unix
	struct prng *prng;
	int (*started)(void *context); // as in struct process_start
	void *context;
	const struct confine *confine; // NULL: tasks are not confined
};

struct driver {
	const char *name;
	// 0, or a negative error and a sentence. *recoverable: trying again may help.
	int (*start)(struct task *, const struct task_start *, char *message, uint32_t message_size,
		bool *recoverable);
	// Goes on with a task that already runs away from the node. False: it cannot. NULL: the driver has no such
	// tasks.
	bool (*resume)(struct task *, const struct task_start *, const struct handle *);
	void (*signal)(struct task *, int signal, int64_t now_ns);
	// Whether the task has ended of itself by now; only drivers without a process have it.
	bool (*has_ended)(const struct task *, int64_t now_ns, struct process_end *);
	// Continues work that takes several turns, while the task is up. True when something changed. NULL: no such
	// work.
	bool (*turn)(struct task *, const struct task_start *);
	// The task's process has ended: may find out more of how, before the restart policy is asked. NULL: never.
	void (*judge)(struct task *, const char *exit_path, struct process_end *, int64_t now_ns);
	// The task's process has ended: notes why, if known. NULL: never known.
	void (*explain)(
		struct task *, const struct process_end *, const char *error_path, int64_t now_ns);
	// Frees the driver's memory for the task. NULL: nothing to free.
	void (*forget)(struct task *);
};
// table is NULL-ended. NULL: unknown name.
const struct driver *driver_find(const struct driver *const *table, const char *name);
extern const struct driver driver_raw_exec, driver_exec, driver_mock;

void task_forget(struct task *); // its process runs on

// Whether every node would have met this error, so that it says nothing about this one.
bool task_error_is_its_own(int error);
void task_note(struct task *, int64_t now_ns, int exit_code, const char *type, const char *format,
	...) __attribute__((format(printf, 5, 6)));
// WAITING or RESTARTING → RUNNING, or to the phase that a failed start leads to.
void task_begin(struct task *, const struct task_start *);
// What a driver started over several turns runs from now on.
void task_has_started(struct task *, int64_t now_ns);
// The task's process is over: the restart policy decides what comes next.
void task_ended(struct task *, const struct process_end *, int64_t now_ns, struct prng *);
// What the task needs could not be made: again later, as the restart policy says if that may help, or it fails.
void task_not_prepared(struct task *, bool may_help, int64_t now_ns, struct prng *);
// Ends the task for good.
void task_stop(struct task *, int64_t now_ns);
// Ends the present run of a task that runs. What comes next is decided by the restart policy, as if it had failed. why
// is what its events say.
void task_restart(struct task *, int64_t now_ns, const char *why);
// Ends the task, if it is up, and begins it anew. why is what its events say.
void task_begin_anew(struct task *, enum task_anew, int64_t now_ns, const char *why);
// Does the work that is due, except for a process's end. True when something changed.
bool task_tick(struct task *, const struct task_start *);

static inline bool task_is_over(const struct task *t)
{
	return t->phase == PHASE_ENDED;
}
static inline bool task_is_up(const struct task *t)
{
	return t->phase == PHASE_RUNNING || t->phase == PHASE_STOPPING;
}
static inline bool task_runs(const struct task *t)
{
	return t->phase == PHASE_RUNNING && !t->is_starting;
}
