// The member's own store, which a thread writes behind the cluster's log: what is in it makes a restart short, and lets
// the log be cut. It loses nothing that etcd has: who starts anew reads on there.
#pragma once
#include "state/applier/command_log.h"
#include <stdbool.h>
#include <stdint.h>

struct own_store;

// So many bytes of batches wait for it at most, and those that come together.
#define OWN_STORE_BEHIND_BYTES (16u * 1024 * 1024)

// failed: the store cannot be written, for another reason than want of room. On the thread of the store.
struct own_store *own_store_create(
	struct command_log, void (*failed)(void *context, int error), void *context);
// Starts the thread. index: the newest that the store has. Returns 0 or a negative error.
int own_store_start(struct own_store *, uint64_t index);
// Nobody waits for room any more.
void own_store_hurry(struct own_store *);
// Writes what waits, if the store has room for it, and ends the thread.
void own_store_stop(struct own_store *);
void own_store_destroy(struct own_store *); // NULL is allowed

// Waits until it is not far behind. -ECANCELED: it is in a hurry. -ENOSPC: it has no room, which only who is patient
// waits for. Any thread.
int own_store_await_room(struct own_store *, bool is_patient);
// Takes a copy of a batch, which is written when all before it are. Who puts has waited for room. Any thread.
void own_store_put(struct own_store *, uint64_t first_index, uint32_t indexes, const void *batch,
	uint32_t size);

// Any thread.
uint64_t own_store_index(const struct own_store *); // newest that it has on its disk
int64_t own_store_room_bytes(const struct own_store *);
