#include "state/log/entry_parts.h"

void resources_encode(struct resources r, struct bytes_writer *w)
{
	bytes_put_u32(w, r.cpu_mhz);
	bytes_put_u32(w, r.memory_mb);
	bytes_put_u32(w, r.disk_mb);
}

struct resources resources_decode(struct bytes_reader *r)
{
	struct resources taken;

	taken.cpu_mhz = bytes_take_u32(r);
	taken.memory_mb = bytes_take_u32(r);
	taken.disk_mb = bytes_take_u32(r);
	return taken;
}

void device_set_encode(const struct device_set *set, struct bytes_writer *w)
{
	uint8_t count = NODE_DEVICE_GROUPS_MAX;

	while (count && !set->groups[count - 1])
		count--;
	bytes_put_u8(w, count);
	for (uint8_t i = 0; i < count; i++)
		bytes_put_u64(w, set->groups[i]);
}

struct device_set device_set_decode(struct bytes_reader *r)
{
	struct device_set set = {0};
	uint8_t count = bytes_take_u8(r);

	if (count > NODE_DEVICE_GROUPS_MAX)
		r->failed = true;
	for (uint8_t i = 0; i < count && !r->failed; i++)
		set.groups[i] = bytes_take_u64(r);
	return set;
}

bool flag_decode(struct bytes_reader *r)
{
	uint8_t flag = bytes_take_u8(r);

	r->failed |= flag > 1;
	return flag == 1;
}

uint32_t count_decode(struct bytes_reader *r, uint32_t bytes_least)
{
	uint32_t count = bytes_take_u32(r);

	r->failed |= count > bytes_left(r) / bytes_least;
	return r->failed ? 0 : count;
}
