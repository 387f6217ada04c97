// Keeps the lease of this member, and wins the leadership with it when nobody has it.
//
// The lease ends in etcd when it was not renewed for its time. This side counts that time from before it asked, on a
// clock that goes on while the machine sleeps: it is sure of the lease no longer than etcd can be.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "state/cluster/clocks.h"
#include "state/cluster/cluster_private.h"
#include "state/cluster/epoch.h"
#include "state/log/batch.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of the time of a lease that is left, so much is not counted on: clocks do not go equally fast.
#define DOUBT_PERCENT 5u
#define RENEWALS_IN_TTL 4u
#define TURN_MS_MIN 100u

static uint32_t turn_ms(const struct cluster *c)
{
	uint32_t ms = c->settings.ttl_ms / RENEWALS_IN_TTL;
	return ms < TURN_MS_MIN ? TURN_MS_MIN : ms;
}

static void be_sure(struct cluster *c, uint64_t asked_ns, int64_t left_s)
{
	uint64_t left_ns = (uint64_t)left_s * NS_PER_S;
	atomic_store(&c->sure_until_ns, asked_ns + left_ns - left_ns / 100 * DOUBT_PERCENT);
}

// That this member is there, and its time of day (clocks.h). What it says of itself may be other than before it was
// started.
static int put_alive(struct cluster *c, int64_t lease)
{
	const char *id = c->settings.identity.member;
	struct cluster_key alive = cluster_key_of(c->settings.name, "alive", id);
	struct cluster_key member = cluster_key_of(c->settings.name, "members", id);
	char *json = cluster_member_write(&c->self), now_ms[24];
	int digits = snprintf(
		now_ms, sizeof now_ms, "%" PRIu64, time_wall_ns(c->settings.time) / NS_PER_MS);
	struct etcd_put puts[2] = {
		{.key = alive.text, .value = now_ms, .size = (uint32_t)digits, .lease = lease},
		{.key = member.text, .value = json, .size = (uint32_t)strlen(json)}};
	struct etcd_txn txn = {.puts = puts, .put_count = 2};
	struct etcd_txn_result result;
	int error = etcd_txn(c->etcd, &txn, cluster_patience_ms(c), &result);

	free(json);
	if (error == 0)
		c->clock_told_ns = cluster_boot_ns(c);
	return error;
}

static int grant_lease(struct cluster *c)
{
	uint64_t asked_ns = cluster_boot_ns(c);
	int64_t lease, granted_s, ttl_s = (c->settings.ttl_ms + 999) / 1000;
	int error = etcd_lease_grant(c->etcd, ttl_s, cluster_patience_ms(c), &lease, &granted_s);

	if (error == 0)
		error = put_alive(c, lease);
	if (error != 0)
		return error;
	if (granted_s > ttl_s)
		log_warn("cluster-ttl-raised",
			"asked_s=%" PRId64 " granted_s=%" PRId64
			" meaning=\"etcd gives no shorter leases: a takeover takes that long\"",
			ttl_s, granted_s);
	atomic_store(&c->lease, lease);
	be_sure(c, asked_ns, granted_s);
	return 0;
}

static int renew_lease(struct cluster *c)
{
	uint64_t asked_ns = cluster_boot_ns(c);
	int64_t left_s;
	int error =
		etcd_lease_renew(c->etcd, atomic_load(&c->lease), cluster_patience_ms(c), &left_s);

	if (error == 0) {
		be_sure(c, asked_ns, left_s);
		if (atomic_load(&c->leadership) != 0)
			atomic_store(&c->contact_ns, cluster_boot_ns(c));
		if (cluster_boot_ns(c) - c->clock_told_ns >= CLOCK_TOLD_MS * NS_PER_MS)
			(void)put_alive(c, atomic_load(&c->lease)); // else in the next turn
	}
	if (error != -ENOENT)
		return error;
	if (atomic_load(&c->leadership) != 0)
		cluster_lose(c, "the lease of the leadership ended");
	atomic_store(&c->lease, 0);
	return grant_lease(c);
}

// The leader's key is made by who finds it absent, and whose state is of the cluster's epoch (epoch.h). Who was not
// answered looks whether it was made nevertheless: it has this member's lease then.
static int try_to_win(struct cluster *c)
{
	struct cluster_key key = cluster_key(c->settings.name, "leader");
	char *json = cluster_member_write(&c->self);
	struct cluster_key lineage = epoch_key(c->settings.name);
	struct etcd_compare compares[2] = {
		{key.text, true, 0}, {lineage.text, false, atomic_load(&c->epoch_revision)}};
	struct etcd_put put = {.key = key.text,
		.value = json,
		.size = (uint32_t)strlen(json),
		.lease = atomic_load(&c->lease)};
	struct etcd_txn txn = {
		.compares = compares, .compare_count = 2, .puts = &put, .put_count = 1};
	struct etcd_txn_result result;
	int error = etcd_txn(c->etcd, &txn, cluster_patience_ms(c), &result);

	if (error == 0 && result.succeeded)
		atomic_store(&c->leadership, result.revision);
	free(json);
	return error;
}

struct own_key {
	int64_t lease;
	uint64_t created;
};

static bool take_own_key(void *context, const struct etcd_item *item)
{
	struct own_key *own = context;
	if (item->lease == own->lease)
		own->created = item->created;
	return false;
}

static int look_whether_won(struct cluster *c)
{
	struct cluster_key key = cluster_key(c->settings.name, "leader");
	struct own_key own = {.lease = atomic_load(&c->lease)};
	struct etcd_range range = {.key = key.text, .visit = take_own_key, .context = &own};
	struct etcd_range_result result;
	int error = etcd_range(c->etcd, &range, cluster_patience_ms(c), &result);

	if (error == 0 && own.created != 0)
		atomic_store(&c->leadership, own.created);
	return error;
}

// What the members say was read since this one told its own time of day: else nothing could be compared with it.
static bool has_looked(const struct cluster *c)
{
	for (uint32_t i = 0; i < c->status.member_count; i++)
		if (c->status.members[i].is_self && c->status.members[i].knows_clock)
			return true;
	return false;
}

// While a member is there whose program reads no log of this one's format, another one leads: members are upgraded one
// after the other, and the last of them lets the first write anew.
static bool is_read_by_all(const struct cluster *c)
{
	for (uint32_t i = 0; i < c->status.member_count; i++)
		if (c->status.members[i].is_alive && c->status.members[i].format < LOG_FORMAT)
			return false;
	return true;
}

// Under the lock.
static bool sees_vacancy(const struct cluster *c)
{
	return !cluster_ends(c) && c->leader_is_absent && atomic_load(&c->is_caught_up) &&
	       atomic_load(&c->leadership) == 0 && has_looked(c) && is_read_by_all(c) &&
	       !c->status.clock_is_odd;
}

static bool may_try(struct cluster *c)
{
	pthread_mutex_lock(&c->lock);
	bool may = sees_vacancy(c);
	pthread_mutex_unlock(&c->lock);
	return may;
}

// The leader's key names this member, which does not know it: nobody answered when it was made. Its lease would hold
// the key for ever, and nobody would lead.
static bool is_named(struct cluster *c)
{
	pthread_mutex_lock(&c->lock);
	bool is_self = c->status.knows_leader && strcmp(c->status.leader.id, c->self.id) == 0;
	pthread_mutex_unlock(&c->lock);
	return is_self && atomic_load(&c->leadership) == 0 && !cluster_ends(c);
}

static int keep_once(struct cluster *c)
{
	int error = atomic_load(&c->lease) == 0 ? grant_lease(c) : renew_lease(c);

	if (error == 0 && is_named(c))
		return look_whether_won(c);
	if (error != 0 || !may_try(c))
		return error;
	error = try_to_win(c);
	return error == -ETIMEDOUT ? look_whether_won(c) : error;
}

// Sleeps until the next turn, or until the leader's key is gone.
static void wait_for_turn(struct cluster *c)
{
	uint64_t until_ns = time_monotonic_ns(c->settings.time) + turn_ms(c) * NS_PER_MS;
	struct timespec until = {(time_t)(until_ns / NS_PER_S), (long)(until_ns % NS_PER_S)};

	pthread_mutex_lock(&c->lock);
	while (!cluster_stops(c) && !sees_vacancy(c) &&
		pthread_cond_timedwait(&c->wake, &c->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&c->lock);
}

void *cluster_keep(void *context)
{
	struct cluster *c = context;

	while (!cluster_stops(c)) {
		bool was_absent = may_try(c);
		int error = cluster_note_etcd(c, keep_once(c));
		if (error != 0 || was_absent || may_try(c))
			cluster_pause(c, TURN_MS_MIN);
		else
			wait_for_turn(c);
	}
	return NULL;
}
