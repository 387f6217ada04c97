// An allocation as an item of a snapshot. What allocations share is stored with the first of them
// that has it, and known by its number from then on.
#pragma once
#include "state/base/bytes.h"
#include "state/records/allocation.h"

struct snapshot_metrics; // numbered from 0

struct snapshot_metrics *snapshot_metrics_create(void);
void snapshot_metrics_free(struct snapshot_metrics *); // NULL is allowed

void allocation_item_encode(
	const struct allocation *, struct snapshot_metrics *, struct bytes_writer *);

// What the tables have to find: the job version by its modify index.
struct allocation_item {
	struct allocation *allocation; // the caller's: allocation_free
	uint64_t job_version;
};

// Returns 0, -ERROR_CORRUPT or -ERROR_VERSION; then there is no allocation. job is not set, nor is
// the id of a node that is there.
int allocation_item_decode(
	struct allocation_item *, struct snapshot_metrics *, struct bytes_reader *);
