// Ports of a node: which are taken on each of its addresses, and giving out more (row A53).
#pragma once
#include "placement/feasibility/host_network.h"
#include "placement/scheduler/common/reasons.h"
#include "state/base/prng.h"
#include "state/records/alloc_details.h"
#include "state/records/job.h"
#include "state/records/nodes/node.h"

#define PORTS 65536u
#define DYNAMIC_PORT_LEAST 20000u
#define DYNAMIC_PORT_MOST 32000u

struct port_map {
	const char *address;
	uint64_t taken[PORTS / 64];
};

// Scratch memory, used for one node after the other.
struct port_index {
	const struct node *node;
	struct port_map *maps; // one for each different address
	uint32_t map_count, map_room;
	struct prng prng; // where the search for dynamic ports begins
};

void port_index_release(struct port_index *);
// Starts with the ports that the node keeps for itself.
void port_index_begin(struct port_index *, const struct node *);
// Takes the ports that an allocation holds; addresses that the node does not have (any more) are passed over.
void port_index_take(struct port_index *, const struct alloc_details *);
bool port_is_taken(const struct port_index *, const char *address, int64_t port);

// Gives the group's ask its ports: entries of details->ports and details->networks. NULL: done. Otherwise why not
// ("reserved port collision http=80"), and details may be half filled.
const char *ports_assign_group(
	struct port_index *, struct reasons *, const struct network_ask *, struct alloc_details *);
// Does the same for the network of a task.
const char *ports_assign_task(
	struct port_index *, struct reasons *, const struct network_ask *, struct allocated_task *);

// True when details hold the port on this address.
bool details_hold_port(const struct alloc_details *, const char *address, int64_t port);
