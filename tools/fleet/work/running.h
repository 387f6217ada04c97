// Allocations of the simulated nodes: asked for when a heartbeat's answer says that there is news, run as their job
// says (behaviour.h) or for a drawn time, judged for health, reported until acknowledged. Nodes take no description of
// their own: one of them asks for all allocations of a job's version.
#pragma once
#include "tools/fleet/work/running_state.h"

struct running *running_create(struct fleet *, const struct running_settings *); // caller destroys
void running_destroy(struct running *);
// What is due; returns frames sent and timers handled.
uint32_t running_step(struct running *);

// The fleet tells: a node registered, was acknowledged, or lost all that it ran.
void running_registered(struct running *, uint32_t node);
void running_acknowledged(struct running *, uint32_t node);
void running_crashed(struct running *, uint32_t node);
// A frame to that node; false when it is not about allocations.
bool running_receive(struct running *, uint32_t node, const uint8_t *data, uint32_t size);
