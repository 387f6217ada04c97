#include "state/records/resources.h"
#include "state/base/check.h"
#include "state/base/schema_table.h"

static uint32_t less_or_nothing(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

struct resources resources_minus(struct resources a, struct resources b)
{
	return (struct resources){
		less_or_nothing(a.cpu_mhz, b.cpu_mhz),
		less_or_nothing(a.memory_mb, b.memory_mb),
		less_or_nothing(a.disk_mb, b.disk_mb),
	};
}

bool resources_add_up(struct resources a, struct resources b)
{
	return a.cpu_mhz <= UINT32_MAX - b.cpu_mhz && a.memory_mb <= UINT32_MAX - b.memory_mb &&
	       a.disk_mb <= UINT32_MAX - b.disk_mb;
}

struct resources resources_plus(struct resources a, struct resources b)
{
	struct resources sum;

	CHECK(!__builtin_add_overflow(a.cpu_mhz, b.cpu_mhz, &sum.cpu_mhz));
	CHECK(!__builtin_add_overflow(a.memory_mb, b.memory_mb, &sum.memory_mb));
	CHECK(!__builtin_add_overflow(a.disk_mb, b.disk_mb, &sum.disk_mb));
	return sum;
}

static const struct field resources_fields[] = {
	{"cpu", FIELD_U32, OF(resources, cpu_mhz)},
	{"memory", FIELD_U32, OF(resources, memory_mb)},
	{"disk", FIELD_U32, OF(resources, disk_mb)},
};
DESCRIBE(resources_description, resources);
