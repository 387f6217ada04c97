#include "tools/agent/service/process_use.h"
#include "state/base/listing/listing.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_small_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

// The fields behind the name, which may hold any character.
static bool parse_stat(const char *text, struct process_use *use)
{
	long long pages;
	int parent, group, session;
	unsigned long long user, system, started;
	const char *at = strrchr(text, ')');
	if (!at || sscanf(at + 1,
			   " %*c %d %d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d "
			   "%*d %*d %llu %*u %lld",
			   &parent, &group, &session, &user, &system, &started, &pages) != 7)
		return false;
	use->parent = parent;
	use->group = group;
	use->session = session;
	use->user_ticks = user;
	use->system_ticks = system;
	use->started = started;
	use->resident_bytes = pages * sysconf(_SC_PAGESIZE);
	return true;
}

int process_uses_take(struct process_uses *uses)
{
	char path[64], text[1024];
	const struct dirent *entry;
	*uses = (struct process_uses){.taken_ns = time_monotonic_ns(&time_source_real)};
	DIR *all = opendir("/proc");
	int error = all ? 0 : -errno;
	while (all && (entry = listing_next(all, &error)) != NULL) {
		struct process_use use = {.pid = (pid_t)strtol(entry->d_name, NULL, 10)};
		if (use.pid <= 0)
			continue;
		snprintf(path, sizeof path, "/proc/%d/stat", (int)use.pid);
		if (!read_small_file(path, text, sizeof text) || !parse_stat(text, &use))
			continue; // it has just ended
		uses->items = memory_one_more(
			uses->items, uses->count, &uses->capacity, sizeof uses->items[0]);
		uses->items[uses->count++] = use;
	}
	if (all)
		closedir(all);
	return error;
}

void process_uses_free(struct process_uses *uses)
{
	free(uses->items);
	*uses = (struct process_uses){0};
}

static bool is_marked_pid(const struct process_uses *uses, pid_t pid)
{
	for (uint32_t i = 0; i < uses->count; i++)
		if (uses->items[i].pid == pid)
			return uses->items[i].is_marked;
	return false;
}

// Marks children of what is marked. False: there were none.
static bool mark_children(struct process_uses *uses)
{
	bool any = false;
	for (uint32_t i = 0; i < uses->count; i++) {
		struct process_use *use = &uses->items[i];
		if (use->is_marked || !is_marked_pid(uses, use->parent))
			continue;
		use->is_marked = any = true;
	}
	return any;
}

void process_uses_mark(struct process_uses *uses, pid_t leader, uint64_t started)
{
	bool is_there = false;
	for (uint32_t i = 0; i < uses->count; i++)
		is_there |= uses->items[i].pid == leader && uses->items[i].started == started;
	for (uint32_t i = 0; i < uses->count; i++) {
		struct process_use *use = &uses->items[i];
		use->is_marked = is_there && (use->pid == leader || use->session == leader ||
						     use->group == leader);
	}
	while (is_there && mark_children(uses))
		continue;
}

const struct process_use *process_uses_find(
	const struct process_uses *uses, const struct process_use *use)
{
	for (uint32_t i = 0; i < uses->count; i++)
		if (uses->items[i].pid == use->pid && uses->items[i].started == use->started)
			return &uses->items[i];
	return NULL;
}

int64_t process_swap_bytes(pid_t pid)
{
	char path[64], text[4096];
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	const char *at =
		read_small_file(path, text, sizeof text) ? strstr(text, "\nVmSwap:") : NULL;
	return at ? strtoll(at + 8, NULL, 10) * 1024 : 0;
}

// Ticks since the earlier sample, or since the process began, as hundredths of the time between.
static double percent_of(uint64_t ticks, uint64_t before_ticks, uint64_t took_ns)
{
	double seconds = (double)(ticks - before_ticks) / (double)sysconf(_SC_CLK_TCK);
	return took_ns && ticks > before_ticks ? 100 * seconds * NS_PER_S / (double)took_ns : 0;
}

struct core_share process_share(const struct process_uses *before, const struct process_uses *after,
	const struct process_use *of_after)
{
	const struct process_use *was = process_uses_find(before, of_after);
	uint64_t took_ns = after->taken_ns - before->taken_ns;
	return (struct core_share){
		percent_of(of_after->user_ticks, was ? was->user_ticks : 0, took_ns),
		percent_of(of_after->system_ticks, was ? was->system_ticks : 0, took_ns)};
}

double core_mhz(void)
{
	char text[4096];
	const char *at = read_small_file("/proc/cpuinfo", text, sizeof text)
				 ? strstr(text, "\ncpu MHz")
				 : NULL;
	at = at ? strchr(at, ':') : NULL;
	return at ? strtod(at + 1, NULL) : 0;
}
