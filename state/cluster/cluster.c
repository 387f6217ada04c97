#include "state/cluster/cluster.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/cluster/cluster_private.h"
#include "state/cluster/epoch.h"
#include "state/cluster/own_store.h"
#include "state/cluster/packing.h"
#include "state/tables/publication_check.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ETCD_FULL "the space of etcd is used up (alarm NOSPACE)"

#define PAUSE_PIECE_MS 20u
#define REVOKE_TIMEOUT_MS 1000u

uint64_t cluster_boot_ns(const struct cluster *c)
{
	return time_boot_ns(c->settings.time);
}

bool cluster_stops(const struct cluster *c)
{
	return atomic_load(&c->is_stopping);
}

bool cluster_ends(const struct cluster *c)
{
	return atomic_load(&c->is_ending);
}

void cluster_note_index(_Atomic uint64_t *noted, uint64_t index)
{
	uint64_t before = atomic_load(noted);

	while (before < index && !atomic_compare_exchange_weak(noted, &before, index))
		;
}

void cluster_pause(struct cluster *c, uint32_t ms)
{
	for (uint32_t past = 0; past < ms && !cluster_stops(c); past += PAUSE_PIECE_MS) {
		struct timespec piece = {.tv_nsec = PAUSE_PIECE_MS * NS_PER_MS};
		nanosleep(&piece, NULL);
	}
}

uint32_t cluster_patience_ms(const struct cluster *c)
{
	return c->settings.ttl_ms / 3 > 100 ? c->settings.ttl_ms / 3 : 100;
}

void cluster_note_full(struct cluster *c, bool is_full)
{
	if (atomic_exchange(&c->etcd_is_full, is_full) == is_full)
		return;
	if (is_full)
		log_error("cluster-etcd-full",
			"meaning=\"" ETCD_FULL ": nothing is durable until etcd has room\" "
			"action=\"raise its quota or give it room, then: etcdctl alarm disarm\"");
	else
		log_info("cluster-etcd-back", "leads=%d", cluster_leads(c));
}

int cluster_note_etcd(struct cluster *c, int error)
{
	bool is_away = error != 0;
	char trouble[ETCD_MESSAGE_BYTES], quoted[2 * ETCD_MESSAGE_BYTES];

	if (error == -ENOSPC) {
		cluster_note_full(c, true);
		return error;
	}
	if (atomic_exchange(&c->etcd_is_away, is_away) == is_away)
		return error;
	if (is_away) {
		etcd_trouble(c->etcd, trouble, sizeof trouble);
		log_warn("cluster-etcd-away", "error=\"%s\" says=%s leads=%d", error_text(error),
			log_quote(trouble, quoted, sizeof quoted), cluster_leads(c));
	} else
		log_info("cluster-etcd-back", "leads=%d", cluster_leads(c));
	return error;
}

void cluster_lose(struct cluster *c, const char *reason)
{
	if (!cluster_ends(c))
		c->settings.lost(c->settings.context, reason);
}

void cluster_fail(struct cluster *c, const char *format, ...)
{
	char sentence[CLUSTER_MESSAGE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof sentence, format, arguments);
	va_end(arguments);
	c->settings.failed(c->settings.context, sentence);
}

// What changes of the leader is told outside the lock.
void cluster_note_leader(
	struct cluster *c, const struct cluster_member *leader, uint64_t leadership)
{
	pthread_mutex_lock(&c->lock);
	struct cluster_status *s = &c->status;
	bool is_other =
		s->knows_leader != (leader != NULL) ||
		(leader && (s->term != leadership || strcmp(s->leader.id, leader->id) != 0));
	s->knows_leader = leader != NULL;
	c->leader_is_absent = leader == NULL;
	if (leader) {
		s->leader = *leader;
		s->term = leadership;
		atomic_store(&c->contact_ns, cluster_boot_ns(c));
	} else
		pthread_cond_broadcast(&c->wake);
	pthread_mutex_unlock(&c->lock);
	if (!is_other)
		return;
	log_info("cluster-leader", "leader=%s leadership=%" PRIu64, leader ? leader->name : "none",
		leadership);
	c->settings.leader_changed(c->settings.context, leader);
}

static void copy_settings(struct cluster *c, const struct member_settings *s)
{
	c->settings = *s;
	c->settings.name = text_copy(text_of(s->name));
	c->settings.member_name = c->settings.http = c->settings.wire = NULL; // self has them
	c->settings.directory = text_copy(text_of(s->directory));
	c->settings.etcd = (struct etcd_settings){0}; // etcd_open has taken its copies
}

static void store_failed(void *context, int error)
{
	cluster_fail(context, "the own store cannot be written: %s", error_text(error));
}

int cluster_open(const struct member_settings *settings, struct cluster **out, char *message,
	size_t message_size)
{
	struct etcd *etcd;
	pthread_condattr_t attributes;
	struct cluster_member self;
	uint64_t epoch;

	*out = NULL;
	if (!cluster_member_fill(&self, settings->identity.member, settings->member_name,
		    settings->http, settings->wire)) {
		snprintf(message, message_size, CLUSTER_MEMBER_TOO_LONG);
		return -EINVAL;
	}
	int error = epoch_of_folder(settings->directory, &epoch);
	if (error != 0) {
		snprintf(message, message_size, "cannot read the epoch of %s: %s",
			settings->directory, error_text(error));
		return error;
	}
	error = etcd_open(&settings->etcd, &etcd, message, message_size);
	if (error != 0)
		return error;
	CHECK(cluster_name_is_fit(settings->name));
	struct cluster *c = memory_take(sizeof *c);
	copy_settings(c, settings);
	c->self = self;
	c->etcd = etcd;
	c->store = own_store_create(store_log(settings->store), store_failed, c);
	c->packing = packing_create();
	pthread_mutex_init(&c->packs, NULL);
	c->epoch = c->self.epoch = epoch;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	publication_check_keep(settings->state);
	*out = c;
	return 0;
}

static int start_thread(
	pthread_t *thread, bool *runs, void *(*run)(void *), struct cluster *c, const char *name)
{
	int error = pthread_create(thread, NULL, run, c);

	if (error != 0)
		return -error;
	*runs = true;
	(void)pthread_setname_np(*thread, name);
	return 0;
}

int cluster_start(struct cluster *c, struct applier *applier)
{
	uint64_t index = state_index(c->settings.state);

	c->applier = applier;
	atomic_store(&c->index, index);
	atomic_store(&c->log_index, index);
	int error = own_store_start(c->store, index);
	if (error == 0)
		error = start_thread(
			&c->keeper, &c->keeper_runs, cluster_keep, c, "cluster-keeper");
	if (error == 0)
		error = start_thread(&c->clerk, &c->clerk_runs, cluster_record, c, "cluster-clerk");
	if (error == 0)
		error = start_thread(
			&c->follower, &c->follower_runs, cluster_follow, c, "cluster-follow");
	return error;
}

static void join_thread(pthread_t thread, bool *runs)
{
	if (*runs)
		CHECK(pthread_join(thread, NULL) == 0);
	*runs = false;
}

void cluster_end(struct cluster *c, uint32_t ms)
{
	atomic_store(&c->give_up_ns, cluster_boot_ns(c) + ms * NS_PER_MS);
	atomic_store(&c->is_ending, true);
	own_store_hurry(c->store);
	join_thread(c->follower, &c->follower_runs);
}

void cluster_stop(struct cluster *c)
{
	CHECK(!c->follower_runs);
	own_store_stop(c->store);
	atomic_store(&c->is_stopping, true);
	pthread_mutex_lock(&c->lock);
	pthread_cond_broadcast(&c->wake);
	pthread_mutex_unlock(&c->lock);
	join_thread(c->keeper, &c->keeper_runs);
	join_thread(c->clerk, &c->clerk_runs);
	int64_t lease = atomic_exchange(&c->lease, 0);
	if (lease != 0)
		(void)etcd_lease_revoke(c->etcd, lease, REVOKE_TIMEOUT_MS);
}

void cluster_close(struct cluster *c)
{
	if (!c)
		return;
	CHECK(!c->keeper_runs && !c->follower_runs && !c->clerk_runs);
	etcd_close(c->etcd);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free((char *)c->settings.name);
	free((char *)c->settings.directory);
	own_store_destroy(c->store);
	packing_destroy(c->packing);
	pthread_mutex_destroy(&c->packs);
	free(c);
}

const struct etcd_counters *cluster_etcd(const struct cluster *c)
{
	return etcd_counters(c->etcd);
}

bool cluster_leads(const struct cluster *c)
{
	return atomic_load(&c->leads) && cluster_boot_ns(c) < atomic_load(&c->sure_until_ns);
}

static int64_t contact_ms(const struct cluster *c)
{
	uint64_t contact_ns = atomic_load(&c->contact_ns), now_ns = cluster_boot_ns(c);

	if (contact_ns == 0)
		return -1;
	return now_ns > contact_ns ? (int64_t)((now_ns - contact_ns) / NS_PER_MS) : 0;
}

void cluster_status(struct cluster *c, struct cluster_status *s)
{
	bool leads = cluster_leads(c);

	pthread_mutex_lock(&c->lock);
	*s = c->status;
	pthread_mutex_unlock(&c->lock);
	snprintf(s->name, sizeof s->name, "%s", c->settings.name);
	s->role = atomic_load(&c->leads) ? CLUSTER_LEADER : CLUSTER_FOLLOWER;
	if (s->role == CLUSTER_LEADER)
		s->knows_leader = s->knows_leader && leads;
	if (atomic_load(&c->leadership) != 0)
		s->term = atomic_load(&c->leadership);
	s->index = atomic_load(&c->index);
	s->leader_index = atomic_load(&c->log_index);
	s->last_contact_ms = leads ? 0 : contact_ms(c);
	s->takeovers = atomic_load(&c->takeovers);
	s->batches_under_way = atomic_load(&c->under_way);
	s->log_bytes = atomic_load(&c->kept_bytes);
	s->etcd_is_away = atomic_load(&c->etcd_is_away);
	if (s->etcd_is_away)
		etcd_trouble(c->etcd, s->trouble, sizeof s->trouble);
	else if (atomic_load(&c->etcd_is_full)) {
		s->etcd_is_away = true;
		snprintf(s->trouble, sizeof s->trouble, "%s", ETCD_FULL);
	}
}
