// Names are Nomad's. Rows are only ever appended to a table: their order is the binary form (state/base/schema.h).
#include "state/records/namespaces/quota.h"
#include "state/base/limits.h"
#include "state/base/schema_table.h"
#include "state/records/metrics.h"
#include "state/records/namespaces/job_namespace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct field quota_device_fields[] = {
	{"Name", FIELD_STRING, OF(quota_device, name)},
	{"Count", FIELD_I64, OF(quota_device, count)},
};
static DESCRIBE(device_description, quota_device);

static const struct field quota_resources_fields[] = {
	{"CPU", FIELD_I64, OF(quota_resources, cpu_mhz)},
	{"MemoryMB", FIELD_I64, OF(quota_resources, memory_mb)},
	{"Instances", FIELD_I64, OF(quota_resources, instances)},
	{"Devices", FIELD_ARRAY, OF(quota_resources, devices), OR_NULL(device_description)},
};
static DESCRIBE(amounts_description, quota_resources);

static const struct field quota_limit_fields[] = {
	{"Region", FIELD_STRING, OF(quota_limit, region)},
	{"RegionLimit", FIELD_STRUCT, OF(quota_limit, resources), &amounts_description},
};
static DESCRIBE(limit_description, quota_limit);

static const struct field quota_fields[] = {
	{"Name", FIELD_STRING, OF(quota, name)},
	{"Description", FIELD_STRING, OF(quota, description)},
	{"Limits", FIELD_ARRAY, OF(quota, limits), &limit_description},
	{"CreateIndex", FIELD_U64, OF(quota, record.create_index), FLAGS(FIELD_DERIVED)},
	{"ModifyIndex", FIELD_U64, OF(quota, record.modify_index), FLAGS(FIELD_DERIVED)},
};
DESCRIBE(quota_description, quota);

static const struct quota_resources *resources_of(const struct quota *q)
{
	static const struct quota_resources none;
	return q->limits.count ? &ARRAY_AT(&q->limits, struct quota_limit, 0)->resources : &none;
}

static bool is_amount(int64_t value)
{
	return value >= -QUOTA_AMOUNT_MAX && value <= QUOTA_AMOUNT_MAX;
}

bool quota_is_fit(const struct quota *q)
{
	const struct quota_resources *r = resources_of(q);
	bool is_fit = namespace_name_is_fit(text_of(q->name)) && q->limits.count <= 1 &&
		      text_of(q->description).size <= NAMESPACE_DESCRIPTION_MAX &&
		      is_amount(r->cpu_mhz) && is_amount(r->memory_mb) && is_amount(r->instances) &&
		      r->devices.count <= QUOTA_DEVICES_MAX;

	for (uint32_t i = 0; is_fit && i < r->devices.count; i++) {
		const struct quota_device *d = ARRAY_AT(&r->devices, struct quota_device, i);
		is_fit = text_is_name(d->name) && is_amount(d->count);
	}
	return is_fit;
}

// Names of which nothing is left go, so there are no more than living jobs ask for.
static void add_devices(struct quota_amount *to, const char *name, int64_t by)
{
	uint32_t at;

	count_add(&to->devices, name, by);
	if (!map_find(&to->devices, sizeof(struct named_count), name, &at))
		return;
	struct named_count *found = ARRAY_AT(&to->devices, struct named_count, at);
	if (found->count)
		return;
	free(found->name);
	memmove(found, found + 1, (to->devices.count - at - 1) * sizeof *found);
	to->devices.count--;
}

void quota_amount_add(struct quota_amount *to, struct resources resources,
	const struct group_ask *ask, int64_t by)
{
	to->cpu_mhz += by * resources.cpu_mhz;
	to->memory_mb += by * resources.memory_mb;
	to->instances += by;
	for (uint32_t i = 0; i < ask->device_count; i++)
		add_devices(to, ask->devices[i].name, by * ask->devices[i].count);
}

void quota_amount_merge(struct quota_amount *to, const struct quota_amount *other, int64_t by)
{
	to->cpu_mhz += by * other->cpu_mhz;
	to->memory_mb += by * other->memory_mb;
	to->instances += by * other->instances;
	for (uint32_t i = 0; i < other->devices.count; i++) {
		const struct named_count *d = ARRAY_AT(&other->devices, struct named_count, i);
		add_devices(to, d->name, by * d->count);
	}
}

bool quota_amount_equal(const struct quota_amount *a, const struct quota_amount *b)
{
	bool equal = a->cpu_mhz == b->cpu_mhz && a->memory_mb == b->memory_mb &&
		     a->instances == b->instances && a->devices.count == b->devices.count;

	for (uint32_t i = 0; equal && i < a->devices.count; i++) {
		const struct named_count *x = ARRAY_AT(&a->devices, struct named_count, i);
		const struct named_count *y = ARRAY_AT(&b->devices, struct named_count, i);
		equal = x->count == y->count && strcmp(x->name, y->name) == 0;
	}
	return equal;
}

void quota_amount_free(struct quota_amount *amount)
{
	map_free(&amount->devices, sizeof(struct named_count));
	*amount = (struct quota_amount){0};
}

// Whether the name is the limit's, or says more: "gpu" covers "nvidia/gpu", and that covers "nvidia/gpu/1080ti".
static bool covers(const char *limited, const char *name)
{
	size_t size = strlen(limited);
	const char *type = strchr(limited, '/') ? name : strchr(name, '/');

	if (strcmp(limited, name) == 0)
		return true;
	if (!type)
		return false;
	type += type != name;
	return strncmp(type, limited, size) == 0 && (type[size] == '/' || type[size] == '\0');
}

int64_t quota_amount_devices(const struct quota_amount *amount, const char *limited)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < amount->devices.count; i++) {
		const struct named_count *d = ARRAY_AT(&amount->devices, struct named_count, i);
		count += covers(limited, d->name) ? d->count : 0;
	}
	return count;
}

static bool lacks_one(
	const char *dimension, int64_t limit, int64_t used, int64_t more, struct array *texts)
{
	char text[ATTRIBUTE_NAME_BYTES_MAX + 128];
	int64_t most = limit < 0 ? 0 : limit;

	if (limit == 0 || more <= 0 || used + more <= most)
		return false;
	snprintf(text, sizeof text, "%s exhausted (%lld needed > %lld limit)", dimension,
		(long long)(used + more), (long long)most);
	if (texts)
		*(char **)array_append(texts, sizeof(char *)) = text_copy(text_of(text));
	return true;
}

bool quota_lacks(const struct quota *q, const struct quota_amount *used,
	const struct quota_amount *change, struct array *texts)
{
	const struct quota_resources *r = resources_of(q);
	bool lacks = lacks_one("cpu", r->cpu_mhz, used->cpu_mhz, change->cpu_mhz, texts);

	lacks |= lacks_one("memory", r->memory_mb, used->memory_mb, change->memory_mb, texts);
	lacks |= lacks_one("instances", r->instances, used->instances, change->instances, texts);
	for (uint32_t i = 0; i < r->devices.count; i++) {
		const struct quota_device *d = ARRAY_AT(&r->devices, struct quota_device, i);
		int64_t limit = d->count ? d->count : -1; // a device that is named is limited
		lacks |= lacks_one(d->name, limit, quota_amount_devices(used, d->name),
			quota_amount_devices(change, d->name), texts);
	}
	return lacks;
}
