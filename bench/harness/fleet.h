// The nodes that benchmarks register: 45 attributes each, as a real agent reports them. A node shares 36 of them,
// those of hardware and software, with one in eight others; 9 are its own.
#pragma once
#include "state/log/command.h"
#include <stdint.h>

#define FLEET_CLASSES 8u
#define FLEET_SHARED_ATTRIBUTES 36u
#define FLEET_OWN_ATTRIBUTES 9u
#define FLEET_TEXT_BYTES 1024u

// Fills a description and writes its own texts to text; the same number gives the same node.
void fleet_describe(
	uint32_t number, struct node_registration *, char text[static FLEET_TEXT_BYTES]);
