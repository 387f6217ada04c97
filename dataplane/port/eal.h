// Starts DPDK's environment for exactly the devices of the ask. Once per process.
#pragma once
#include "dataplane/port/device.h"

struct eal_ask {
	const struct device *devices;
	uint32_t device_count; // as many as ports
	int main_cpu;
	const char *huge;   // "auto", "yes", "no"
	uint32_t memory_mb; // without huge pages; 0: as much as the ports need
	const struct port_settings *ports;
	const char *extra; // further arguments, separated by blanks
};

// True when huge pages will be used: asked for, or "auto" and enough of them free.
bool eal_wants_huge(const char *huge, const struct port_settings *, uint32_t count);
// Restores the calling thread's affinity, which EAL changes. message: what, where and what to do.
int eal_start(const struct eal_ask *, char *message, uint32_t message_size);
// Whether EAL takes the extra arguments: a child process starts it, with little memory and no device. Returns 0 or a
// negative error, and in message the first line that it said.
int eal_try(const char *extra, char *message, uint32_t message_size);
void eal_stop(void);
// Creates a virtual device; a PCI device is there since eal_start(). Returns 0 or a negative error.
int eal_add_device(const struct device *);
void eal_remove_device(const struct device *);
// DPDK's first complaint since the last call, or ""; it usually says why something failed.
const char *eal_complaint(void);
