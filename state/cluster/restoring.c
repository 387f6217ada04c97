// The leader puts another state in the place of the cluster's (epoch.h tells the order, and why).
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/cluster/cluster_private.h"
#include "state/cluster/epoch.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RESTORE_TIMEOUT_MS 10000u
#define AGAIN_MS 200u

int cluster_restore_offer(struct cluster *c)
{
	char *incoming = store_incoming_path(c->settings.directory);
	uint64_t leadership = atomic_load(&c->leadership);
	int error = -ESTALE;

	if (cluster_leads(c)) {
		CHECK(leadership > c->epoch);
		error = epoch_note(incoming, leadership);
	}
	free(incoming);
	return error;
}

static int begin_epoch(struct cluster *c, uint64_t index, bool *is_done)
{
	const char *name = c->settings.name;
	uint64_t leadership = atomic_load(&c->leadership);
	struct cluster_key leader = cluster_key(name, "leader"), cut = cluster_key(name, "cut"),
			   lineage = epoch_key(name), log = cluster_key(name, "log/"),
			   log_end = cluster_folder_end(name, "log/"),
			   stored = cluster_key(name, "stored/"),
			   stored_end = cluster_folder_end(name, "stored/");
	char cut_text[24], epoch_text[24];
	struct etcd_compare mine = {leader.text, true, leadership};
	struct etcd_put puts[2] = {
		{.key = cut.text,
			.value = cut_text,
			.size = (uint32_t)snprintf(cut_text, sizeof cut_text, "%" PRIu64, index)},
		{.key = lineage.text,
			.value = epoch_text,
			.size = (uint32_t)snprintf(
				epoch_text, sizeof epoch_text, "%" PRIu64, leadership)}};
	struct etcd_delete deletes[3] = {
		{leader.text, NULL}, {log.text, log_end.text}, {stored.text, stored_end.text}};
	struct etcd_txn txn = {.compares = &mine,
		.compare_count = 1,
		.puts = puts,
		.put_count = 2,
		.deletes = deletes,
		.delete_count = 3};
	struct etcd_txn_result result;
	int error = etcd_txn(c->etcd, &txn, RESTORE_TIMEOUT_MS, &result);

	*is_done = error == 0 && result.succeeded;
	return error;
}

// A try without an answer may have been carried out, and then the next one is refused.
void cluster_restore_decide(struct cluster *c, uint64_t index)
{
	struct cluster_epoch epoch;
	bool is_done = false;

	CHECK(atomic_load(&c->leadership) != 0);
	atomic_store(&c->is_restoring, true);
	for (;;) {
		int error = begin_epoch(c, index, &is_done);
		if (error == 0 && !is_done)
			error = epoch_of_cluster(c->etcd, c->settings.name, &epoch);
		if (is_done || (error == 0 && epoch.number == atomic_load(&c->leadership)))
			break;
		if (error == 0)
			cluster_lose(c, "the leadership ended before the state was restored");
		cluster_pause(c, AGAIN_MS);
	}
	log_warn("cluster-epoch", "epoch=%" PRIu64 " index=%" PRIu64, atomic_load(&c->leadership),
		index);
}
