#include "placement/direct/fit_input.h"

struct device_set fit_free_devices(const struct node *n, const struct device_set *used)
{
	struct device_set free = {0};
	const struct node_class *c = n->node_class;
	for (uint32_t i = 0; i < c->device_count && i < NODE_DEVICE_GROUPS_MAX; i++) {
		uint32_t instances = c->devices[i].instances;
		uint64_t all = instances >= 64 ? ~0ull : (1ull << instances) - 1;
		free.groups[i] = all & ~used->groups[i];
	}
	return free;
}

struct fit_input fit_input_of(const struct node *n, struct resources used,
	const struct device_set *devices_used, const char *snapshot)
{
	struct device_set free = fit_free_devices(n, devices_used);
	struct fit_input in = {
		.capacity = node_capacity(n),
		.used = used,
		.node_class = n->node_class->id,
		.class_hash = n->node_class->hash,
		.class_record = n->node_class,
		.stamp = (uint32_t)n->described_index,
		.ready = node_is_usable(n),
		.snapshot = snapshot,
	};
	for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
		in.devices_free[i] = (uint8_t)__builtin_popcountll(free.groups[i]);
	return in;
}
