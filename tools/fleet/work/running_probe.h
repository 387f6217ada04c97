// The probe of a simulated node.
#pragma once
#include "tools/fleet/work/running_state.h"

// The controller answered a heartbeat of the node.
void running_hear_probe(struct running *, uint32_t node);
uint32_t running_encode_readiness(struct running *, uint32_t node, uint8_t *frame);
void running_take_readiness(struct running *, uint32_t node);
