// Tries of checks that are under way, all in one epoll set: requests and connections by libcurl, scripts by threads
// of their own. Nothing waits for them.
#pragma once
#include "tools/agent/check/check_state.h"

// Of a node. More wait for their turn.
#define CHECK_TRIES_MAX 64u

struct check_tries;
struct check_try;

// NULL: the machine has not what it needs, as errno tells. Caller closes.
struct check_tries *check_tries_open(void);
void check_tries_close(struct check_tries *);   // drop its tries first
int check_tries_fd(const struct check_tries *); // readable when one has to be stepped
bool check_tries_have_room(const struct check_tries *);
void check_tries_step(struct check_tries *, int64_t now_ns);
// When libcurl wants to be stepped; 0: never.
int64_t check_tries_due_ns(const struct check_tries *);

// Begins a try of a check that can be run. The rule outlives it.
struct check_try *check_try_begin(struct check_tries *, const struct check_rule *,
	const struct alloc_run *, const struct alloc_place *);
// True when it is over by now, or its time is; then it is freed.
bool check_try_take(struct check_try *, int64_t now_ns, struct check_answer *);
int64_t check_try_deadline_ns(const struct check_try *);
void check_try_drop(struct check_try *); // NULL is allowed
