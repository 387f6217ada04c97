#include "placement/direct/refusal.h"

static bool is_over(const struct fit_node *n, uint32_t dimension)
{
	return n->place >= FIT_OVER && (n->place & dimension);
}

bool refusal_devices_suffice(
	const struct verdicts *v, const struct fit_node *n, const uint8_t *matches)
{
	struct device_choice ignored;
	const struct device_needs *needs = &v->of_group.devices;
	return needs->count == 0 ||
	       device_needs_choose(needs, NULL, matches, n->devices_free, &ignored);
}

uint8_t refusal_category(
	const struct verdicts *v, const struct fit_node *n, uint8_t verdict, const uint8_t *matches)
{
	const struct resources *room = &v->room;
	if (n->place == FIT_ABSENT)
		return CATEGORY_ABSENT;
	if (n->place == FIT_NOT_READY)
		return CATEGORY_NOT_READY;
	if (verdict != VERDICT_PASS)
		return verdict;
	if (room->cpu_mhz > n->cpu_free || is_over(n, FIT_OVER_CPU))
		return CATEGORY_CPU;
	if (room->memory_mb > n->memory_free || is_over(n, FIT_OVER_MEMORY))
		return CATEGORY_MEMORY;
	if (room->disk_mb > n->disk_free || is_over(n, FIT_OVER_DISK))
		return CATEGORY_DISK;
	if (!refusal_devices_suffice(v, n, matches))
		return CATEGORY_DEVICE;
	return CATEGORY_FITS;
}

void refusal_fill(
	const uint32_t counts[CATEGORIES], uint32_t constraints, struct place_refusal *refusal)
{
	*refusal = (struct place_refusal){
		.nodes_not_ready = counts[CATEGORY_NOT_READY],
		.filtered_datacenter = counts[VERDICT_DATACENTER],
		.filtered_class = counts[VERDICT_POOL],
		.filtered_device = counts[VERDICT_DEVICE],
		.exhausted_cpu = counts[CATEGORY_CPU],
		.exhausted_memory = counts[CATEGORY_MEMORY],
		.exhausted_disk = counts[CATEGORY_DISK],
		.exhausted_device = counts[CATEGORY_DEVICE],
		.constraint_count = constraints,
	};
	for (uint32_t i = 0; i < CATEGORIES; i++)
		if (i != CATEGORY_ABSENT)
			refusal->nodes_seen += counts[i];
	for (uint32_t i = 0; i < constraints; i++)
		refusal->filtered_constraint[i] = counts[VERDICT_CONSTRAINT + i];
}
