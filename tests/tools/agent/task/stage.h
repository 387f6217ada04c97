// A node's runner in a folder of its own, with mock tasks and a clock that stands still unless told. One of each a
// program.
#pragma once
#include "tools/agent/runner.h"

extern char stage_folder[64];
extern struct manual_time manual;
extern struct runner runner;
extern struct prepare_settings
	stage_prepare; // that runners open with; nothing, unless a test sets it
extern const struct confine *stage_confine; // of runners that are opened from now on; NULL at first

// The caller keeps the facts until it closes; stage_close() answers as a tear-down does.
void stage_open(const struct node_facts *);
int stage_close(void);
// Closes what confines tasks, and removes its groups; 0 when they could be removed.
int stage_close_confine(struct confine *);
// The runner again after runner_close(), as an agent that starts again opens it.
void stage_reopen(void);

// An allocation of job "j", run and stepped once. further: members of the description, each with its comma; tasks:
// objects.
struct alloc_run *stage_run(
	const struct uuid *, const char *job_type, const char *further, const char *tasks);
// What stage_run() runs. Caller frees.
struct alloc_spec *stage_describe(
	const struct uuid *, const char *job_type, const char *further, const char *tasks);
// A file of the allocation's folder, or "" where there is none; until the next call.
const char *stage_content(const struct uuid *, const char *name);
// Lets the time pass, and steps the runner once.
void stage_pass_ms(uint32_t ms);
// Two milliseconds. Returns when they are over, in ms.
uint64_t stage_wait_a_moment(void);
// Until it is so: a minute on the clock of the wall is enough for the slowest machine. What else is to be done until
// then follows.
#define STAGE_AWAIT(condition, meanwhile)                                                     \
	for (uint64_t began_ms_ = stage_wait_a_moment(), now_ms_ = began_ms_;                 \
		!(condition) && now_ms_ - began_ms_ < 60000; now_ms_ = stage_wait_a_moment()) \
	(void)(meanwhile)
