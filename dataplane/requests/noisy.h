// The senders that were refused most often for asking too much, of one worker: a bounded list, whose last one gives
// its place, and its count, to who is not in it yet. So whoever was refused more often than that is surely there, and
// counts are never too low. Written by the worker, read by any thread.
#pragma once
#include "dataplane/hot/hot_worker.h"
#include "state/base/uuid.h"

#define NOISY_SENDERS 16u

enum noisy_kind { NOISY_NODE, NOISY_CLIENT };

struct noisy_sender {
	enum noisy_kind kind;
	char name[CLIENT_NAME_BYTES_MAX + 1]; // of a node its uuid
	uint64_t refused;                     // so often, at most
	uint64_t newest_ns;                   // monotonic
};

#define NOISY_NAME_WORDS ((CLIENT_NAME_BYTES_MAX + 8) / 8)

struct noisy_entry {
	uint64_t key;             // first word of the sender's; the worker's alone
	_Atomic uint32_t version; // odd: it is being given to another sender
	_Atomic uint32_t kind;    // enum noisy_kind
	_Atomic uint64_t refused; // 0: nobody is here
	_Atomic uint64_t newest_ns;
	_Atomic uint64_t name[NOISY_NAME_WORDS];
};

struct noisy_list {
	struct noisy_entry entries[NOISY_SENDERS];
};

// Counts one more refusal. False: the sender has no entry yet, and noisy_add() gives it one.
bool noisy_again(struct noisy_list *, uint64_t key, uint64_t now_ns);
void noisy_add(
	struct noisy_list *, uint64_t key, enum noisy_kind, struct text name, uint64_t now_ns);
// Adds the list's senders to those that are there, sorted by how often they were refused. Returns how many there are.
uint32_t noisy_gather(
	const struct noisy_list *, struct noisy_sender *senders, uint32_t count, uint32_t max);
