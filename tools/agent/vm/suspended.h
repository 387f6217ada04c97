// Takes away what was suspended on this worker and is wanted no more: it is as large as a machine's memory and disk.
#pragma once
#include "state/base/time_units.h"
#include <stdbool.h>
#include <stdint.h>

// A suspension takes no longer (MACHINE_SUSPEND_TIMEOUT_NS); what is unfinished after that is left over.
#define SUSPENDED_PART_NS (60 * NS_PER_MIN)

struct suspended_rule {
	int64_t now_ns;   // unix
	int64_t keeps_ns; // after the last time that it was suspended or resumed; 0: for ever
	// Whether a machine is here that goes on from the one of this name (NAME-UID).
	bool (*is_in_use)(void *context, const char *name);
	void *context;
};

// What another one needs, which goes on from it, stays as long as that. Returns how many it removed, and logs each.
uint32_t suspended_collect(const char *data_folder, const struct suspended_rule *);
