// State on disk: the log of batches, and snapshot files beside it.
//
// DIR/log/          segments: the batches with their checksums (journal.c)
// DIR/snapshot-N    the whole state at index N (snapshot_file.c); the newest two are kept
// DIR/lock          locked while a process has the directory open; holds its process id
// DIR/failed        a write of the log failed; no start until an operator has removed it (state/store/failure.h)
//
// Restart = newest snapshot + batches after it. The log reaches back to the older snapshot, so that
// one damaged snapshot costs a warning and not the state.
#pragma once
#include "state/applier/applier.h"
#include "state/applier/command_log.h"
#include <stdbool.h>
#include <stdint.h>

struct store;

struct store_settings {
	const char *directory;
	int64_t map_bytes; // largest size of the log
	bool read_only;    // --verify-state: changes and creates nothing
	// The log is written behind what is published, so that a snapshot may be newer than its end: whoever owns this
	// store has what is between elsewhere (a member of a cluster).
	bool may_lag;
	bool sync; // false: no fdatasync (only for benchmarks of the rest; logged loudly)
	int64_t snapshot_log_bytes; // least bytes of log after which a snapshot is taken (docs/store.md)
};

// Opens or creates. On failure returns a negative error and a sentence that says what, where and
// what to do.
// The process that has the store of this directory open; 0: none, as far as this user can see.
long store_holder(const char *directory);
int store_open(
	const struct store_settings *, struct store **, char *message, uint32_t message_size);
void store_close(struct store *); // after store_stop_snapshots
struct command_log store_log(struct store *);
// Marks the store after a failed write of its log, as durably as the disk allows. The process has to end then.
void store_note_failure(const struct store *, int error);

struct store_recovery {
	uint64_t snapshot_index, log_index;
	uint64_t snapshot_records, log_entries;
	double seconds;
};
// Loads the stored state into the state and the applier. Call before applier_open. Warns of a damaged snapshot that
// the one before it replaces; refuses when anything else is damaged or missing.
int store_recover(struct store *, struct state *, struct applier *, struct store_recovery *,
	char *message, uint32_t message_size);
// Starts the thread that takes a snapshot when the log has grown and then cuts the log.
int store_start_snapshots(struct store *, struct state *);
void store_stop_snapshots(struct store *);
// One snapshot now; any thread that is not in a read section. Returns 0 or a negative error; what
// was stored before stays valid in any case.
int store_snapshot(struct store *, struct state *);

// The same, and the file, open for reading: the caller closes it. -ENODATA: nothing was ever stored.
int store_snapshot_open(struct store *, struct state *, uint64_t *index);

// Makes a store in a directory that is not there or is empty, of a snapshot alone: begin gives an open file, to which
// the caller writes what store_snapshot_open() gave; end checks it, makes it durable and puts it in its place, abandon
// gives up. Both close the file. On failure a negative error and a sentence.
int store_restore_begin(const char *directory, char *message, uint32_t message_size);
int store_restore_end(
	const char *directory, int file, uint64_t *index, char *message, uint32_t message_size);
void store_restore_abandon(const char *directory, int file);

// A store that is made in the directory store_incoming() gives (the caller frees) takes the place of all that DIR has,
// when DIR is opened for the first time after store_arrived(). That may be while DIR is open. What else was put beside
// its snapshot is moved into DIR after that.
char *store_incoming(const char *directory);
char *store_incoming_path(
	const char *directory); // what is there now, which may be nothing; the caller frees
void store_incoming_drop(const char *directory);
int store_arrived(const char *directory);

struct store_counters {
	_Atomic uint64_t appends, append_bytes, snapshots, snapshot_failures;
	_Atomic uint64_t snapshot_index, log_bytes, room_bytes;
	_Atomic uint64_t tails_cut, segments_late; // journal_tails_cut, journal_segments_late
};
const struct store_counters *store_counters(const struct store *);
