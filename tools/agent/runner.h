// Everything that runs on this node: allocations by id, their processes in one epoll set, and what of it is
// remembered across restarts of the agent.
#pragma once
#include "state/base/time_source.h"
#include "tools/agent/base/contact.h"
#include "tools/agent/task/alloc_run.h"
#include "tools/agent/vm/machine.h"

struct runner_settings {
	const char *data_folder;  // of what tasks write
	const char *state_folder; // of what is remembered
	const struct time_source *time;
	uint64_t seed;
	bool no_raw_exec; // its tasks fail
	struct machine_settings machines;
};

struct runner {
	struct runner_settings settings;
	struct node_facts node; // views; set by the owner
	struct prng prng;
	int64_t epoch_ns; // unix time less monotonic time: jumps of the clock move no timer
	int epoll_fd;
	struct contact contact;   // with the controller
	struct alloc_run *allocs; // newest first
	uint32_t count;
};

// Takes up what a former agent left: attaches processes that still run, and notes how the others ended. 0, or -errno
// and a sentence.
int runner_open(
	struct runner *, const struct runner_settings *, char *message, uint32_t message_size);
// Leaves processes alone.
void runner_close(struct runner *);
// Starts what runner_open found anew only after the node is known.
void runner_know_node(struct runner *, const struct node_facts *);

struct alloc_run *runner_find(struct runner *, const struct uuid *);
// Begins to run an allocation, or takes up what has changed in it. Takes the spec over.
void runner_add(struct runner *, const struct uuid *, uint64_t job_index, uint64_t version,
	struct alloc_spec *);
// Adds an allocation that never ran here, so that it is reported as ended.
struct alloc_run *runner_add_ended(struct runner *, const struct uuid *, bool failed);
void runner_stop(struct runner *, struct alloc_run *);
// Every allocation is to be reported again.
void runner_report_all(struct runner *);
// The controller took the node for gone, and now wants this allocation to go on.
void runner_reconnect(struct runner *, struct alloc_run *);
// The controller has answered a heartbeat, so allocations that stop without it go on.
void runner_heard(struct runner *);
void runner_forget(struct runner *, struct alloc_run *);
void runner_stop_all(struct runner *);
void runner_forget_machines(struct runner *); // it is no worker
bool runner_is_idle(const struct runner *);   // nothing is up

// Takes ends of processes, does what is due, saves what changed. Returns when to call it again (monotonic ns);
// UINT64_MAX: when epoll_fd is readable.
uint64_t runner_step(struct runner *);
