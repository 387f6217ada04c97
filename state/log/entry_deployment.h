// The entry of what becomes of a deployment by somebody's word; what schedulers say of it is in their plans. Its
// bytes are documented at the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/deployment.h"
#include <stdbool.h>
#include <stdint.h>

struct state;
struct entry_plan;

// The most allocations whose health one entry tells.
#define DEPLOYMENT_HEALTH_MAX 65536u

enum deployment_change { // stored: numbers are never given again
	DEPLOYMENT_BEGINS,
	DEPLOYMENT_CHANGES_STATUS,
	DEPLOYMENT_IS_PROMOTED,
	DEPLOYMENT_HEALTH_IS_SET,
	DEPLOYMENT_CHANGES
};

struct alloc_health {
	struct uuid id;
	bool healthy;
};

struct entry_deployment {
	uint8_t change;                // enum deployment_change
	struct deployment *deployment; // BEGINS: the entry's own, without indexes and times
	struct uuid id;                // of the others
	int status;                    // CHANGES_STATUS: enum deployment_status
	struct text description;
	uint32_t count;
	struct text *groups;        // IS_PROMOTED: the array is the entry's own; each once
	struct alloc_health *items; // HEALTH_IS_SET: the entry's own; by ascending id
};

void entry_deployment_encode(const struct entry_deployment *, struct bytes_writer *);
// Returns 0, -ERROR_CORRUPT or -ERROR_VERSION; then nothing is left to release.
int entry_deployment_decode(struct entry_deployment *, struct bytes_reader *);
void entry_deployment_release(struct entry_deployment *);

// It is there, and belongs to the deployment.
bool allocation_is_of_deployment(
	const struct state *, const struct uuid *id, const struct uuid *deployment);
struct alloc_cell;
// A living one of the deployment whose node called it healthy; the cell may be NULL.
bool canary_is_healthy(const struct alloc_cell *, const struct uuid *deployment);
int deployment_entry_check(const struct state *, const struct entry_deployment *);
void deployment_entry_apply(struct state *, struct entry_deployment *, int64_t time_ns);

// --- A plan's deployments (apply_deployment.c) -----------------------------------------------------

// What a plan says of deployments, as it is stored.
void plan_deployments_encode(const struct entry_plan *, struct bytes_writer *);
int plan_deployments_decode(struct entry_plan *, struct bytes_reader *);
void plan_deployments_release(struct entry_plan *);
void plan_deployments_apply(struct state *, const struct entry_plan *);
