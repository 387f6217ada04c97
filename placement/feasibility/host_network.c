#include "placement/feasibility/host_network.h"
#include "placement/constraint/constraint.h"
#include <string.h>

const char *port_host_network(
	const struct node *node, const char *host_network, char id[UUID_TEXT_BYTES])
{
	const char *name = host_network ? host_network : "";
	if (strncmp(name, "${", 2) != 0)
		return name;
	struct node_property *target = node_property_compile(name);
	const char *value = node_property_value(target, node, id);
	node_property_free(target);
	return value;
}

const char *port_address(const struct node *node, const char *host_network)
{
	char id[UUID_TEXT_BYTES];
	const char *name = port_host_network(node, host_network, id);
	if (!name || (host_network && host_network[0] && !name[0]))
		return NULL;
	const char *alias = name[0] ? name : "default";
	const struct node_fittings *fittings = node_fittings(node);
	for (uint32_t i = 0; i < fittings->network_count; i++)
		for (uint32_t j = 0; j < fittings->networks[i].address_count; j++) {
			const struct node_address *a = &fittings->networks[i].addresses[j];
			if (a->alias && a->address && strcmp(a->alias, alias) == 0)
				return a->address;
		}
	return NULL;
}
