// What allocations hold of one node beside amounts and device instances: ports of its addresses and cores. Filled
// allocation by allocation; a conflict between two of them shows at once.
#pragma once
#include "state/records/alloc_details.h"
#include "state/records/nodes/node.h"

struct held_port {
	const char *address; // NULL: empty
	uint32_t port;
};

struct node_ports_cores {
	struct held_port *ports; // a hash table; a power of two of them
	uint32_t capacity, count;
	uint64_t *cores; // one bit each
	uint32_t core_words;
};

void node_ports_cores_clear(struct node_ports_cores *);
void node_ports_cores_release(struct node_ports_cores *);
// False when a part is held already, or cannot be held by anybody; the other parts are held all the same.
bool node_ports_add(struct node_ports_cores *, const struct alloc_details *);
bool node_cores_add(struct node_ports_cores *, const struct alloc_details *);
bool details_hold_cores(const struct alloc_details *);

// Whether the node keeps one of the ports back, on all its addresses or on the port's.
bool node_keeps_port_back(const struct node *, const struct alloc_details *);
// Whether the node has all the cores.
bool node_has_cores(const struct node *, const struct alloc_details *);
