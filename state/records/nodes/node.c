// Names of what a node may be, and its attributes and metadata by name.
#include "state/records/nodes/node.h"

const char *const node_status_names[] = {"initializing", "ready", "down", "disconnected"};
const char *const node_eligibility_names[] = {"eligible", "ineligible"};

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

static const char *find_sorted(const struct attribute *sorted, uint32_t count, const char *name)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(sorted[middle].name, name);
		if (order == 0)
			return sorted[middle].value;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *node_attribute(const struct node *n, const char *name)
{
	return attribute_is_unique(text_of(name))
		       ? find_sorted(n->unique_attributes, n->unique_attribute_count, name)
		       : find_sorted(
				 n->node_class->attributes, n->node_class->attribute_count, name);
}

const char *node_meta(const struct node *n, const char *name)
{
	return attribute_is_unique(text_of(name))
		       ? find_sorted(n->unique_meta, n->unique_meta_count, name)
		       : find_sorted(n->node_class->meta, n->node_class->meta_count, name);
}
