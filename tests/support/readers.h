// A controller on the applier's own threads, for tests: commands that are waited for, and threads that look on
// meanwhile.
#pragma once
#include "tests/support/controller.h"
#include <pthread.h>

// Until the commands of controller_push() that count into it are done.
void await_done(uint32_t *done, uint32_t count);
// A command from push to done, while the applier's threads run.
enum command_outcome run_and_await(struct controller *, struct command *);

struct reader {
	struct controller *controller;
	_Atomic bool stop;
	_Atomic uint64_t rounds; // that it has gone
	uint32_t wrong;          // things that it saw
	pthread_t thread;
};
// Goes rounds until its reader, which it is given, is to stop.
typedef void *reader_body(void *reader);

void readers_start(
	struct reader *, reader_body *const *bodies, uint32_t count, struct controller *);
// Fails the test when one saw something wrong. Each has gone a round at least.
void readers_stop(struct reader *, uint32_t count);
// Takes snapshots, loads them elsewhere and verifies what comes of it.
reader_body reader_of_snapshots;
