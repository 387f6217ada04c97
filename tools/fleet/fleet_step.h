// What the simulated nodes do: register, beat, ask again, leave, and handle the controller's answers.
#pragma once
#include "tools/fleet/nodes/fleet.h"

// One round: receives frames and sends those that are due. Returns frames handled.
uint32_t fleet_step(struct fleet *);
