// Names of what a node may be.
#include "state/records/nodes/node.h"

const char *const node_status_names[] = {"initializing", "ready", "down", "disconnected"};
const char *const node_eligibility_names[] = {"eligible", "ineligible"};
const struct node_fittings node_no_fittings = {.reserved_ports = "", .reservable_cores = ""};

bool attribute_is_unique(struct text name)
{
	static const char part[] = "unique.";
	const uint32_t size = sizeof part - 1;

	for (uint32_t at = 0; at + size <= name.size; at++)
		if ((at == 0 || name.data[at - 1] == '.') &&
			memcmp(name.data + at, part, size) == 0)
			return true;
	return false;
}
