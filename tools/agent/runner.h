// Everything that runs on this node: allocations by id, with their processes in one epoll set, and the records that
// outlive the agent.
#pragma once
#include "state/base/time_source.h"
#include "tools/agent/base/contact.h"
#include "tools/agent/check/checks.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/prepare/prepare.h"
#include "tools/agent/task/alloc_run.h"
#include "tools/agent/vm/machine.h"

struct runner_settings {
	const char *data_folder;  // holds what tasks write
	const char *state_folder; // holds what the agent remembers
	const struct time_source *time;
	uint64_t seed;
	bool no_raw_exec; // tasks of the driver raw_exec fail
	struct machine_settings machines;
	struct prepare_settings prepare; // helper NULL: tasks have no artifacts and no templates
	const struct confine *confine;   // the caller's; NULL: tasks are not confined
};

struct runner {
	struct runner_settings settings;
	struct node_facts node; // views; set by the owner
	struct prng prng;
	int64_t epoch_ns; // unix time less monotonic time: clock changes move no timer
	int epoll_fd;
	struct contact contact;            // with the controller
	struct checks *checks;             // of services
	struct preparations *preparations; // NULL: none
	struct alloc_run *allocs;          // newest first
	uint32_t count;
};

// Loads what a former agent left: attaches processes that still run, and notes how the others ended. 0, or -errno and a
// sentence.
int runner_open(
	struct runner *, const struct runner_settings *, char *message, uint32_t message_size);
// Processes run on.
void runner_close(struct runner *);
// Sets what tasks see of the node; the views stay the caller's. Call it before the first runner_step.
void runner_know_node(struct runner *, const struct node_facts *);

struct alloc_run *runner_find(struct runner *, const struct uuid *);
// Starts a new allocation, or applies a new description to a known one. Owns the spec from now on.
void runner_add(struct runner *, const struct uuid *, uint64_t job_index, uint64_t version,
	struct alloc_spec *);
// Adds an allocation that never ran here, so that it is reported as ended.
struct alloc_run *runner_add_ended(struct runner *, const struct uuid *, bool failed);
void runner_stop(struct runner *, struct alloc_run *);
// Reports every allocation again.
void runner_report_all(struct runner *);
// The controller had taken the node for gone, and now wants this allocation to go on.
void runner_reconnect(struct runner *, struct alloc_run *);
// The controller has answered a heartbeat, so allocations that would stop without it go on.
void runner_heard(struct runner *);
void runner_forget(struct runner *, struct alloc_run *);
void runner_stop_all(struct runner *);
void runner_forget_machines(struct runner *); // the node is no worker
bool runner_is_idle(const struct runner *);   // no task is up

// Handles processes that ended, does the work that is due and saves changes. Returns when to call it again (monotonic
// ns); UINT64_MAX: when epoll_fd is readable.
uint64_t runner_step(struct runner *);
