// The checks of all allocations on this node: when each is tried, and what comes of it for the health of its allocation
// and for its tasks.
#pragma once
#include "tools/agent/check/check_try.h"

struct checks;

// NULL: the machine has not what they need, as errno tells. Caller closes.
struct checks *checks_open(void);
void checks_close(struct checks *);   // let go of all allocations first
int checks_fd(const struct checks *); // readable when checks_step() has something to do

// Goes on with the tries that are under way. Call it before checks_follow().
void checks_step(struct checks *, int64_t now_ns);
// Begins checks of an allocation whose tasks run, takes their answers, tells its health, and restarts tasks. Call it
// after each step of the allocation. True when the allocation is to be stepped again.
bool checks_follow(struct checks *, struct alloc_run *, const struct alloc_place *);
// When to follow the allocation next if nothing happens before; 0: never.
int64_t checks_due_ns(const struct checks *, const struct alloc_run *);
void checks_let_go(struct alloc_run *);

// As Nomad's clients answer /v1/client/allocation/ID/checks: an object by the ids of checks. Caller frees.
json_t *checks_json(const struct alloc_run *);
