#include "state/cluster/cluster_setup.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/base/uuid.h"
#include "state/cluster/epoch.h"
#include "state/cluster/keys.h"
#include "state/cluster/member.h"
#include "state/cluster/meta.h"
#include "state/store/files.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETUP_TIMEOUT_MS 10000u
#define FILE_NAME "cluster"

static bool take_uuid(const json_t *json, const char *name, char text[static 37])
{
	const char *value = json_string_value(json_object_get(json, name));
	struct uuid uuid;

	if (!value || !uuid_parse(value, &uuid))
		return false;
	uuid_format(&uuid, text);
	return true;
}

int cluster_identity_read(
	const char *directory, struct cluster_identity *identity, const struct complaint *complaint)
{
	char *path = path_of(directory, FILE_NAME);
	int error = access(path, F_OK) == 0 ? 0 : -errno;

	if (error == 0) {
		json_t *json = json_load_file(path, 0, NULL);
		if (!take_uuid(json, "cluster", identity->cluster) ||
			!take_uuid(json, "member", identity->member))
			error = complain(complaint, -ERROR_CORRUPT,
				"%s does not say of which cluster the directory is: put it back "
				"from a "
				"copy, or join anew with an empty data_dir",
				path);
		json_decref(json);
	} else
		complain(complaint, error, "cannot read %s: %s", path, error_text(error));
	free(path);
	return error;
}

static int write_identity(const char *directory, const struct cluster_identity *identity,
	const struct complaint *complaint)
{
	char text[160];
	char *path = path_of(directory, FILE_NAME);

	snprintf(text, sizeof text, "{\"cluster\": \"%s\", \"member\": \"%s\"}\n",
		identity->cluster, identity->member);
	int error = file_replace(directory, FILE_NAME, text);
	if (error < 0)
		complain(complaint, error, "cannot write %s: %s", path, error_text(error));
	free(path);
	return error;
}

static int remove_identity(const char *directory, const struct complaint *complaint)
{
	char *path = path_of(directory, FILE_NAME);
	int error = epoch_forget(directory);

	if (error == 0)
		error = unlink(path) < 0 ? -errno : directory_sync(directory);

	if (error < 0)
		complain(complaint, error, "cannot remove %s: %s", path, error_text(error));
	free(path);
	return error;
}

static void new_uuid(char text[static 37])
{
	struct prng prng;

	prng_seed_from_system(&prng);
	struct uuid uuid = prng_uuid(&prng);
	uuid_format(&uuid, text);
}

static int complain_of_etcd(struct etcd *etcd, int error, const struct complaint *complaint)
{
	char trouble[ETCD_MESSAGE_BYTES];

	etcd_trouble(etcd, trouble, sizeof trouble);
	return complain(
		complaint, error, "etcd: %s%s%s", error_text(error), *trouble ? ": " : "", trouble);
}

// The endpoints, and a refusal of a name that cannot be one.
static int open_etcd(
	const struct cluster_setup *s, struct etcd **etcd, const struct complaint *complaint)
{
	*etcd = NULL;
	if (!cluster_name_is_fit(s->name))
		return complain(complaint, -EINVAL,
			"cluster.name: \"%.64s\" is no name of letters, digits, '-', '_' and '.', "
			"at most 63",
			s->name);
	return etcd_open(&s->etcd, etcd, complaint->text, complaint->size);
}

// For who is no member yet, and may become one.
static int open_as_stranger(
	const struct cluster_setup *s, struct etcd **etcd, const struct complaint *complaint)
{
	struct cluster_identity identity;
	struct cluster_member self;
	int error = cluster_identity_read(s->directory, &identity, complaint);

	if (!cluster_member_fill(&self, "", s->member_name, s->http, s->wire))
		return complain(complaint, -EINVAL, CLUSTER_MEMBER_TOO_LONG);
	if (error == -ENOENT)
		return open_etcd(s, etcd, complaint);
	return error ? error
		     : complain(complaint, -EEXIST,
			       "%s belongs to the member %s of a cluster already: leave that "
			       "first, with "
			       "berthd cluster leave",
			       s->directory, identity.member);
}

// The member's key and what it has: nothing holds the log for it before it has started once. With meta: the cluster's
// keys, which must not be there yet; else they must.
static int put_member(struct etcd *etcd, const struct cluster_setup *s,
	const struct cluster_identity *identity, const struct cluster_meta *meta, uint64_t index)
{
	struct cluster_member self;
	CHECK(cluster_member_fill(&self, identity->member, s->member_name, s->http, s->wire));
	struct cluster_key keys[4] = {cluster_key_of(s->name, "members", identity->member),
		cluster_key_of(s->name, "stored", identity->member), cluster_key(s->name, "meta"),
		cluster_key(s->name, "cut")};
	char number[24];
	uint32_t digits = (uint32_t)snprintf(number, sizeof number, "%" PRIu64, index);
	char *member = cluster_member_write(&self), *about = meta ? cluster_meta_write(meta) : NULL;
	struct etcd_compare is_new = {keys[2].text, true, 0};
	struct etcd_put puts[4] = {
		{.key = keys[0].text, .value = member, .size = (uint32_t)strlen(member)},
		{.key = keys[1].text, .value = number, .size = digits},
		{.key = keys[2].text, .value = about, .size = about ? (uint32_t)strlen(about) : 0},
		{.key = keys[3].text, .value = number, .size = digits},
	};
	struct etcd_txn txn = {.compares = &is_new,
		.compare_count = meta ? 1 : 0,
		.puts = puts,
		.put_count = meta ? 4 : 2};
	struct etcd_txn_result result;
	int error = etcd_txn(etcd, &txn, SETUP_TIMEOUT_MS, &result);

	free(member);
	free(about);
	return error ? error : result.succeeded ? 0 : -EEXIST;
}

// The directory's word is not needed: nothing in etcd stands for it.
static void forget_identity(const struct cluster_setup *s)
{
	char unheard[COMPLAINT_BYTES];
	(void)remove_identity(s->directory, &(struct complaint){unheard, sizeof unheard});
}

// What was asked for may have been done, or may be done yet: the directory keeps the identity, so that it can be taken
// back.
static void complain_of_setup(struct etcd *etcd, const struct cluster_setup *s, int error,
	const struct complaint *complaint)
{
	if (error == -ETIMEDOUT)
		complain(complaint, error,
			"etcd did not answer in time, so it is not known whether %s is of a member "
			"now: "
			"once etcd answers, end that with berthd cluster leave, and try again",
			s->directory);
	else
		complain_of_etcd(etcd, error, complaint);
}

// The directory comes first: a cluster without a member could neither be joined nor left.
static int begin_cluster(struct etcd *etcd, const struct cluster_setup *s,
	const struct cluster_identity *identity, const struct cluster_meta *meta, uint64_t index,
	const struct complaint *complaint)
{
	int error = write_identity(s->directory, identity, complaint);

	if (error != 0)
		return error;
	error = put_member(etcd, s, identity, meta, index);
	if (error == -EEXIST)
		complain(complaint, error,
			"etcd has a cluster \"%s\" already: join it with berthd cluster join, or "
			"set "
			"cluster.name to another name",
			s->name);
	else if (error != 0)
		complain_of_setup(etcd, s, error, complaint);
	if (error != 0 && error != -ETIMEDOUT)
		forget_identity(s);
	return error;
}

int cluster_init(const struct cluster_setup *s, uint64_t index, const struct complaint *complaint)
{
	struct cluster_meta meta;
	struct cluster_identity identity;
	struct etcd *etcd;
	int error = open_as_stranger(s, &etcd, complaint);

	if (error != 0)
		return error;
	// An etcd that does not answer leaves no trace in the directory.
	error = cluster_meta_read(etcd, s->name, &meta);
	if (error == -ETIMEDOUT) {
		complain_of_etcd(etcd, error, complaint);
	} else {
		new_uuid(meta.id);
		new_uuid(identity.member);
		memcpy(identity.cluster, meta.id, sizeof meta.id);
		error = begin_cluster(etcd, s, &identity, &meta, index, complaint);
	}
	etcd_close(etcd);
	return error;
}

static int read_cluster(struct etcd *etcd, const struct cluster_setup *s, struct cluster_meta *meta,
	const struct complaint *complaint)
{
	int error = cluster_meta_read(etcd, s->name, meta);

	if (error == -ENOENT)
		return complain(complaint, error,
			"etcd has no cluster \"%s\": begin it at its first member with berthd "
			"cluster init",
			s->name);
	if (error == -ERROR_VERSION || error == -ERROR_CORRUPT)
		return complain(complaint, error,
			"the cluster \"%s\" in etcd is of another version of the program: %s",
			s->name, error_text(error));
	return error ? complain_of_etcd(etcd, error, complaint) : 0;
}

int cluster_join(const struct cluster_setup *s, const struct complaint *complaint)
{
	struct cluster_meta meta;
	struct cluster_identity identity;
	struct etcd *etcd;
	int error = open_as_stranger(s, &etcd, complaint);

	if (error != 0)
		return error;
	error = read_cluster(etcd, s, &meta, complaint);
	if (error == 0) {
		new_uuid(identity.member);
		memcpy(identity.cluster, meta.id, sizeof meta.id);
		// The directory comes first: a member that nobody starts would hold the log.
		error = write_identity(s->directory, &identity, complaint);
	}
	if (error == 0 && (error = put_member(etcd, s, &identity, NULL, 0)) != 0) {
		complain_of_setup(etcd, s, error, complaint);
		if (error != -ETIMEDOUT)
			forget_identity(s);
	}
	etcd_close(etcd);
	return error;
}

static bool count_item(void *context, const struct etcd_item *item)
{
	return false;
}

static int count_members(struct etcd *etcd, const struct cluster_setup *s, uint64_t *count)
{
	struct cluster_key from = cluster_key(s->name, "members/"),
			   end = cluster_folder_end(s->name, "members/");
	struct etcd_range members = {
		.key = from.text, .end = end.text, .keys_only = true, .visit = count_item};
	struct etcd_range_result result;
	int error = etcd_range(etcd, &members, SETUP_TIMEOUT_MS, &result);

	*count = result.count;
	return error;
}

static bool take_newest(void *context, const struct etcd_item *item)
{
	uint32_t piece;
	(void)cluster_log_key_read(item->key, context, &piece);
	return false;
}

// A member's store follows the log: with the last member goes whatever of it the store has not. What is not whole at
// its end may be there, which only who leads can tell.
static int check_last_has_all(struct etcd *etcd, const struct cluster_setup *s, uint64_t index,
	const struct complaint *complaint)
{
	struct cluster_key from = cluster_key(s->name, "log/"),
			   end = cluster_folder_end(s->name, "log/");
	uint64_t newest = 0, cut = 0;
	struct etcd_range log = {.key = from.text,
		.end = end.text,
		.limit = 1,
		.keys_only = true,
		.descending = true,
		.visit = take_newest,
		.context = &newest};
	struct etcd_range_result result;
	struct cluster_epoch epoch;
	uint64_t own_epoch;
	int error = epoch_of_folder(s->directory, &own_epoch);

	if (error != 0)
		return complain(complaint, error, "cannot read the epoch of %s: %s", s->directory,
			error_text(error));
	error = etcd_range(etcd, &log, SETUP_TIMEOUT_MS, &result);
	if (error == 0)
		error = cluster_cut_read(etcd, s->name, &cut);
	if (error == 0)
		error = epoch_of_cluster(etcd, s->name, &epoch);
	if (error != 0)
		return complain_of_etcd(etcd, error, complaint);
	if (newest <= index && cut <= index && epoch.number == own_epoch)
		return 0;
	return complain(complaint, -ESTALE,
		"%s is at index %" PRIu64 ", and the cluster has more, which nobody would have "
		"when its last member is gone: start this member, wait until it leads, stop it, "
		"and let it leave then",
		s->directory, index);
}

static int remove_member(struct etcd *etcd, const struct cluster_setup *s, const char *member)
{
	struct cluster_key keys[3] = {cluster_key_of(s->name, "members", member),
		cluster_key_of(s->name, "stored", member),
		cluster_key_of(s->name, "alive", member)};
	struct etcd_delete deletes[3] = {
		{keys[0].text, NULL}, {keys[1].text, NULL}, {keys[2].text, NULL}};
	struct etcd_txn txn = {.deletes = deletes, .delete_count = 3};
	struct etcd_txn_result result;

	return etcd_txn(etcd, &txn, SETUP_TIMEOUT_MS, &result);
}

static int remove_all_keys(struct etcd *etcd, const struct cluster_setup *s)
{
	struct cluster_key from = cluster_key(s->name, ""), end = cluster_folder_end(s->name, "");
	struct etcd_delete all = {from.text, end.text};
	struct etcd_txn txn = {.deletes = &all, .delete_count = 1};
	struct etcd_txn_result result;

	return etcd_txn(etcd, &txn, SETUP_TIMEOUT_MS, &result);
}

static int end_membership(struct etcd *etcd, const struct cluster_setup *s, const char *member,
	uint64_t index, const struct complaint *complaint)
{
	uint64_t members;
	int error = count_members(etcd, s, &members);

	if (error == 0 && members <= 1) {
		error = check_last_has_all(etcd, s, index, complaint);
		if (error != 0)
			return error;
	}
	if (error == 0)
		error = remove_member(etcd, s, member);
	if (error == 0)
		error = count_members(etcd, s, &members);
	if (error == 0 && members == 0)
		error = remove_all_keys(etcd, s);
	return error ? complain_of_etcd(etcd, error, complaint) : 0;
}

int cluster_leave(const struct cluster_setup *s, uint64_t index, const struct complaint *complaint)
{
	struct cluster_identity identity;
	struct cluster_meta meta;
	struct etcd *etcd;
	int error = cluster_identity_read(s->directory, &identity, complaint);

	if (error == 0)
		error = open_etcd(s, &etcd, complaint);
	if (error != 0)
		return error;
	error = cluster_meta_read(etcd, s->name, &meta);
	// Of a cluster that is gone, or that somebody began anew, nothing is left to be taken out.
	if (error == -ENOENT)
		error = 0;
	else if (error != 0)
		complain_of_etcd(etcd, error, complaint);
	else if (strcmp(meta.id, identity.cluster) == 0)
		error = end_membership(etcd, s, identity.member, index, complaint);
	etcd_close(etcd);
	return error ? error : remove_identity(s->directory, complaint);
}
