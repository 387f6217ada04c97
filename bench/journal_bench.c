// Placements per second through the real applier and the real store, each acknowledged only when it
// is on disk, against the appends of 64 bytes with fdatasync that the same file system does in a
// second.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/directory.h"
#include "state/base/check.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

struct journal_bench {
	struct bench bench;
	struct controller controller;
	char directory[BENCH_PATH_BYTES];
	int raw;
	uint64_t round_ns; // of one measurement
	uint64_t end_ns;
	uint32_t under_way;
};

static bool until_end(void *context, uint64_t asked)
{
	return bench_ns() < ((struct journal_bench *)context)->end_ns;
}

static double placements_per_second(void *context)
{
	struct journal_bench *j = context;
	uint64_t begin = bench_ns();
	j->end_ns = begin + j->round_ns;
	uint64_t placed = controller_place(&j->controller, j->under_way, until_end, j);
	return (double)placed * 1e9 / (double)(bench_ns() - begin);
}

static double appends_per_second(void *context)
{
	struct journal_bench *j = context;
	static const char record[64] = "x";
	uint64_t begin = bench_ns(), count = 0;
	while (bench_ns() - begin < j->round_ns) {
		CHECK(write(j->raw, record, sizeof record) == sizeof record);
		CHECK(fdatasync(j->raw) == 0);
		count++;
	}
	return (double)count * 1e9 / (double)(bench_ns() - begin);
}

// Refuses a file system in memory: it makes every commit free, and the ratio with it.
static void refuse_memory(const char *directory)
{
	struct statfs info;
	CHECK(statfs(directory, &info) == 0);
	if (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC) {
		fprintf(stderr, "journal: %s is in memory; name a directory on a disk with --dir\n",
			directory);
		exit(77);
	}
}

static void make_directory(struct journal_bench *j)
{
	bench_directory_begin(&j->bench, j->directory);
	if (!j->bench.smoke)
		refuse_memory(j->directory);
	char path[sizeof j->directory + 8];
	snprintf(path, sizeof path, "%s/raw", j->directory);
	j->raw = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	CHECK(j->raw >= 0);
}

int main(int count, char **arguments)
{
	static struct journal_bench j;
	bench_begin(&j.bench, "journal", count, arguments);
	uint32_t nodes = (uint32_t)bench_option(&j.bench, "nodes", j.bench.smoke ? 100 : 10000);
	j.under_way = (uint32_t)bench_option(&j.bench, "under-way", j.bench.smoke ? 16 : 1024);
	j.round_ns = (j.bench.smoke ? 50u : 2000u) * 1000000ull;
	make_directory(&j);
	char store[sizeof j.directory + 8];
	snprintf(store, sizeof store, "%s/store", j.directory);
	controller_open(&j.controller, &(struct controller_settings){.directory = store,
					       .nodes_max = nodes + NODE_BLOCK_SLOTS,
					       .allocations_max = ALLOCATIONS_MAX,
					       .sync = true});
	controller_register(&j.controller, 0, nodes);
	controller_register_job(&j.controller);

	struct bench_result result = {.nodes = nodes,
		.unit = "durable placements/s",
		.against = "write and fdatasync of 64 bytes on the same file system"};
	bench_interleave(&j.bench, placements_per_second, appends_per_second, &j, &result);
	bench_report(&j.bench, &result);
	controller_close(&j.controller);
	close(j.raw);
	bench_directory_end();
	return bench_end(&j.bench);
}
