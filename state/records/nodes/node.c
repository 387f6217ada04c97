// Names of what a node may be.
#include "state/records/nodes/node.h"

const char *const node_status_names[] = {"initializing", "ready", "down", "disconnected"};
const char *const node_eligibility_names[] = {"eligible", "ineligible"};
const struct node_fittings node_no_fittings = {.reserved_ports = "", .reservable_cores = ""};

// Part by part: most names have two or three.
bool attribute_is_unique(struct text name)
{
	static const char part[] = "unique.";
	const ptrdiff_t size = sizeof part - 1;
	const char *at = name.data, *end = at + name.size;

	while (end - at >= size) {
		if (memcmp(at, part, (size_t)size) == 0)
			return true;
		const char *dot = memchr(at, '.', (size_t)(end - at));
		if (!dot)
			return false;
		at = dot + 1;
	}
	return false;
}
