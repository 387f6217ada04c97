// Threads that look on while a controller's applier runs on its own.
#pragma once
#include "tests/support/controller.h"
#include <pthread.h>

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
