// The applier's inbox: one single-producer ring per worker and one multi-producer ring for all other threads
// (Concurrency Kit). A full ring refuses, and the caller counts it.
#pragma once
#include "state/log/command.h"
#include <stdint.h>

struct command_queue;

// Producer number of all threads but the workers.
#define COMMAND_PRODUCER_SHARED 0xffffu

struct command_queue *command_queue_create(uint32_t workers); // caller destroys
void command_queue_destroy(struct command_queue *);
uint32_t command_queue_workers(const struct command_queue *);

// Returns false when that ring is full. producer: a worker's number (one thread each), or COMMAND_PRODUCER_SHARED
// (any thread). Wakes a sleeping applier: the only system call that a worker may make, and only on its first command
// after a lull.
bool command_queue_push(struct command_queue *, uint16_t producer, struct command *);

// Applier only. Takes up to max commands, workers' rings in turn so that none starves.
uint32_t command_queue_take(struct command_queue *, struct command **, uint32_t max);
// Applier only. Looks out for commands for some 20 us without sleeping. Returns whether there is something to do.
bool command_queue_watch(struct command_queue *);
// Applier only. Sleeps until something is pushed, at most timeout_us.
void command_queue_wait(struct command_queue *, uint32_t timeout_us);
// Wakes the applier without a command (shutdown, a batch became durable).
void command_queue_kick(struct command_queue *);
// Commands waiting; for metrics, any thread, approximate.
uint32_t command_queue_depth(const struct command_queue *);
