// What a node that runs virtual machines says of itself at its registration: settings vm.…, from which the controller
// makes its worker.
#pragma once
#include "tools/agent/fingerprint.h"
#include "tools/agent/options.h"
#include "tools/agent/vm/machine.h"

#define WORKER_IMAGES_BYTES 400

// Known without being said.
#define WORKER_RESOURCE_CORES "org.cirruslabs.logical-cores"
#define WORKER_RESOURCE_MEMORY "org.cirruslabs.memory-mib"

// RESOURCE=NUMBER each, and NAME=VALUE. False, and a sentence.
bool worker_options_are_sound(const struct agent_options *, char *message, uint32_t message_size);
// The same of one list each, given by that option of that program.
bool worker_resources_are_sound(const struct flag_list *, char *message, uint32_t message_size);
bool worker_labels_are_sound(const struct flag_list *, char *message, uint32_t message_size);
// Whether one item of the list is of that name.
bool worker_list_says(const struct flag_list *, const char *name);
// Adds the settings to a description of which the machine's cores and memory are known already. Nothing of a node
// that is no worker. False: they do not fit.
bool worker_describe(struct fingerprint *, const struct agent_options *);

// How its machines are run. 0, or a negative error and a sentence; images is where the settings point to.
int worker_machines(const struct agent_options *, struct machine_settings *,
	char images[static WORKER_IMAGES_BYTES], char *message, uint32_t message_size);
