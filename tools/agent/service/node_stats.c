// /v1/client/stats: what the whole machine uses of processors, memory and disks.
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "tools/agent/service/process_use.h"
#include "tools/agent/service/service_routes.h"
#include "tools/json/json_writer.h"
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#define BETWEEN_LOOKS_MS 500
#define DISKS_MAX 64u

// Ticks of a core since boot.
struct core_ticks {
	uint32_t number;
	uint64_t user, system, idle;
};

struct cores {
	struct core_ticks *items;
	uint32_t count, capacity;
};

static void cores_take(struct cores *cores)
{
	char line[512];
	unsigned long long user, nice, system, idle, wait, irq, soft, steal;
	unsigned number;
	*cores = (struct cores){0};
	FILE *file = fopen("/proc/stat", "re");
	while (file && fgets(line, sizeof line, file)) {
		// The first line, "cpu  ", is the sum of the others.
		if (line[3] < '0' || line[3] > '9' ||
			sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &number,
				&user, &nice, &system, &idle, &wait, &irq, &soft, &steal) != 9)
			continue;
		cores->items = memory_one_more(
			cores->items, cores->count, &cores->capacity, sizeof cores->items[0]);
		cores->items[cores->count++] = (struct core_ticks){
			number, user + nice, system + irq + soft + steal, idle + wait};
	}
	if (file)
		fclose(file);
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

// Returns the clock rate that is used, of all cores.
static double put_cores(
	struct json_writer *json, const struct cores *before, const struct cores *after)
{
	double mhz = core_mhz(), ticks = 0;
	char name[24];
	json_open_array(json, "CPU");
	for (uint32_t i = 0; i < after->count && i < before->count; i++) {
		const struct core_ticks *a = &before->items[i], *b = &after->items[i];
		uint64_t user = b->user - a->user, system = b->system - a->system;
		uint64_t idle = b->idle > a->idle ? b->idle - a->idle : 0,
			 all = user + system + idle;
		double busy = share_of(user + system, all);
		snprintf(name, sizeof name, "cpu%u", b->number);
		json_begin_object(json);
		json_put_string(json, "CPU", name);
		json_put_f64(json, "Idle", share_of(idle, all));
		json_put_f64(json, "System", share_of(system, all));
		json_put_f64(json, "TotalPercent", busy);
		json_put_f64(json, "TotalTicks", busy / 100 * mhz);
		json_put_f64(json, "User", share_of(user, all));
		json_end_object(json);
		ticks += busy / 100 * mhz;
	}
	json_end_array(json);
	return ticks;
}

static void put_disk(
	struct json_writer *json, const struct statvfs *vfs, const char *device, const char *mount)
{
	uint64_t unit = vfs->f_frsize, used = (vfs->f_blocks - vfs->f_bfree) * unit;
	uint64_t available = vfs->f_bavail * unit;
	json_begin_object(json);
	json_put_u64(json, "Available", available);
	json_put_string(json, "Device", device);
	json_put_f64(
		json, "InodesUsedPercent", share_of(vfs->f_files - vfs->f_ffree, vfs->f_files));
	json_put_string(json, "Mountpoint", mount);
	json_put_u64(json, "Size", vfs->f_blocks * unit);
	json_put_u64(json, "Used", used);
	json_put_f64(json, "UsedPercent", share_of(used, used + available));
	json_end_object(json);
}

static void put_alloc_disk(struct json_writer *json, const char *folder)
{
	struct statvfs vfs;
	json_write_key(json, "AllocDirStats");
	if (statvfs(folder, &vfs) == 0)
		put_disk(json, &vfs, "", "");
	else
		json_write_null(json);
}

// File systems on devices; others are none of the machine's disks.
static void put_disks(struct json_writer *json)
{
	char buffer[4096];
	struct mntent entry;
	struct statvfs vfs;
	uint32_t count = 0;
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	json_open_array(json, "DiskStats");
	while (mounts && count < DISKS_MAX && getmntent_r(mounts, &entry, buffer, sizeof buffer)) {
		if (entry.mnt_fsname[0] != '/' || statvfs(entry.mnt_dir, &vfs) != 0 ||
			!vfs.f_blocks)
			continue;
		put_disk(json, &vfs, entry.mnt_fsname, entry.mnt_dir);
		count++;
	}
	if (mounts)
		endmntent(mounts);
	json_end_array(json);
}

static void put_memory(struct json_writer *json)
{
	enum { TOTAL, FREE, AVAILABLE, BUFFERS, CACHED, KINDS };
	static const char *const names[KINDS] = {
		"MemTotal:", "MemFree:", "MemAvailable:", "Buffers:", "Cached:"};
	uint64_t bytes[KINDS] = {0};
	unsigned long long kib;
	char line[256], name[64];
	FILE *file = fopen("/proc/meminfo", "re");
	while (file && fgets(line, sizeof line, file))
		for (int i = 0; i < KINDS; i++)
			if (sscanf(line, "%63s %llu", name, &kib) == 2 &&
				strcmp(name, names[i]) == 0)
				bytes[i] = kib * 1024;
	if (file)
		fclose(file);
	uint64_t unused = bytes[FREE] + bytes[BUFFERS] + bytes[CACHED];
	json_open_object(json, "Memory");
	json_put_u64(json, "Available", bytes[AVAILABLE]);
	json_put_u64(json, "Free", bytes[FREE]);
	json_put_u64(json, "Total", bytes[TOTAL]);
	json_put_u64(json, "Used", bytes[TOTAL] > unused ? bytes[TOTAL] - unused : 0);
	json_end_object(json);
}

static uint64_t uptime_s(void)
{
	double seconds = 0;
	FILE *file = fopen("/proc/uptime", "re");
	if (file && fscanf(file, "%lf", &seconds) != 1)
		seconds = 0;
	if (file)
		fclose(file);
	return (uint64_t)seconds;
}

struct MHD_Response *node_stats(struct service_request *request, unsigned *status)
{
	struct cores before, after;
	struct json_writer json = {0};
	cores_take(&before);
	(void)service_wait(request, -1, BETWEEN_LOOKS_MS); // who has left needs no answer
	cores_take(&after);
	json_begin_object(&json);
	put_alloc_disk(&json, request->settings->data_folder);
	double ticks = put_cores(&json, &before, &after);
	json_put_f64(&json, "CPUTicksConsumed", ticks);
	json_put_null(&json, "DeviceStats");
	put_disks(&json);
	put_memory(&json);
	json_put_i64(&json, "Timestamp", (int64_t)time_wall_ns(request->settings->time));
	json_put_u64(&json, "Uptime", uptime_s());
	json_end_object(&json);
	free(before.items);
	free(after.items);
	return service_json(status, &json);
}
