// An allocation as an item of a snapshot. Metrics that allocations share are stored with the first of them, and named
// by their number from then on.
#pragma once
#include "state/base/bytes.h"
#include "state/records/allocation.h"

struct snapshot_metrics; // numbered from 0

struct snapshot_metrics *snapshot_metrics_create(void);
void snapshot_metrics_free(struct snapshot_metrics *); // NULL is allowed

void allocation_item_encode(
	const struct allocation *, struct snapshot_metrics *, struct bytes_writer *);

// The tables have to find the job version by its modify index.
struct allocation_item {
	struct allocation *allocation; // the caller's: allocation_free
	uint64_t job_version;
};

// Returns 0, -ERROR_CORRUPT or -ERROR_VERSION; after an error there is no allocation. Sets neither job nor the id of a
// node that is there.
int allocation_item_decode(
	struct allocation_item *, struct snapshot_metrics *, struct bytes_reader *);
