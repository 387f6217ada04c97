// The process in another's place: with another state, or in another role.
#pragma once
#include "tools/berthd/daemon.h"

// As when the log fails: whoever started the process starts it again.
#define BERTHD_EXIT_ANEW 75

// Begins the process anew, with the same arguments and id. Returns only when that cannot be.
void berthd_begin_anew(const struct berthd *, const char *reason);
// Checks an archive wholly, and makes a store of it in store_incoming(). The file stays the caller's. False and a
// sentence.
bool berthd_exchange_prepare(
	const struct config *, int archive, uint64_t *index, char *message, uint32_t message_size);
// Puts that in the place of the own state, from the next start on. False and a sentence: nothing was changed.
bool berthd_exchange_commit(
	const struct config *, uint64_t index, char *message, uint32_t message_size);
