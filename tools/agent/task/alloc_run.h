// One allocation on this node: its tasks in the order of their lifecycle, and what the agent reports of it.
//
//	prestart tasks → main tasks → poststart tasks; when no main task is left: sidecars are stopped, poststop
//
// A task that fails stops its siblings, and so does a leader that ends.
#pragma once
#include "tools/agent/task/health.h"

// Whether the agent has asked the node's probe since the allocation ended. The report of the end waits meanwhile.
enum run_end { END_UNASKED, END_WAITING, END_ASKED, END_READY, END_UNREADY };

struct alloc_run {
	struct uuid id;
	uint64_t job_index;
	uint64_t version;        // of the spec, in the controller's count
	struct alloc_spec *spec; // NULL: never ran here, only reported as ended
	bool is_machine;         // a virtual machine; id is its instance's
	bool is_unwanted;        // its tasks are to stop
	bool is_forgotten;       // the controller no longer knows it: removed once it is over
	uint8_t status;          // enum wire_alloc_client
	const char *description; // static
	uint8_t end;             // enum run_end
	uint32_t change;         // counts changes to report
	uint32_t reported;       // newest change that the controller has acknowledged
	bool is_unsaved;
	struct health health;
	struct alloc_checks *checks; // of its services, the runner's; NULL: it has none
	struct alloc_run *next;
	uint32_t task_count;
	struct task tasks[];
};

// Owns the spec from now on; NULL: the allocation never ran here. drivers is NULL-ended.
struct alloc_run *alloc_run_create(const struct uuid *, uint64_t job_index, struct alloc_spec *,
	const struct driver *const *drivers);
void alloc_run_free(struct alloc_run *);

struct confine;
struct preparation;

// Where a task's folders and files are; the caller owns the strings.
struct alloc_place {
	const char *data_folder, *state_folder;
	const struct node_facts *node;
	const struct machine_settings *machines;
	int64_t now_ns;
	struct prng *prng;
	// Stores the allocation's present state, for good. 0 or -errno.
	int (*save)(void *context, struct alloc_run *);
	void *save_context;
	const struct confine *confine;         // NULL: tasks are not confined
	const struct preparation *preparation; // NULL: tasks need nothing before they start
};
// Takes a new description from the controller. Owns the spec from now on; false when the spec has other tasks.
bool alloc_run_revise(struct alloc_run *, struct alloc_spec *, int64_t now_ns);
// Makes every task's folders, and the file with the payload that the job was dispatched with. 0, or -errno.
int alloc_run_make_folders(const struct alloc_run *, const struct alloc_place *);
void alloc_run_task_folders(const struct alloc_run *, const struct task *, const char *data_folder,
	struct task_folders *);
void alloc_run_remove_folders(const struct uuid *, const char *data_folder);

// Ticks the tasks, then starts and stops tasks in the order of their lifecycle.
void alloc_run_step(struct alloc_run *, const struct alloc_place *);
// A task's process is over.
void alloc_run_process_ended(struct alloc_run *, struct task *, const struct alloc_place *);
// When to step the allocation next if nothing happens before; 0: never.
int64_t alloc_run_due_ns(const struct alloc_run *);
bool alloc_run_is_over(const struct alloc_run *);
// Nobody waits for the allocation: kills its stopping tasks without their kill timeout.
void alloc_run_hurry(struct alloc_run *, int64_t now_ns);
// The description that the controller gets with the status.
const char *alloc_run_description(const struct alloc_run *);
// The allocation ran here and its status is final. False for a machine.
bool alloc_run_has_ended(const struct alloc_run *);
// The allocation failed because of its node.
bool alloc_run_is_nodes_fault(const struct alloc_run *);
static inline bool alloc_run_has_news(const struct alloc_run *a)
{
	return a->change != a->reported && a->end != END_WAITING && a->end != END_ASKED;
}
// Path of the file with the exit status of a task's process.
void alloc_exit_path(const struct alloc_run *, const struct task *, const char *state_folder,
	char path[static 512]);
