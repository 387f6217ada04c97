// What a node that runs virtual machines reports of itself when it registers: settings vm.…, from which the controller
// makes its worker.
#pragma once
#include "tools/agent/fingerprint.h"
#include "tools/agent/options.h"
#include "tools/agent/vm/machine.h"

#define VM_WORKER_IMAGES_BYTES 400

// Adds the settings to a description that already has the machine's cores and memory; adds nothing unless the node is a
// worker. False: they do not fit.
bool vm_worker_describe(struct fingerprint *, const struct agent_options *);

// How the worker runs its machines. 0, or a negative error and a sentence; the settings point into images.
int vm_worker_machines(const struct agent_options *, struct machine_settings *,
	char images[static VM_WORKER_IMAGES_BYTES], char *message, uint32_t message_size);
