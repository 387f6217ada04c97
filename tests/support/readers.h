// Threads that read while a controller's applier runs on its own threads.
#pragma once
#include "tests/support/controller.h"
#include <pthread.h>

struct reader {
	struct controller *controller;
	_Atomic bool stop;
	_Atomic uint64_t rounds; // completed
	uint32_t wrong;          // mistakes that it saw
	pthread_t thread;
};
// Makes rounds until its reader, the argument, must stop.
typedef void *reader_body(void *reader);

void readers_start(
	struct reader *, reader_body *const *bodies, uint32_t count, struct controller *);
// Fails the test when a reader saw a mistake. Each reader has completed at least one round.
void readers_stop(struct reader *, uint32_t count);
// Takes snapshots, loads them elsewhere and verifies the loaded state.
reader_body reader_of_snapshots;
