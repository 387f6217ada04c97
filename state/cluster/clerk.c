// Says what this member has on its own disk, reads what the others say, and, on the leader, cuts what all have off the
// log.
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "state/cluster/clocks.h"
#include "state/cluster/cluster_private.h"
#include "state/cluster/own_store.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_MS 500u
#define ASK_TIMEOUT_MS 3000u
#define CUT_EVERY_TURNS 10u
#define CUT_TIMEOUT_MS 10000u

struct clerk {
	struct cluster *cluster;
	struct cluster_status seen; // members, of this turn
	uint64_t told_index;
	bool has_told;
	uint64_t cut_index;    // of the newest cut
	uint64_t cut_revision; // of etcd, then: what was before it is compacted at the next cut
	uint64_t etcd_bytes;
};

static int tell_stored(struct clerk *k)
{
	struct cluster *c = k->cluster;
	uint64_t stored = own_store_index(c->store);
	struct cluster_key key =
		cluster_key_of(c->settings.name, "stored", c->settings.identity.member);
	char value[24];
	struct etcd_put put = {.key = key.text, .value = value};
	struct etcd_txn txn = {.puts = &put, .put_count = 1};
	struct etcd_txn_result result;

	if (k->has_told && k->told_index == stored)
		return 0;
	put.size = (uint32_t)snprintf(value, sizeof value, "%" PRIu64, stored);
	int error = etcd_txn(c->etcd, &txn, ASK_TIMEOUT_MS, &result);
	if (error == 0) {
		k->told_index = stored;
		k->has_told = true;
	}
	return error;
}

static struct cluster_member *member_seen(struct clerk *k, const char *id)
{
	for (uint32_t i = 0; i < k->seen.member_count; i++)
		if (strcmp(k->seen.members[i].id, id) == 0)
			return &k->seen.members[i];
	return NULL;
}

static bool take_member(void *context, const struct etcd_item *item)
{
	struct clerk *k = context;
	struct cluster_member *m = &k->seen.members[k->seen.member_count];

	if (k->seen.member_count == CLUSTER_MEMBERS_MAX)
		return false;
	if (!cluster_member_read(item->value, item->size, m)) {
		log_warn("cluster-member-bad", "key=%s meaning=\"no member: it is left out\"",
			item->key);
		return true;
	}
	m->is_self = strcmp(m->id, k->cluster->settings.identity.member) == 0;
	k->seen.member_count++;
	return true;
}

static bool take_alive(void *context, const struct etcd_item *item)
{
	struct cluster_member *m = member_seen(context, cluster_key_last(item->key));
	uint64_t clock_ms;

	if (m)
		m->is_alive = true;
	if (m && cluster_number_read(item, &clock_ms) && clock_ms <= INT64_MAX)
		m->clock_ms = (int64_t)clock_ms;
	return true;
}

static bool take_stored(void *context, const struct etcd_item *item)
{
	struct cluster_member *m = member_seen(context, cluster_key_last(item->key));

	if (m && !cluster_number_read(item, &m->stored_index))
		m->stored_index = 0;
	return true;
}

static bool take_leader_key(void *context, const struct etcd_item *item)
{
	struct clerk *k = context;

	k->seen.knows_leader = cluster_member_read(item->value, item->size, &k->seen.leader);
	k->seen.term = item->created;
	return false;
}

static int read_folder(
	struct clerk *k, const char *folder, bool (*visit)(void *, const struct etcd_item *))
{
	struct cluster *c = k->cluster;
	struct cluster_key from = cluster_key(c->settings.name, folder);
	struct cluster_key end = cluster_folder_end(c->settings.name, folder);
	bool is_folder = folder[strlen(folder) - 1] == '/';
	struct etcd_range range = {
		.key = from.text, .end = is_folder ? end.text : NULL, .visit = visit, .context = k};
	struct etcd_range_result result;
	return etcd_range(c->etcd, &range, ASK_TIMEOUT_MS, &result);
}

static int by_name(const void *a, const void *b)
{
	const struct cluster_member *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->id, y->id);
}

static void tell_clock(bool is_odd)
{
	if (is_odd)
		log_warn("cluster-clock",
			"meaning=\"the time of day here is another than that of most members: "
			"this one does not come to lead while one of them is there\" "
			"action=\"set the clock\"");
	else
		log_info("cluster-clock", "meaning=\"the time of day is that of the others\"");
}

static void show_members(struct clerk *k)
{
	struct cluster *c = k->cluster;
	struct cluster_status *seen = &k->seen;

	for (uint32_t i = 0; i < seen->member_count; i++)
		seen->members[i].is_leader =
			seen->knows_leader && strcmp(seen->members[i].id, seen->leader.id) == 0;
	qsort(seen->members, seen->member_count, sizeof seen->members[0], by_name);
	pthread_mutex_lock(&c->lock);
	clocks_compare(
		seen->members, seen->member_count, c->status.members, c->status.member_count);
	bool is_odd = clock_is_odd(seen->members, seen->member_count);
	bool has_changed = is_odd != c->status.clock_is_odd;
	c->status.clock_is_odd = is_odd;
	c->status.member_count = seen->member_count;
	memcpy(c->status.members, seen->members, sizeof seen->members);
	pthread_cond_broadcast(&c->wake);
	pthread_mutex_unlock(&c->lock);
	if (has_changed)
		tell_clock(is_odd);
}

static int look_at_members(struct clerk *k)
{
	uint64_t leadership = atomic_load(&k->cluster->leadership); // before its key is read

	k->seen = (struct cluster_status){0};
	int error = read_folder(k, "members/", take_member);
	if (error == 0)
		error = read_folder(k, "alive/", take_alive);
	if (error == 0)
		error = read_folder(k, "stored/", take_stored);
	if (error == 0)
		error = read_folder(k, "leader", take_leader_key);
	if (error != 0)
		return error;
	show_members(k);
	if (leadership != 0 && k->seen.term != leadership &&
		!atomic_load(&k->cluster->is_restoring)) {
		cluster_lose(k->cluster,
			"the key of the leadership is not that of this member any more");
		return 0;
	}
	// A follower hears of the leader where it follows the log, in the order of things.
	if (leadership != 0)
		cluster_note_leader(
			k->cluster, k->seen.knows_leader ? &k->seen.leader : NULL, k->seen.term);
	else if (k->seen.knows_leader)
		atomic_store(&k->cluster->contact_ns, cluster_boot_ns(k->cluster));
	for (uint32_t i = 0; i < k->seen.member_count; i++)
		if (k->seen.members[i].is_leader)
			cluster_note_index(&k->cluster->log_index, k->seen.members[i].stored_index);
	return 0;
}

// The index that all members have on their own disks. Who is away holds the log until that takes too much: then it
// joins by a snapshot.
static uint64_t index_of_all(const struct clerk *k)
{
	uint64_t least = own_store_index(k->cluster->store);

	for (uint32_t i = 0; i < k->seen.member_count; i++) {
		const struct cluster_member *m = &k->seen.members[i];
		if (!m->is_alive && k->etcd_bytes > CLUSTER_LOG_BYTES_KEPT)
			continue;
		if (m->stored_index < least)
			least = m->stored_index;
	}
	return least;
}

// What was before the cut before is compacted. Somebody else may have compacted further.
static int note_cut(struct clerk *k, uint64_t index, uint64_t revision)
{
	uint64_t before = k->cut_revision;

	k->cut_index = index;
	k->cut_revision = revision;
	int error = before ? etcd_compact(k->cluster->etcd, before, CUT_TIMEOUT_MS) : 0;
	return error == -ERANGE ? 0 : error;
}

// A member stores whole batches, so that every batch that begins before the index ends there at the latest.
static int cut_log(struct clerk *k)
{
	struct cluster *c = k->cluster;
	uint64_t index = index_of_all(k);
	struct cluster_key leader = cluster_key(c->settings.name, "leader");
	struct cluster_key from = cluster_key(c->settings.name, "log/");
	struct cluster_key end = cluster_log_key(c->settings.name, index, 0);
	struct etcd_compare mine = {leader.text, true, atomic_load(&c->leadership)};
	struct etcd_delete old = {from.text, end.text};
	struct cluster_key cut = cluster_key(c->settings.name, "cut");
	char number[24];
	struct etcd_put note = {.key = cut.text,
		.value = number,
		.size = (uint32_t)snprintf(number, sizeof number, "%" PRIu64, index)};
	struct etcd_txn txn = {.compares = &mine,
		.compare_count = 1,
		.puts = &note,
		.put_count = 1,
		.deletes = &old,
		.delete_count = 1};
	struct etcd_txn_result result;

	if (index <= k->cut_index)
		return 0;
	int error = etcd_txn(c->etcd, &txn, CUT_TIMEOUT_MS, &result);
	return error == 0 && result.succeeded ? note_cut(k, index, result.revision) : error;
}

static int look_at_etcd(struct clerk *k)
{
	struct etcd_status status;
	int error = etcd_status(k->cluster->etcd, ASK_TIMEOUT_MS, &status);

	if (error != 0)
		return error;
	k->etcd_bytes = status.bytes_used;
	cluster_note_full(k->cluster, status.is_full);
	return 0;
}

static int take_turn(struct clerk *k, bool is_due)
{
	struct cluster *c = k->cluster;
	int error = tell_stored(k);

	if (error == -ENOSPC) // it can be read nevertheless
		error = cluster_note_etcd(c, error);
	bool is_asked = (is_due && atomic_load(&c->leads)) || atomic_load(&c->etcd_is_full);
	if (error == 0 || error == -ENOSPC)
		error = is_asked ? look_at_etcd(k) : 0;
	if (error == 0)
		error = look_at_members(k);
	if (error == 0 && is_due && atomic_load(&c->leads))
		error = cut_log(k);
	return error;
}

void *cluster_record(void *context)
{
	struct cluster *c = context;
	struct clerk k = {.cluster = c};

	for (uint32_t turn = 1; !cluster_stops(c); turn++) {
		(void)cluster_note_etcd(c, take_turn(&k, turn % CUT_EVERY_TURNS == 0));
		cluster_pause(c, TURN_MS);
	}
	// What the store took at the end holds the log no longer.
	if (!atomic_load(&c->etcd_is_away))
		(void)tell_stored(&k);
	return NULL;
}
