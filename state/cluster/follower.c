// Follows the log: what is there first, then what comes; at last, when this member has won the leadership, the rest.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/cluster/cluster_private.h"
#include "state/cluster/epoch.h"
#include "state/cluster/meta.h"
#include "state/cluster/replica.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define READ_TIMEOUT_MS 10000u
#define READ_KEYS 64u // at a time: 4 MiB
#define READ_AGAIN_MS 200u
#define FETCHES_TOLD 50u // one of so many failures

struct following {
	struct cluster *cluster;
	struct replica replica;
	struct cluster_key leader, lineage, log_end;
	uint32_t fetches; // that failed, one after the other
	// Of one reading.
	uint32_t seen;
	char last_key[CLUSTER_KEY_BYTES];
};

static bool has_won(const struct cluster *c)
{
	return atomic_load(&c->leadership) != 0;
}

static bool must_end_watch(void *context)
{
	const struct following *f = context;
	return cluster_ends(f->cluster) || has_won(f->cluster);
}

// Of a member of this epoch, which is the cluster's. Asked for again and again: only the first failure is told.
static int fetch_snapshot(struct following *f, uint64_t epoch, const char *why)
{
	struct cluster *c = f->cluster;
	char message[CLUSTER_MESSAGE_BYTES] = "no other member is there to take a snapshot of";
	struct cluster_status status;

	cluster_status(c, &status);
	if (f->fetches == 0)
		log_warn("cluster-too-far-behind",
			"index=%" PRIu64 " epoch=%" PRIu64
			" meaning=\"%s: a snapshot of another member is taken\"",
			f->replica.next - 1, c->epoch, why);
	for (uint32_t i = 0; i < status.member_count; i++)
		if (!status.members[i].is_self && status.members[i].is_alive &&
			status.members[i].epoch == epoch)
			c->settings.fetch(c->settings.context, status.members[i].http, epoch,
				message, sizeof message);
	char quoted[2 * CLUSTER_MESSAGE_BYTES];
	if (f->fetches++ % FETCHES_TOLD == 0)
		log_error("cluster-no-snapshot", "error=%s",
			log_quote(message, quoted, sizeof quoted));
	return -EAGAIN;
}

// The state of a newer epoch is here already, when this member led and restored it; else another member has it.
static int take_epoch_over(struct following *f, uint64_t epoch)
{
	struct cluster *c = f->cluster;
	char *incoming = store_incoming_path(c->settings.directory);
	uint64_t arrived;
	int error = epoch_of_folder(incoming, &arrived);

	free(incoming);
	if (error == -ERROR_CORRUPT || (error == 0 && arrived != epoch))
		return fetch_snapshot(f, epoch, "a snapshot was restored");
	if (error == 0)
		error = store_arrived(c->settings.directory);
	if (error == 0)
		cluster_lose(c, "the state that this member restored takes its place");
	else
		cluster_fail(c, "the state that this member restored cannot take its place: %s",
			error_text(error));
	return -EAGAIN;
}

static int check_epoch(struct following *f)
{
	struct cluster *c = f->cluster;
	struct cluster_epoch epoch;
	int error = epoch_of_cluster(c->etcd, c->settings.name, &epoch);

	if (error != 0)
		return error;
	if (epoch.number > c->epoch)
		return take_epoch_over(f, epoch.number);
	if (epoch.number < c->epoch)
		cluster_fail(c,
			"data_dir is of the epoch %" PRIu64 ", and the cluster in etcd of %" PRIu64
			": etcd was put back from an older copy; make the cluster anew",
			c->epoch, epoch.number);
	atomic_store(&c->epoch_revision, epoch.changed);
	store_incoming_drop(
		c->settings.directory); // of an epoch that never came, or of a fetch that ended
	return 0;
}

// A log of another cluster never continues the own state, whatever its indexes are: somebody began one of the same name
// anew.
static int check_cluster(struct following *f)
{
	struct cluster *c = f->cluster;
	struct cluster_meta meta;
	int error = cluster_meta_read(c->etcd, c->settings.name, &meta);

	if (error == -ERROR_VERSION || error == -ERROR_CORRUPT)
		cluster_fail(c, "the cluster in etcd is of another version of the program: %s",
			error_text(error));
	if (error != 0 || strcmp(meta.id, c->settings.identity.cluster) == 0)
		return error;
	cluster_fail(c,
		"the cluster \"%s\" in etcd is another one than that of this data_dir: join it "
		"with "
		"an empty one, or set cluster.endpoints and cluster.name to those of the own",
		c->settings.name);
	return -EAGAIN;
}

// Whether the log continues the own state. 0 when it does.
static int check_beginning(struct following *f)
{
	struct cluster *c = f->cluster;
	uint64_t cut;
	int error = check_cluster(f);

	if (error == 0)
		error = check_epoch(f);
	if (error == 0)
		error = cluster_cut_read(c->etcd, c->settings.name, &cut);
	if (error == 0 && cut >= f->replica.next)
		return fetch_snapshot(f, c->epoch, "the log has been cut");
	return error;
}

static bool take_stored_item(void *context, const struct etcd_item *item)
{
	struct following *f = context;

	size_t size = strlen(item->key);

	f->seen++;
	CHECK(size < sizeof f->last_key);
	memcpy(f->last_key, item->key, size + 1);
	replica_take(&f->replica, item, false);
	return !cluster_ends(f->cluster) && !f->replica.is_of_past;
}

// The least key of a log that follows a key of it: no other has a '!'.
static struct cluster_key key_behind(const char *last)
{
	struct cluster_key key;
	size_t size = strlen(last);

	CHECK(size + 2 <= sizeof key.text);
	memcpy(key.text, last, size);
	memcpy(key.text + size, "!", 2);
	return key;
}

// Reads the log from the next index to its end, as etcd has it now. *revision: of the first answer, so that a watch
// behind it misses no piece that came late.
static int read_log(struct following *f, uint64_t *revision)
{
	struct cluster_key from = cluster_log_key(f->cluster->settings.name, f->replica.next, 0);
	struct etcd_range_result result;

	*revision = 0;
	do {
		struct etcd_range range = {.key = from.text,
			.end = f->log_end.text,
			.limit = READ_KEYS,
			.visit = take_stored_item,
			.context = f};
		f->seen = 0;
		int error = etcd_range(f->cluster->etcd, &range, READ_TIMEOUT_MS, &result);
		if (error != 0)
			return error;
		if (*revision == 0)
			*revision = result.revision;
		if (f->seen > 0)
			from = key_behind(f->last_key);
	} while (result.count > f->seen && f->seen > 0 && !cluster_ends(f->cluster) &&
		 !f->replica.is_of_past);
	return f->replica.is_of_past ? -EAGAIN : 0;
}

static void take_leader(struct following *f, const struct etcd_item *item, bool was_deleted)
{
	struct cluster_member leader;
	bool is_known = !was_deleted && cluster_member_read(item->value, item->size, &leader);

	cluster_note_leader(f->cluster, is_known ? &leader : NULL, was_deleted ? 0 : item->created);
}

static bool take_change(void *context, const struct etcd_item *item, bool was_deleted)
{
	struct following *f = context;

	atomic_store(&f->cluster->etcd_is_away, false);
	if (strcmp(item->key, f->leader.text) == 0)
		take_leader(f, item, was_deleted);
	else if (strcmp(item->key, f->lineage.text) == 0)
		f->replica.is_of_past = true;
	else
		replica_take(&f->replica, item, was_deleted);
	return !must_end_watch(f) && !f->replica.is_of_past;
}

static bool take_leader_now(void *context, const struct etcd_item *item)
{
	take_leader(context, item, false);
	return false;
}

static int read_leader(struct following *f)
{
	struct etcd_range range = {.key = f->leader.text, .visit = take_leader_now, .context = f};
	struct etcd_range_result result;
	int error = etcd_range(f->cluster->etcd, &range, READ_TIMEOUT_MS, &result);

	if (error == 0 && result.count == 0)
		cluster_note_leader(f->cluster, NULL, 0);
	return error;
}

static void watch_began(void *context)
{
	struct following *f = context;
	atomic_store(&f->cluster->is_caught_up, true);
}

struct own_place {
	const char *key; // of this member
	uint32_t place;
};

static bool count_before(void *context, const struct etcd_item *item)
{
	struct own_place *own = context;

	own->place += strcmp(item->key, own->key) < 0;
	return true;
}

// Each member asks another endpoint first: what follows costs etcd more than what leads.
static int spread_over_endpoints(struct following *f)
{
	const struct cluster *c = f->cluster;
	struct cluster_key from = cluster_key(c->settings.name, "members/"),
			   end = cluster_folder_end(c->settings.name, "members/"),
			   self = cluster_key_of(
				   c->settings.name, "members", c->settings.identity.member);
	struct own_place own = {.key = self.text};
	struct etcd_range range = {.key = from.text,
		.end = end.text,
		.keys_only = true,
		.visit = count_before,
		.context = &own};
	struct etcd_range_result result;
	int error = etcd_range(c->etcd, &range, READ_TIMEOUT_MS, &result);

	if (error == 0)
		etcd_prefer(c->etcd, own.place);
	return error;
}

// What the log has, then what comes, until this member wins or something goes wrong.
static int follow_once(struct following *f)
{
	struct cluster *c = f->cluster;
	uint64_t revision;

	f->replica.is_of_past = false;
	int error = spread_over_endpoints(f);

	if (error == 0)
		error = check_beginning(f);
	if (error == 0)
		error = read_log(f, &revision);
	if (error == 0)
		error = check_beginning(f); // it may have been cut meanwhile
	if (error == 0)
		error = read_leader(f);
	if (error != 0 || must_end_watch(f))
		return error;
	struct etcd_watch watch = {
		.key = f->leader.text, // and the epoch and the log, whose keys come after it
		.end = f->log_end.text,
		.from = revision + 1,
		.changed = take_change,
		.began = watch_began,
		.is_cancelled = must_end_watch,
		.context = f,
	};
	error = etcd_watch(c->etcd, &watch);
	atomic_store(&c->is_caught_up, false);
	return error == -ECANCELED ? 0 : error;
}

static void follow_until_won(struct following *f)
{
	struct cluster *c = f->cluster;

	while (!must_end_watch(f)) {
		int error = follow_once(f);
		// What came of a batch may be gone by the time it is read again.
		assembly_clear(f->replica.assembly);
		if (error != 0 && error != -EAGAIN)
			(void)cluster_note_etcd(c, error);
		if (error != 0)
			cluster_pause(c, READ_AGAIN_MS);
	}
}

// Batches that an earlier leader could not finish were acknowledged to nobody. 0 when there are none any more.
static int cut_unfinished(struct following *f)
{
	struct cluster *c = f->cluster;
	struct cluster_key from = cluster_log_key(c->settings.name, f->replica.next, 0);
	struct etcd_compare mine = {f->leader.text, true, atomic_load(&c->leadership)};
	struct etcd_delete rest = {from.text, f->log_end.text};
	struct etcd_txn txn = {
		.compares = &mine, .compare_count = 1, .deletes = &rest, .delete_count = 1};
	struct etcd_txn_result result;
	int error = etcd_txn(c->etcd, &txn, READ_TIMEOUT_MS, &result);

	if (error == 0 && !result.succeeded)
		cluster_lose(c, "the leadership ended before the log was read to its end");
	return error;
}

static int take_over_log(struct following *f)
{
	uint64_t revision;
	int error = read_log(f, &revision);

	return error == 0 ? cut_unfinished(f) : error;
}

static void take_over(struct following *f)
{
	struct cluster *c = f->cluster;
	char message[CLUSTER_MESSAGE_BYTES];
	int error;

	while ((error = cluster_note_etcd(c, take_over_log(f))) != 0 && !cluster_ends(c))
		cluster_pause(c, READ_AGAIN_MS);
	if (cluster_ends(c))
		return;
	log_info("cluster-leads", "index=%" PRIu64 " leadership=%" PRIu64, f->replica.next - 1,
		atomic_load(&c->leadership));
	if (!c->settings.lead(c->settings.context, message, sizeof message)) {
		if (!cluster_ends(c))
			cluster_lose(c, message);
		return;
	}
	atomic_store(&c->leads, true);
	atomic_fetch_add(&c->takeovers, 1);
}

void *cluster_follow(void *context)
{
	struct cluster *c = context;
	struct following f = {.cluster = c,
		.leader = cluster_key(c->settings.name, "leader"),
		.lineage = epoch_key(c->settings.name),
		.log_end = cluster_folder_end(c->settings.name, "log/")};

	CHECK(strcmp(f.leader.text, f.lineage.text) < 0 &&
		strcmp(f.lineage.text, f.log_end.text) < 0);
	replica_begin(&f.replica, c);
	follow_until_won(&f);
	if (!cluster_ends(c))
		take_over(&f);
	replica_end(&f.replica);
	return NULL;
}
