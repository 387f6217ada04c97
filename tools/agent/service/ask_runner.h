// How a thread of the service has something done on the agent's main thread, to which the runner belongs: a mailbox.
// The main thread polls its descriptor and serves who waits.
#pragma once
#include <stdint.h>

struct ask_runner;
struct runner;

// Runs on the main thread, between two turns of the runner, so it must not block. It may look at all that the runner
// has and change it; the runner takes the next turn right after it. What it keeps it copies.
typedef void ask_runner_function(struct runner *, void *context);

// How long an answer waits for the main thread: longer than a turn, which may start processes.
#define ASK_RUNNER_WAIT_MS 10000u

// NULL and errno: there is no descriptor left.
struct ask_runner *ask_runner_create(void);
// Everybody who waits, and who asks later, gets -ESHUTDOWN. Main thread.
void ask_runner_close(struct ask_runner *);
// After the last thread that may ask has ended. NULL is allowed.
void ask_runner_destroy(struct ask_runner *);

// Main thread: a descriptor that is readable while somebody waits, and what then is done.
int ask_runner_fd(const struct ask_runner *);
void ask_runner_serve(struct ask_runner *, struct runner *);

// Any other thread: has the function run and waits for its end. 0; -ETIMEDOUT: the main thread had no time, and the
// function will never run; -ESHUTDOWN: the agent ends, the same.
int ask_runner(struct ask_runner *, ask_runner_function *, void *context, uint32_t timeout_ms);
