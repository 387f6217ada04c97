// One task of an allocation: from waiting for its turn to its end, restarts between. A state machine; drivers
// (struct driver) do what touches the machine.
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

#define TASK_EVENTS_KEPT 10u
struct task_note {
	char type[24], message[160];
	int64_t time_ns;
	int exit_code;
};

struct mock {
	int64_t ends_ns; // unix; 0: not before it is told to
	int64_t kill_after_ns;
	int exit_code, exit_signal;
};

// What the driver of a task that runs away from this node knows it by.
struct handle {
	uint32_t version, size; // size 0: it does not run elsewhere
	char bytes[TASK_HANDLE_BYTES_MAX];
};

// From what was said of it: false when it is not base64, or too long.
bool handle_read(struct handle *, int64_t version, const char *base64);

struct driver;

struct task {
	const struct task_spec *spec;
	const struct driver *driver;
	enum task_phase phase;
	bool failed;
	bool is_nodes_fault; // its newest end: by the machine, not by itself
	bool has_run;
	bool is_unwanted;            // told to end for good
	uint32_t restarts, attempts; // attempts: in the present interval
	int64_t interval_ns;         // unix; when that began
	int64_t started_ns, finished_ns, last_restart_ns;
	int64_t due_ns;  // unix; when something is to be done, 0: never
	bool is_forced;  // SIGKILL was sent
	int64_t poll_ns; // unix; when its driver's turn is due, 0: never
	struct process process;
	struct talk *talk; // with a virtual machine that is told to end; its driver's
	struct mock mock;
	struct handle handle; // of its present run
	uint32_t note_count;
	struct task_note notes[TASK_EVENTS_KEPT];
};

struct machine_settings;

// What a task is started with.
struct task_start {
	const struct node_facts *node;
	const struct alloc_spec *alloc;
	const struct task_folders *folders;
	const char *data_folder;
	const struct machine_settings *machines;
	const char *output_path, *error_path, *exit_path;
	int64_t now_ns; // unix
	struct prng *prng;
	void (*started)(void *context); // of struct process_start
	void *context;
};

struct driver {
	const char *name;
	// 0, or a negative error with a sentence. *recoverable: trying again may help.
	int (*start)(struct task *, const struct task_start *, char *message, uint32_t message_size,
		bool *recoverable);
	// Goes on with what runs away from the node already. False: it cannot. NULL: nothing of this driver does.
	bool (*resume)(struct task *, const struct task_start *, const struct handle *);
	void (*signal)(struct task *, int signal, int64_t now_ns);
	// Whether it ended of itself by now; of drivers without a process.
	bool (*has_ended)(const struct task *, int64_t now_ns, struct process_end *);
	// Goes on with what takes more than one turn, while the task is up. True when something changed. NULL: nothing.
	bool (*turn)(struct task *, const struct task_start *);
	// Its process has ended: notes why, if that is known. NULL: it never is.
	void (*explain)(
		struct task *, const struct process_end *, const char *error_path, int64_t now_ns);
	// Frees what it keeps of the task in memory. NULL: nothing.
	void (*forget)(struct task *);
};
// Of a table that NULL ends. NULL: unknown.
const struct driver *driver_find(const struct driver *const *table, const char *name);
extern const struct driver driver_raw_exec, driver_mock;

void task_forget(struct task *); // lets its process be

// Whether any node would have met this error, so that it says nothing of this one.
bool task_error_is_its_own(int error);
void task_note(struct task *, int64_t now_ns, int exit_code, const char *type, const char *format,
	...) __attribute__((format(printf, 5, 6)));
// WAITING or RESTARTING → RUNNING, or what a failure to start leads to.
void task_begin(struct task *, const struct task_start *);
// It is over: what comes next is for its restart policy to say.
void task_ended(struct task *, const struct process_end *, int64_t now_ns, struct prng *);
// To be brought to an end and not started again.
void task_stop(struct task *, int64_t now_ns);
// What is due by now, but for a process's end. True when something changed.
bool task_tick(struct task *, const struct task_start *);

static inline bool task_is_over(const struct task *t)
{
	return t->phase == PHASE_ENDED;
}
static inline bool task_is_up(const struct task *t)
{
	return t->phase == PHASE_RUNNING || t->phase == PHASE_STOPPING;
}
