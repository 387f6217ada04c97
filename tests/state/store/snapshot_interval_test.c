// How much log there is between two snapshots, and how they step aside.
#include "state/base/log.h"
#include "state/store/store_private.h"
#include "tests/state/store/world.h"
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { BLOCK_BYTES = 4096 }; // what a small batch takes of the log

static void snapshot_name(const struct world *w, char *path, size_t size)
{
	snprintf(path, size, "%s/snapshot-%lu", w->directory,
		atomic_load(&store_counters(w->store)->snapshot_index));
}

static uint64_t snapshot_bytes(const struct world *w)
{
	struct stat file;
	char path[128];
	snapshot_name(w, path, sizeof path);
	assert_int_equal(stat(path, &file), 0);
	return (uint64_t)file.st_size;
}

static bool is_named(const char *task, const char *name)
{
	char path[288], own[32] = "";
	snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(own, sizeof own, file);
	if (file)
		fclose(file);
	own[strcspn(own, "\n")] = '\0';
	return is_read && strcmp(own, name) == 0;
}

// Of the thread of this process with that name.
static int niceness_of(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	assert_non_null(tasks);
	while ((task = readdir(tasks)) && !is_named(task->d_name, name)) {
	}
	assert_non_null(task);
	int niceness = getpriority(PRIO_PROCESS, (id_t)strtoul(task->d_name, NULL, 10));
	closedir(tasks);
	return niceness;
}

// A snapshot of much is not taken again before there is half as much log.
static void a_large_snapshot_waits_for_more_log(void **unused)
{
	struct world w;
	uint32_t node = 0;
	world_init(&w);
	assert_int_equal(world_open(&w), 0);
	while (node < 1000)
		assert_int_equal(world_register(&w, node++), OUTCOME_DONE);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	world_close(&w);

	w.settings.snapshot_log_bytes = BLOCK_BYTES;
	for (uint32_t restarted = 0; restarted < 2; restarted++) {
		assert_int_equal(world_open(&w), 0);
		const struct store_counters *counters = store_counters(w.store);
		uint64_t half = snapshot_bytes(&w) / 2, before = atomic_load(&counters->appends);
		uint64_t replayed = w.recovery.log_entries; // at most one batch each
		assert_true(half > 20 * BLOCK_BYTES);
		assert_int_equal(store_start_snapshots(w.store, w.state), 0);
		while (atomic_load(&counters->snapshots) == 0)
			assert_int_equal(world_register(&w, node++), OUTCOME_DONE);
		uint64_t appended = atomic_load(&counters->appends) - before;
		int own = getpriority(PRIO_PROCESS, 0);
		assert_true(own == 19 || niceness_of("snapshots") > own); // nobody waits for it
		assert_true((replayed + appended + 1) * BLOCK_BYTES >= half);
		store_stop_snapshots(w.store);
		world_close(&w);
	}
	world_remove(&w);
}

// Not so much, however, that two intervals would not fit into the log.
static void a_huge_snapshot_leaves_room_in_the_log(void **unused)
{
	struct world w;
	char path[128];
	world_init(&w);
	w.settings.snapshot_log_bytes = 8 << 20;
	assert_int_equal(world_open(&w), 0);
	assert_int_equal(world_register(&w, 1), OUTCOME_DONE);
	assert_int_equal(store_snapshot(w.store, w.state), 0);
	assert_int_equal(snapshot_interval_bytes(w.store), w.settings.snapshot_log_bytes);
	snapshot_name(&w, path, sizeof path);
	assert_int_equal(truncate(path, 1 << 30), 0);
	assert_int_equal(snapshot_interval_bytes(w.store), w.settings.map_bytes / 4);
	world_close(&w);
	world_remove(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_snapshot_waits_for_more_log),
		cmocka_unit_test(a_huge_snapshot_leaves_room_in_the_log),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
