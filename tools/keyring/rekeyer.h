// Encrypts anew what retired keys encrypt, on a thread of its own: variable by variable, each one stored under the
// newest key, as if it was put with check-and-set, before the next. A crash in between leaves every variable with a key
// that the keyring has, and after a restart the rest goes on: which keys are retired is in the keyring's file.
#pragma once
#include "state/applier/command_queue.h"
#include "state/tables/state.h"
#include "tools/keyring/keyring.h"

struct rekeyer;

struct rekeyer_settings {
	struct keyring *keyring;
	const struct state *state;
	struct command_queue *queue; // of an applier that outlives the rekeyer
};

// NULL when there can be no thread.
struct rekeyer *rekeyer_start(const struct rekeyer_settings *);
void rekeyer_stop(struct rekeyer *); // frees it; NULL is fine
