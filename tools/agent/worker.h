// What a node that runs virtual machines says of itself at its registration: settings vm.…, from which the controller
// makes its worker.
#pragma once
#include "tools/agent/fingerprint.h"
#include "tools/agent/options.h"

// RESOURCE=NUMBER each, and NAME=VALUE. False, and a sentence.
bool worker_options_are_sound(const struct agent_options *, char *message, uint32_t message_size);
// Adds the settings to a description of which the machine's cores and memory are known already. Nothing of a node
// that is no worker. False: they do not fit.
bool worker_describe(struct fingerprint *, const struct agent_options *);
