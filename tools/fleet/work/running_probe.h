// What the probe of a simulated node says.
#pragma once
#include "tools/fleet/work/running_state.h"

// A heartbeat of the node was answered.
void running_hear_probe(struct running *, uint32_t node);
uint32_t running_encode_readiness(struct running *, uint32_t node, uint8_t *frame);
void running_take_readiness(struct running *, uint32_t node);
