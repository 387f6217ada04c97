// Allocations of the simulated nodes. A node asks for them when a notice or a heartbeat's answer announces news, runs
// them as their job says (behaviour.h) or for a drawn time, judges their health and reports until the controller
// acknowledges. One node asks for the description of a job's version, for all nodes.
#pragma once
#include "tools/fleet/work/running_state.h"

struct running *running_create(struct fleet *, const struct running_settings *); // caller destroys
void running_destroy(struct running *);
// Does the work that is due; returns frames sent and timers handled.
uint32_t running_step(struct running *);

// The fleet calls these: a node registered, was acknowledged, was told of news, or lost all that it ran.
void running_registered(struct running *, uint32_t node);
void running_acknowledged(struct running *, uint32_t node);
void running_notified(struct running *, uint32_t node);
void running_crashed(struct running *, uint32_t node);
// Handles a frame for that node; false when it is not about allocations.
bool running_receive(struct running *, uint32_t node, const uint8_t *data, uint32_t size);
