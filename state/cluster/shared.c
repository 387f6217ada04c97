// What the leader tells the others beside the log.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/cluster/cluster_private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_TIMEOUT_MS 3000u
#define SHARED_BYTES_MAX (64u * 1024)

int cluster_tell(struct cluster *c, const char *what, const void *bytes, uint32_t size)
{
	struct cluster_key key = cluster_key_of(c->settings.name, "shared", what);
	struct cluster_key leader = cluster_key(c->settings.name, "leader");
	struct etcd_compare mine = {leader.text, true, atomic_load(&c->leadership)};
	struct etcd_put put = {.key = key.text, .value = bytes, .size = size};
	struct etcd_txn txn = {.compares = &mine, .compare_count = 1, .puts = &put, .put_count = 1};
	struct etcd_txn_result result;

	CHECK(size <= SHARED_BYTES_MAX);
	if (mine.revision == 0)
		return -ESTALE;
	int error = etcd_txn(c->etcd, &txn, SHARED_TIMEOUT_MS, &result);
	return error ? error : result.succeeded ? 0 : -ESTALE;
}

struct asking {
	void *told;
	uint32_t size;
};

static bool take_shared(void *context, const struct etcd_item *item)
{
	struct asking *asking = context;

	if (item->size > SHARED_BYTES_MAX)
		return false;
	asking->told = memory_take((size_t)item->size + 1);
	memcpy(asking->told, item->value, item->size);
	asking->size = item->size;
	return false;
}

int cluster_ask(struct cluster *c, const char *what, void **told, uint32_t *size)
{
	struct cluster_key key = cluster_key_of(c->settings.name, "shared", what);
	struct asking asking = {0};
	struct etcd_range range = {.key = key.text, .visit = take_shared, .context = &asking};
	struct etcd_range_result result;
	int error = etcd_range(c->etcd, &range, SHARED_TIMEOUT_MS, &result);

	*told = asking.told;
	*size = asking.size;
	return error ? error : asking.told ? 0 : -ENOENT;
}
