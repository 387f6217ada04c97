// Allocations of the simulated nodes. A node asks for them when a heartbeat's answer says that there is news, runs
// them as their job says (behaviour.h) or for a drawn time, judges their health and reports until it is acknowledged.
// One node asks for the description of a job's version, for all of them.
#pragma once
#include "tools/fleet/work/running_state.h"

struct running *running_create(struct fleet *, const struct running_settings *); // caller destroys
void running_destroy(struct running *);
// Does what is due; returns frames sent and timers handled.
uint32_t running_step(struct running *);

// The fleet tells: a node registered, was acknowledged, or lost all that it ran.
void running_registered(struct running *, uint32_t node);
void running_acknowledged(struct running *, uint32_t node);
void running_crashed(struct running *, uint32_t node);
// Takes a frame to that node; false when it is not about allocations.
bool running_receive(struct running *, uint32_t node, const uint8_t *data, uint32_t size);
