#include "tools/berthd/backup.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include "tools/archive/snapshot_archive.h"
#include "tools/berthd/membership/exchange.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (CONFIG_PATH_BYTES + 32)
#define RESTORE_DRAIN_MS 1000u

static bool cannot_save(char *message, uint32_t size, const char *what, int error)
{
	snprintf(message, size, "%s: %s", what, error_text(error));
	return false;
}

// A file beside the store that is gone once it is closed.
static int open_scratch(const struct config *config)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "%s/archive.XXXXXX", config->data_dir);
	int file = mkostemp(path, O_CLOEXEC);
	if (file >= 0)
		unlink(path);
	return file;
}

static bool take_meta(const struct berthd *b, int file, uint64_t index, struct snapshot_meta *meta)
{
	struct stat info;
	uint64_t now_ms = time_wall_ns(&time_source_real) / NS_PER_MS;
	if (fstat(file, &info) < 0)
		return false;
	*meta = (struct snapshot_meta){.index = index,
		.term = state_node_table(b->state)->term,
		.size = (uint64_t)info.st_size};
	snprintf(meta->id, sizeof meta->id, "%" PRIu64 "-%" PRIu64 "-%" PRIu64, meta->term, index,
		now_ms);
	return true;
}

bool berthd_snapshot(
	void *context, struct api_snapshot *snapshot, char *message, uint32_t message_size)
{
	struct berthd *b = context;
	struct snapshot_meta meta;
	int from = store_snapshot_open(b->store, b->state, &snapshot->index);
	if (from < 0)
		return cannot_save(message, message_size, "no snapshot could be taken", from);
	snapshot->file = open_scratch(&b->config);
	bool fine = snapshot->file >= 0 && take_meta(b, from, snapshot->index, &meta);
	if (!fine)
		cannot_save(message, message_size,
			"no file for the archive could be made in data_dir", -errno);
	else
		fine = snapshot_archive_write(
			&meta, from, snapshot->file, snapshot->digest, message, message_size);
	close(from);
	if (!fine && snapshot->file >= 0)
		close(snapshot->file);
	if (fine)
		log_info("snapshot-sent", "id=%s index=%" PRIu64 " bytes=%" PRIu64, meta.id,
			meta.index, meta.size);
	return fine;
}

int berthd_body_file(void *context)
{
	const struct berthd *b = context;
	int file = open_scratch(&b->config);
	return file < 0 ? -errno : file;
}

// Nothing is acknowledged from here on: whoever asks over the wire is refused, and the applier has answered, or
// refused, all that was handed to it before it ended. What the API hands to it yet is never answered.
static void stop_deciding(struct berthd *b)
{
	dataplane_refuse(b->dataplane);
	applier_stop(b->applier, RESTORE_DRAIN_MS);
	atomic_store(&b->is_restored, true);
}

// Once the cluster has decided, a state that cannot be put in its place yet takes it at the next start.
static bool restore_cluster(struct berthd *b, uint64_t index, char *message, uint32_t message_size)
{
	int error = cluster_restore_offer(b->cluster);
	if (error < 0)
		return cannot_save(message, message_size,
			error == -ESTALE ? "this member does not lead" : "data_dir", error);
	stop_deciding(b);
	cluster_restore_decide(b->cluster, index);
	(void)berthd_exchange_commit(&b->config, index, message, message_size);
	return true;
}

// What was acknowledged up to here came before the restore: who asked for that has no answer yet.
bool berthd_restore_online(void *context, int archive, char *message, uint32_t message_size)
{
	struct berthd *b = context;
	uint64_t index;
	if (!berthd_exchange_prepare(&b->config, archive, &index, message, message_size))
		return false;
	if (b->cluster)
		return restore_cluster(b, index, message, message_size);
	if (!berthd_exchange_commit(&b->config, index, message, message_size))
		return false;
	stop_deciding(b);
	return true;
}

void berthd_restore_begin(void *context)
{
	berthd_begin_anew(context, "the state of a snapshot takes the place of the own");
	_exit(BERTHD_EXIT_ANEW);
}

static bool put_back(const struct config *config, int from, char *message, uint32_t message_size)
{
	struct snapshot_meta meta;
	uint64_t index = 0;
	int file = store_restore_begin(config->data_dir, message, message_size);
	if (file < 0)
		return false;
	if (!snapshot_archive_read(from, file, &meta, message, message_size)) {
		store_restore_abandon(config->data_dir, file);
		return false;
	}
	if (store_restore_end(config->data_dir, file, &index, message, message_size) < 0)
		return false;
	printf("%s holds the state of index %" PRIu64 " (snapshot %s)\n", config->data_dir, index,
		meta.id);
	return true;
}

bool berthd_restore(
	const struct config *config, const char *archive, char *message, uint32_t message_size)
{
	int from = open(archive, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return cannot_save(message, message_size, archive, -errno);
	bool fine = put_back(config, from, message, message_size);
	close(from);
	return fine;
}
