// A log as it was found, whole in memory: that of a member's store, or of etcd (etcd_log.h).
#pragma once
#include "state/store/complaint.h"
#include <stdbool.h>
#include <stdint.h>

struct logged_batch {
	uint64_t first_index;
	uint32_t indexes, size;
	uint8_t *bytes;
	// Of etcd's log alone: who wrote it, and what it said of the state of an index (0: nothing).
	uint64_t leadership, check_index, check;
};

struct log_source {
	const char *name;
	bool has_holes;               // else batches follow each other
	struct logged_batch *batches; // in order
	uint32_t count, capacity;
	char *snapshot; // the file where a replay begins; NULL: with nothing
	uint64_t snapshot_index;
};

// Takes over the bytes.
void log_source_add(struct log_source *, struct logged_batch);
void log_source_drop_last(struct log_source *);
void log_source_free(struct log_source *);
// The place of the first batch that ends after the index.
uint32_t log_source_after(const struct log_source *, uint64_t index);
static inline uint64_t logged_batch_last(const struct logged_batch *b)
{
	return b->first_index + b->indexes - 1;
}
// Index of the newest change that it has, of its snapshot when nothing follows.
uint64_t log_source_last(const struct log_source *);
// Reads a store that no process has open. The replay begins at nothing, or at the oldest snapshot when the log does not
// reach back. What was read before a damage stays. 0 or a negative error.
int log_source_read(struct log_source *, const char *directory, const struct complaint *);
