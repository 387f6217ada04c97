// What an agent remembers across restarts, in its state directory: who it is ("node-id", made at the first
// start) and the highest controller term it has obeyed ("term").
#pragma once
#include "dataplane/wire/auth.h"
#include "state/base/prng.h"

struct identity {
	char folder[256];
	struct uuid node;
	uint64_t term;
	int lock_fd; // locked while the process lives: one agent per identity
};

// Creates folder (0700) and node-id when they are missing; locks the identity. Returns 0, or -errno /
// -ERROR_CORRUPT and a sentence about what, where and what to do.
int identity_open(
	const char *folder, struct prng *, struct identity *, char *message, uint32_t message_size);
void identity_close(struct identity *);
// Stores the term durably before it returns. Returns 0, or -errno and a sentence.
int identity_store_term(struct identity *, uint64_t term, char *message, uint32_t message_size);
// Reads the node's own key, in the form that `berth node key UUID` prints. Returns 0, or -errno / -ERROR_CORRUPT and a
// sentence.
int identity_read_key(
	const char *path, uint8_t *key_id, struct wire_key *, char *message, uint32_t message_size);
