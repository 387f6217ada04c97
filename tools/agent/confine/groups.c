#include "tools/agent/confine/groups.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALL_CONTROLLERS (CGROUP_CPU | CGROUP_CPUSET | CGROUP_MEMORY | CGROUP_PIDS)
// What a group that is removed may take to empty. A shim has emptied it before, unless the shim was killed.
#define EMPTY_WAIT_MS 200u

enum partition { PARTITION_SHARE, PARTITION_RESERVE, PARTITIONS };
static const char *const partition_names[PARTITIONS] = {"share", "reserve"};

// Only a group without processes of its own may pass all controllers on, unless it is the machine's root, which has no
// type. The agent steps aside before it tries: what it had passed on by then would make its new group invalid.
static uint32_t step_aside_and_pass_on(const char *group, const char *own)
{
	char leaf[600], type[32];

	cgroup_read(group, "cgroup.type", type, sizeof type);
	if (*type && strcmp(group, own) == 0) {
		snprintf(leaf, sizeof leaf, "%.500s/agent", group);
		if (cgroup_make(leaf) == 0)
			(void)cgroup_write(
				leaf, "cgroup.procs", "0"); // else controllers are missing
	}
	return cgroup_pass_on(group, ALL_CONTROLLERS);
}

static void find_own(const char *mount, char own[static 600])
{
	char text[2048], path[400];

	cgroup_read("/proc/self", "cgroup", text, sizeof text);
	if (!cgroup_own_path(text, path, sizeof path))
		path[0] = '\0';
	snprintf(own, 600, "%s%s", mount, strcmp(path, "/") == 0 ? "" : path);
}

static bool say_fault(struct groups *g, const char *group, int error)
{
	snprintf(g->fault, sizeof g->fault, "cannot make %.120s: %s", group, strerror(-error));
	return false;
}

// Makes each part of the path, and passes the controllers on from one to the next.
static bool open_parent(struct groups *g, const char *parent, const char *own)
{
	snprintf(g->parent, sizeof g->parent, "%s", g->mount);
	while (*parent) {
		size_t size = strcspn(parent, "/"), used = strlen(g->parent);
		if (size > 0) {
			(void)step_aside_and_pass_on(g->parent, own);
			snprintf(g->parent + used, sizeof g->parent - used, "/%.*s", (int)size,
				parent);
			int error = cgroup_make(g->parent);
			if (error)
				return say_fault(g, g->parent, error);
		}
		parent += size;
		parent += strspn(parent, "/");
	}
	(void)step_aside_and_pass_on(g->parent, own);
	return true;
}

void groups_open(struct groups *g, const char *mounts_file, const char *parent)
{
	char own[600], group[500];

	*g = (struct groups){.controllers = ALL_CONTROLLERS};
	cgroup_find_mount(mounts_file, g->mount, sizeof g->mount);
	if (!*g->mount) {
		g->controllers = 0;
		snprintf(g->fault, sizeof g->fault, "cgroup v2 is not mounted");
		return;
	}
	find_own(g->mount, own);
	bool is_made = open_parent(g, parent, own);
	for (uint32_t i = 0; i < PARTITIONS && is_made; i++) {
		snprintf(group, sizeof group, "%s/%s", g->parent, partition_names[i]);
		int error = cgroup_make(group);
		is_made = error ? say_fault(g, group, error) : true;
		g->controllers &= cgroup_pass_on(group, ALL_CONTROLLERS);
	}
	g->is_usable = is_made;
	if (!is_made)
		g->controllers = 0;
}

void groups_cores_less(const char *all, const char *less, char *text, size_t size)
{
	hwloc_bitmap_t from = hwloc_bitmap_alloc(), taken = hwloc_bitmap_alloc();

	text[0] = '\0';
	if (from && taken && hwloc_bitmap_list_sscanf(from, all) == 0 &&
		hwloc_bitmap_list_sscanf(taken, less) == 0) {
		hwloc_bitmap_andnot(from, from, taken);
		int length = hwloc_bitmap_list_snprintf(text, size, from);
		if (length < 0 || (size_t)length >= size)
			text[0] = '\0';
	}
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(taken);
}

static void group_of_alloc(const struct groups *g, enum partition partition,
	const struct uuid *alloc, char group[static 500])
{
	char id[UUID_TEXT_BYTES];

	snprintf(group, 500, "%s/%s/%s", g->parent, partition_names[partition],
		uuid_format(alloc, id));
}

static void group_of_task(const char *alloc_group, const char *task, char group[static 700])
{
	snprintf(group, 700, "%s/%.128s.scope", alloc_group, task);
}

// Calls each with every group in a group; one that is gone has none. 0, or a negative error: there may be more.
static int for_each_below(
	const char *group, int (*each)(const char *group, void *context), void *context)
{
	char path[1000];
	const struct dirent *entry;
	DIR *entries = opendir(group);
	int unlisted = entries || errno == ENOENT ? 0 : -errno, error = 0;

	while (entries && !error && (entry = listing_next(entries, &unlisted)) != NULL) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%.700s/%.256s", group, entry->d_name);
		error = each(path, context);
	}
	if (entries)
		closedir(entries);
	return error ? error : unlisted;
}

static int add_cores(const char *task_group, void *context)
{
	char text[1024];
	size_t used = strlen(context);

	cgroup_read(task_group, "cpuset.cpus", text, sizeof text);
	text[strcspn(text, "\n")] = '\0';
	if (*text)
		snprintf((char *)context + used, 4096 - used, "%s%s", used ? "," : "", text);
	return 0;
}

static int add_cores_of_alloc(const char *alloc_group, void *context)
{
	return for_each_below(alloc_group, add_cores, context);
}

// Tasks without cores of their own keep off those that others have. The groups themselves say which these are.
static void share_other_cores(const struct groups *g)
{
	char group[500], all[1024], taken[4096] = "", rest[1024];

	if (!(g->controllers & CGROUP_CPUSET))
		return;
	snprintf(group, sizeof group, "%s/reserve", g->parent);
	int error = for_each_below(group, add_cores_of_alloc, taken);
	cgroup_read(g->parent, "cpuset.cpus.effective", all, sizeof all);
	all[strcspn(all, "\n")] = '\0';
	groups_cores_less(all, taken, rest, sizeof rest);
	snprintf(group, sizeof group, "%s/share", g->parent);
	// A group with processes cannot be given the empty list, which means all, so these are named.
	if (!error)
		error = *rest ? cgroup_write(group, "cpuset.cpus", rest) : -ENOSPC;
	if (error)
		log_warn("cores-not-shared", "all=%s reserved=%s error=\"%s\"", all, taken,
			error_text(error));
}

static int add_weight(const char *task_group, void *context)
{
	char text[40];
	uint64_t *sum = context, weight = 0;

	cgroup_read(task_group, "cpu.weight", text, sizeof text);
	for (const char *at = text; *at >= '0' && *at <= '9'; at++)
		weight = weight * 10 + (uint64_t)(*at - '0');
	*sum += weight;
	return 0;
}

// An allocation counts as much among the others as its tasks together.
static void weigh_alloc(const struct groups *g, const char *alloc_group)
{
	char text[24];
	uint64_t sum = 0;

	if (!(g->controllers & CGROUP_CPU))
		return;
	int error = for_each_below(alloc_group, add_weight, &sum);
	if (error)
		log_warn("allocation-not-weighed", "group=\"%s\" error=\"%s\"", alloc_group,
			error_text(error));
	if (error || sum == 0)
		return; // it weighs what it did, or is about to be removed
	snprintf(text, sizeof text, "%lu", (unsigned long)(sum > 10000 ? 10000 : sum));
	(void)cgroup_write(alloc_group, "cpu.weight", text); // the task's own limits hold without
}

static bool reserves_cores(const struct limits *l)
{
	return limits_controllers(l) & CGROUP_CPUSET;
}

static bool remove_group(const char *group)
{
	int fd = cgroup_open(group);

	if (fd < 0)
		return fd == -ENOENT;
	bool is_empty = cgroup_kill(fd, EMPTY_WAIT_MS);
	close(fd);
	return is_empty && (CAN_FAIL(CGROUP_REMOVE, rmdir(group)) == 0 || errno == ENOENT);
}

static int make_groups(const struct groups *g, const char *alloc_group, const char *group,
	char *message, uint32_t message_size)
{
	int error = cgroup_make(alloc_group);

	if (!error)
		(void)cgroup_pass_on(alloc_group, g->controllers);
	// One that is still there counts an earlier run's events, and may hold its processes.
	if (!error && !remove_group(group))
		error = -EBUSY;
	error = error ? error : cgroup_make(group);
	if (error)
		snprintf(message, message_size, "cannot make the task's control group %.160s: %s",
			group, strerror(-error));
	return error;
}

int groups_begin(const struct groups *g, const struct uuid *alloc, const char *task,
	const struct limits *limits, char *message, uint32_t message_size)
{
	char alloc_group[500], group[700];

	group_of_alloc(g, reserves_cores(limits) ? PARTITION_RESERVE : PARTITION_SHARE, alloc,
		alloc_group);
	group_of_task(alloc_group, task, group);
	int error = make_groups(g, alloc_group, group, message, message_size);
	if (!error)
		error = limits_set(limits, g->controllers, group, message, message_size);
	if (error)
		return error;
	weigh_alloc(g, alloc_group);
	if (reserves_cores(limits))
		share_other_cores(g);
	int fd = cgroup_open(group);
	if (fd < 0)
		snprintf(message, message_size, "cannot open the task's control group %.160s: %s",
			group, strerror(-fd));
	return fd;
}

uint64_t groups_end(const struct groups *g, const struct uuid *alloc, const char *task)
{
	char alloc_group[500], group[700], events[512];
	uint64_t killed = 0;

	for (uint32_t i = 0; i < PARTITIONS && g->is_usable; i++) {
		group_of_alloc(g, (enum partition)i, alloc, alloc_group);
		group_of_task(alloc_group, task, group);
		if (access(group, F_OK) < 0)
			continue;
		cgroup_read(group, "memory.events", events, sizeof events);
		killed += cgroup_event_count(events, "oom_kill");
		if (!remove_group(group))
			log_warn("group-not-removed", "group=\"%s\"", group);
		(void)rmdir(alloc_group); // not while it has other tasks
		weigh_alloc(g, alloc_group);
		if (i == PARTITION_RESERVE)
			share_other_cores(g);
	}
	return killed;
}
