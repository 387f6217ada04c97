// The entry that changes a deployment by a command: the body of an entry as entry.h tells. Changes by schedulers are in
// their plans. The bytes are documented at the top of entry.c.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/log/coder.h"
#include "state/records/deployment.h"
#include <stdbool.h>
#include <stdint.h>

// The most allocations whose health one entry tells.
#define DEPLOYMENT_HEALTH_MAX 65536u

enum deployment_change { // stored: numbers are never given again
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
	uint8_t change; // enum deployment_change
	struct uuid id;
	uint8_t status; // CHANGES_STATUS: enum deployment_status
	struct text description;
	uint32_t count;
	struct text *groups;        // IS_PROMOTED: the array is the entry's own; each once
	struct alloc_health *items; // HEALTH_IS_SET: the entry's own; by ascending id
};

coder_function entry_deployment_code;
void entry_deployment_release(void *body);
