// Quotas: how much the living allocations of the namespaces that name one may have together (row B45).
#pragma once
#include "state/base/schema.h"
#include "state/base/text.h"
#include "state/records/job.h"
#include "state/records/record.h"

struct quota_device {
	char *name; // as jobs ask for devices: type, vendor/type or vendor/type/name
	int64_t count;
};
struct quota_resources { // 0: without a limit; negative: nothing
	int64_t cpu_mhz, memory_mb, instances;
	struct array devices; // quota_device
};
struct quota_limit {
	char *region; // ""; or that of the controller
	struct quota_resources resources;
};
struct quota {
	struct record record; // first
	char *name;
	char *description;
	struct array limits; // quota_limit; at most one
};

extern const struct record_type quota_description;

bool quota_is_fit(const struct quota *); // its name, and how much it says

// What allocations have, or what is to come of it. Devices are counted by the names that jobs ask for.
struct quota_amount {
	int64_t cpu_mhz, memory_mb, instances;
	struct array devices; // named_count, without zeros
};

// by: how many such instances come (or, less than 0, go). ask: of their group.
void quota_amount_add(
	struct quota_amount *, struct resources, const struct group_ask *ask, int64_t by);
void quota_amount_merge(struct quota_amount *, const struct quota_amount *other, int64_t by);
bool quota_amount_equal(const struct quota_amount *, const struct quota_amount *);
void quota_amount_free(struct quota_amount *);
// How many devices of a limit's name are among those that were asked for: "gpu" is every "nvidia/gpu/1080ti", too.
int64_t quota_amount_devices(const struct quota_amount *, const char *limited);
// Whether a change would bring more than the quota allows beside what is used. What falls never does. texts (NULL:
// nobody wants them): gets a sentence for each such dimension, char *, which the caller frees.
bool quota_lacks(const struct quota *, const struct quota_amount *used,
	const struct quota_amount *change, struct array *texts);
