#include "state/cluster/epoch.h"
#include "state/base/error.h"
#include "state/store/files.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "epoch"
#define UNFINISHED_NAME "epoch.new"
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
	char digits[24] = "";
	char *end;

	reading->error = -ERROR_CORRUPT;
	if (item->size == 0 || item->size >= sizeof digits)
		return false;
	memcpy(digits, item->value, item->size);
	*reading->epoch = (struct cluster_epoch){strtoull(digits, &end, 10), item->changed};
	if (*end == '\0')
		reading->error = 0;
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

uint64_t epoch_of_folder(const char *folder)
{
	char *path = path_of(folder, FILE_NAME);
	FILE *file = fopen(path, "re");
	uint64_t number = 0;

	if (file && fscanf(file, "%20" SCNu64, &number) != 1)
		number = 0;
	if (file)
		(void)fclose(file);
	free(path);
	return number;
}

static int write_number(const char *path, uint64_t number)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return -errno;
	bool is_written = fprintf(file, "%" PRIu64 "\n", number) > 0 && fflush(file) == 0 &&
			  fsync(fileno(file)) == 0;
	int error = is_written ? 0 : -errno;
	return fclose(file) != 0 && error == 0 ? -errno : error;
}

int epoch_note(const char *folder, uint64_t number)
{
	char *unfinished = path_of(folder, UNFINISHED_NAME), *path = path_of(folder, FILE_NAME);
	int error = write_number(unfinished, number);

	if (error == 0 && rename(unfinished, path) < 0)
		error = -errno;
	if (error == 0)
		error = directory_sync(folder);
	free(unfinished);
	free(path);
	return error;
}

int epoch_forget(const char *folder)
{
	char *path = path_of(folder, FILE_NAME);
	int error = unlink(path) < 0 && errno != ENOENT ? -errno : 0;

	free(path);
	return error == 0 ? directory_sync(folder) : error;
}
