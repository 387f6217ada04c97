// The networks of a node by name, and where a port of theirs would be (row A51).
#pragma once
#include "state/base/uuid.h"
#include "state/records/nodes/node.h"

// The name of a host network on this node, where text with "${…}" is filled in; id is room for the text of the node's
// id. NULL: the node has no such value.
const char *port_host_network(
	const struct node *, const char *host_network, char id[UUID_TEXT_BYTES]);
// The first address of the host network, "" being "default". NULL: none.
const char *port_address(const struct node *, const char *host_network);
