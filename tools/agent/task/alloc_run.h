// One allocation on this node: its tasks in the order of their lifecycle, and what is to be reported of it.
//
//	prestart tasks → main tasks → poststart tasks; when no main task is left: sidecars are stopped, poststop
//
// A task that failed takes its siblings with it, and so does a leader that ended.
#pragma once
#include "tools/agent/task/health.h"

// Whether its node's probe has been asked since it ended. Its report waits meanwhile.
enum run_end { END_UNASKED, END_WAITING, END_ASKED, END_READY, END_UNREADY };

struct alloc_run {
	struct uuid id;
	uint64_t job_index;
	uint64_t version;        // of the spec, as the controller counts
	struct alloc_spec *spec; // NULL: never ran here, it is only to be reported as ended
	bool is_machine;         // a virtual machine; its id is its instance
	bool is_unwanted;        // to be stopped
	bool is_forgotten; // the controller does not know it any more: removed once it is over
	uint8_t status;    // enum wire_alloc_client
	const char *description; // static
	uint8_t end;             // enum run_end
	uint32_t change;         // counts what is to be reported
	uint32_t reported;       // change that the controller has acknowledged
	bool is_unsaved;
	struct health health;
	struct alloc_run *next;
	uint32_t task_count;
	struct task tasks[];
};

// Takes the spec over; NULL: the allocation never ran here. drivers is ended by NULL.
struct alloc_run *alloc_run_create(const struct uuid *, uint64_t job_index, struct alloc_spec *,
	const struct driver *const *drivers);
void alloc_run_free(struct alloc_run *);

// Folders and files of a task; the strings they point to are the caller's.
struct alloc_place {
	const char *data_folder, *state_folder;
	const struct node_facts *node;
	const struct machine_settings *machines;
	int64_t now_ns;
	struct prng *prng;
	// Remembers the allocation as it is now.
	void (*save)(void *context, struct alloc_run *);
	void *save_context;
};
// The controller has a new description of the allocation. Takes the spec over; false when it has other tasks.
bool alloc_run_revise(struct alloc_run *, struct alloc_spec *, int64_t now_ns);
// Makes the folders of every task, and the file of what the job was dispatched with. 0, or -errno.
int alloc_run_make_folders(const struct alloc_run *, const struct alloc_place *);
void alloc_run_remove_folders(const struct uuid *, const char *data_folder);

// Ticks its tasks, then does what is due by the order of their lifecycle.
void alloc_run_step(struct alloc_run *, const struct alloc_place *);
// The process of one of its tasks is over.
void alloc_run_process_ended(struct alloc_run *, struct task *, const struct alloc_place *);
// When to step it next if nothing happens before; 0: never.
int64_t alloc_run_due_ns(const struct alloc_run *);
bool alloc_run_is_over(const struct alloc_run *);
// Nobody waits for it: tasks that were told to end are ended by force.
void alloc_run_hurry(struct alloc_run *, int64_t now_ns);
// What the controller is told besides its status.
const char *alloc_run_description(const struct alloc_run *);
// As the controller counts: it ran here, and its next report is the last.
bool alloc_run_has_ended(const struct alloc_run *);
// It failed because of its node.
bool alloc_run_is_nodes_fault(const struct alloc_run *);
static inline bool alloc_run_has_news(const struct alloc_run *a)
{
	return a->change != a->reported && a->end != END_WAITING && a->end != END_ASKED;
}
// Path of the file that holds how a task's process ended.
void alloc_exit_path(const struct alloc_run *, const struct task *, const char *state_folder,
	char path[static 512]);
