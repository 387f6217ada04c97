// The nodes that benchmarks register: 45 attributes each, as a real agent reports them. 36 are
// those of the hardware and software that the node shares with one in eight others; 9 are its own.
#pragma once
#include "state/log/command.h"
#include <stdint.h>

#define FLEET_CLASSES 8u
#define FLEET_SHARED_ATTRIBUTES 36u
#define FLEET_OWN_ATTRIBUTES 9u
#define FLEET_TEXT_BYTES 1024u

// Fills a description whose own texts are written to text; the same number gives the same node.
void fleet_describe(
	uint32_t number, struct node_registration *, char text[static FLEET_TEXT_BYTES]);
