// Starts DPDK's environment for exactly the devices that are asked for. Once per process.
#pragma once
#include "dataplane/device.h"

struct eal_ask {
	const struct device *devices;
	uint32_t device_count;
	int main_cpu;
	const char *huge;      // "auto", "yes", "no"
	uint32_t memory_mb;    // without huge pages
	uint64_t needed_bytes; // for the pools: decides whether the free huge pages are enough
	const char *extra;     // further arguments, separated by blanks
};

// True when huge pages will be used: asked for, or "auto" and enough of them free.
bool eal_wants_huge(const char *huge, uint64_t needed_bytes);
// Restores the calling thread's affinity, which EAL changes. message: what, where and what to do.
int eal_start(const struct eal_ask *, char *message, uint32_t message_size);
void eal_stop(void);
