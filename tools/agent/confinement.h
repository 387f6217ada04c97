// How this node confines its tasks: what the options say, and what is registered of it.
#pragma once
#include "tools/agent/confine/confine.h"
#include "tools/agent/fingerprint.h"
#include "tools/agent/options.h"

// As confine_open(). The options stay the caller's.
int confinement_open(
	struct confine *, const struct agent_options *, char *message, uint32_t message_size);
// Adds the driver exec, healthy or not, and what jobs may ask of control groups.
void confinement_describe(const struct confine *, struct fingerprint *);
