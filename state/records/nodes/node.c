// Names of what a node may be.
#include "state/records/nodes/node.h"

const char *const node_status_names[] = {"initializing", "ready", "down", "disconnected"};
const char *const node_eligibility_names[] = {"eligible", "ineligible"};
const struct node_fittings node_no_fittings = {.reserved_ports = "", .reservable_cores = ""};

// Most names have no q at all.
bool attribute_is_unique(struct text name)
{
	static const char part[] = "unique.";
	const ptrdiff_t size = sizeof part - 1, before = 3; // of the q
	const char *at = name.data, *end = at + name.size;

	while (end - at >= size) {
		const char *q = memchr(at, 'q', (size_t)(end - at));
		if (!q)
			return false;
		const char *start = q - before;
		if (start >= name.data && end - start >= size &&
			memcmp(start, part, (size_t)size) == 0 &&
			(start == name.data || start[-1] == '.'))
			return true;
		at = q + 1;
	}
	return false;
}
