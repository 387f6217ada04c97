// Shared by the files of the store.
#pragma once
#include "state/store/complaint.h"
#include "state/store/journal.h"
#include "state/store/store.h"
#include <pthread.h>
#include <stdbool.h>

// Number of snapshots kept, newest first: one more than needed, in case the newest is damaged.
#define SNAPSHOTS_KEPT 2
// The name of a snapshot until it is whole.
#define SNAPSHOT_UNFINISHED "snapshot.new"

struct snapshot_list {
	uint64_t *indexes; // descending; caller frees
	uint32_t count;
};

struct store {
	char *directory;
	struct store_settings settings;
	int lock_fd;
	struct journal *journal; // NULL: read only, and there is none
	struct store_counters counters;

	pthread_mutex_t taking; // one snapshot at a time; guards kept
	uint64_t kept[SNAPSHOTS_KEPT];

	pthread_mutex_t waking; // guards the members that follow
	pthread_cond_t wake;
	pthread_t thread;
	bool running, stop, starved; // starved: an append found no room
	struct state *state;
	_Atomic uint64_t appended_mark; // journal_appended_bytes() up to which no snapshot is due
};

char *snapshot_path(const struct store *, uint64_t index); // caller frees
// Lists the files with names of snapshots. Returns 0 or -errno.
int snapshot_list_read(const char *directory, struct snapshot_list *);
// Removes the snapshots that are not among kept, and what an interrupted one left. Errors are
// logged.
void snapshot_prune(struct store *);
// Bytes of log after which the next snapshot is due. The caller holds `taking`, or is the only one.
uint64_t snapshot_interval_bytes(const struct store *);
// After an append: wakes the thread when a snapshot is due, or at once when there was no room.
void snapshot_consider(struct store *, bool starved);
// Puts a snapshot that arrived in the place of all that the directory has. 0 also when there is none.
int exchange_finish(const char *directory, const struct complaint *);
