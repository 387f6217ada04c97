// What the simulated nodes do: register, beat, ask again, leave, and take what the controller answers.
#pragma once
#include "tools/fleet/nodes/fleet.h"

// One round: receive, send what is due. Returns frames handled.
uint32_t fleet_step(struct fleet *);
