#include "state/cluster/epoch.h"
#include "state/base/error.h"
#include "state/store/files.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_NAME "epoch"
#define READ_TIMEOUT_MS 5000u

struct cluster_key epoch_key(const char *name)
{
	return cluster_key(name, "lineage");
}

struct epoch_reading {
	struct cluster_epoch *epoch;
	int error;
};

static bool take_epoch(void *context, const struct etcd_item *item)
{
	struct epoch_reading *reading = context;

	reading->epoch->changed = item->changed;
	reading->error = cluster_number_read(item, &reading->epoch->number) ? 0 : -ERROR_CORRUPT;
	return false;
}

int epoch_of_cluster(struct etcd *etcd, const char *name, struct cluster_epoch *epoch)
{
	struct cluster_key key = epoch_key(name);
	struct epoch_reading reading = {.epoch = epoch};
	struct etcd_range range = {.key = key.text, .visit = take_epoch, .context = &reading};
	struct etcd_range_result result;

	*epoch = (struct cluster_epoch){0};
	int error = etcd_range(etcd, &range, READ_TIMEOUT_MS, &result);
	return error ? error : reading.error;
}

int epoch_of_folder(const char *folder, uint64_t *number)
{
	char *path = path_of(folder, FILE_NAME);
	FILE *file = fopen(path, "re");
	int error = file || errno == ENOENT ? 0 : -errno;

	*number = 0;
	if (file && fscanf(file, "%20" SCNu64, number) != 1)
		error = -ERROR_CORRUPT;
	if (file)
		(void)fclose(file);
	free(path);
	return error;
}

int epoch_note(const char *folder, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64 "\n", number);
	return file_replace(folder, FILE_NAME, text);
}

int epoch_forget(const char *folder)
{
	char *path = path_of(folder, FILE_NAME);
	int error = unlink(path) < 0 && errno != ENOENT ? -errno : 0;

	free(path);
	return error == 0 ? directory_sync(folder) : error;
}
