#include "state/cluster/meta.h"
#include "state/base/error.h"
#include "state/base/uuid.h"
#include "state/cluster/json_text.h"
#include <errno.h>
#include <jansson.h>

#define META_TIMEOUT_MS 5000u

char *cluster_meta_write(const struct cluster_meta *meta)
{
	return cluster_json_text(
		json_pack("{s:s, s:i}", "id", meta->id, "format", (int)CLUSTER_FORMAT));
}

struct meta_reading {
	struct cluster_meta *meta;
	int error;
};

static int read_meta(const void *value, uint32_t size, struct cluster_meta *meta)
{
	json_t *json = json_loadb(value, size, 0, NULL);
	const char *id = NULL;
	int format = 0, error = 0;
	struct uuid uuid;

	if (!json || json_unpack(json, "{s:s, s:i}", "id", &id, "format", &format) < 0 ||
		!uuid_parse(id, &uuid))
		error = -ERROR_CORRUPT;
	else if (format != CLUSTER_FORMAT)
		error = -ERROR_VERSION;
	else
		uuid_format(&uuid, meta->id);
	json_decref(json);
	return error;
}

static bool take_meta_item(void *context, const struct etcd_item *item)
{
	struct meta_reading *reading = context;
	reading->error = read_meta(item->value, item->size, reading->meta);
	return false;
}

int cluster_meta_read(struct etcd *etcd, const char *name, struct cluster_meta *meta)
{
	struct cluster_key key = cluster_key(name, "meta");
	struct meta_reading reading = {meta, -ENOENT};
	struct etcd_range range = {.key = key.text, .visit = take_meta_item, .context = &reading};
	struct etcd_range_result result;
	int error = etcd_range(etcd, &range, META_TIMEOUT_MS, &result);

	return error ? error : reading.error;
}

struct cut_reading {
	uint64_t index;
	int error;
};

static bool take_cut(void *context, const struct etcd_item *item)
{
	struct cut_reading *reading = context;

	reading->error = cluster_number_read(item, &reading->index) ? 0 : -ERROR_CORRUPT;
	return false;
}

int cluster_cut_read(struct etcd *etcd, const char *name, uint64_t *index)
{
	struct cluster_key key = cluster_key(name, "cut");
	struct cut_reading reading = {.error = -ENOENT};
	struct etcd_range range = {.key = key.text, .visit = take_cut, .context = &reading};
	struct etcd_range_result result;
	int error = etcd_range(etcd, &range, META_TIMEOUT_MS, &result);

	*index = reading.index;
	return error ? error : reading.error;
}
