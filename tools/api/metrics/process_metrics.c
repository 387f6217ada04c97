#include "tools/api/metrics/process_metrics.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Of /proc/self/stat, as proc(5) numbers its fields; the second is the name of the program and may hold anything.
enum stat_field {
	STAT_STATE = 3,
	STAT_THREADS = 20,
	STAT_START_TICKS = 22,
	STAT_VIRTUAL_BYTES = 23,
	STAT_RESIDENT_PAGES = 24,
	STAT_FIELDS
};

static bool read_proc(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t got = fread(text, 1, size - 1, file);
	bool failed = ferror(file);
	fclose(file);
	text[got] = '\0';
	return !failed;
}

static bool read_stat(uint64_t fields[STAT_FIELDS])
{
	char text[2048];
	if (!read_proc("/proc/self/stat", text, sizeof text))
		return false;
	char *at = strrchr(text, ')');
	if (!at)
		return false;
	char *rest = NULL, *word = strtok_r(at + 1, " ", &rest);
	for (int field = STAT_STATE; field < STAT_FIELDS; field++) {
		if (!word)
			return false;
		fields[field] = strtoull(word, NULL, 10);
		word = strtok_r(NULL, " ", &rest);
	}
	return true;
}

static uint64_t read_boot_time_s(void)
{
	char line[256];
	uint64_t boot_s = 0;
	FILE *file = fopen("/proc/stat", "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof line, file) && sscanf(line, "btime %" SCNu64, &boot_s) != 1)
		;
	fclose(file);
	return boot_s;
}

static void put_stat(const struct metric_sink *m)
{
	uint64_t fields[STAT_FIELDS];
	double ticks_per_s = (double)sysconf(_SC_CLK_TCK);
	if (!read_stat(fields))
		return;
	metric_put(m, METRIC_PROCESS_RESIDENT_MEMORY_BYTES,
		(double)fields[STAT_RESIDENT_PAGES] * (double)sysconf(_SC_PAGESIZE));
	metric_put(m, METRIC_PROCESS_VIRTUAL_MEMORY_BYTES, (double)fields[STAT_VIRTUAL_BYTES]);
	metric_put(m, METRIC_PROCESS_THREADS, (double)fields[STAT_THREADS]);
	uint64_t boot_s = read_boot_time_s();
	if (boot_s)
		metric_put(m, METRIC_PROCESS_START_TIME_SECONDS,
			(double)boot_s + (double)fields[STAT_START_TICKS] / ticks_per_s);
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void put_usage(const struct metric_sink *m)
{
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		metric_put(m, METRIC_PROCESS_CPU_SECONDS_TOTAL,
			seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
}

static void put_descriptors(const struct metric_sink *m)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		metric_put(m, METRIC_PROCESS_MAX_FDS, (double)limit.rlim_cur);
	DIR *folder = opendir("/proc/self/fd");
	if (!folder)
		return;
	uint32_t count = 0;
	for (struct dirent *entry; (entry = readdir(folder));)
		count += entry->d_name[0] != '.';
	closedir(folder);
	metric_put(m, METRIC_PROCESS_OPEN_FDS, count - 1); // but for the folder itself
}

void process_metrics(const struct metric_sink *m)
{
	metric_put_of(m, METRIC_BUILD_INFO,
		"version=\"" BERTH_VERSION "\",compiler=\"" __VERSION__ "\"", 1);
	put_stat(m);
	put_usage(m);
	put_descriptors(m);
}
