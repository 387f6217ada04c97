// What a node that runs virtual machines says of itself at its registration: settings vm.…, from which the controller
// makes its worker.
#pragma once
#include "tools/agent/fingerprint.h"
#include "tools/agent/options.h"
#include "tools/agent/vm/machine.h"

#define VM_WORKER_IMAGES_BYTES 400

// Adds the settings to a description that has the machine's cores and memory already; adds nothing for a node that is
// no worker. False: they do not fit.
bool vm_worker_describe(struct fingerprint *, const struct agent_options *);

// How its machines are run. 0, or a negative error and a sentence; images is where the settings point to.
int vm_worker_machines(const struct agent_options *, struct machine_settings *,
	char images[static VM_WORKER_IMAGES_BYTES], char *message, uint32_t message_size);
