// How long a controller needs to have everything back: the time from opening its directory until it is ready for
// commands, against reading the same files once from end to end. A start gives up the pages of the store that the
// kernel keeps and reads the disk, so what the disk takes is in its time; the reading behind it finds the files in
// the page cache.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/directory.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)1 << 20)

struct restart_bench {
	struct bench bench;
	char directory[BENCH_PATH_BYTES];
	uint32_t nodes, allocations;
};

static struct controller_settings settings_of(const struct restart_bench *r)
{
	return (struct controller_settings){.directory = r->directory,
		.nodes_max = r->nodes + NODE_BLOCK_SLOTS,
		.allocations_max = r->allocations + 1024};
}

static bool until_enough(void *context, uint64_t asked)
{
	return asked < ((struct restart_bench *)context)->allocations;
}

// Runs work in a process and heap of its own; returns the number that it found.
static double run_apart(struct restart_bench *r, double (*work)(struct restart_bench *))
{
	int ends[2];
	double number = 0;
	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		number = work(r);
		_exit(write(ends[1], &number, sizeof number) != sizeof number);
	}
	close(ends[1]);
	bool complete = read(ends[0], &number, sizeof number) == sizeof number;
	close(ends[0]);
	int status;
	CHECK(waitpid(child, &status, 0) == child);
	if (!complete || status != 0) {
		fprintf(stderr, "restart: a part of the measurement failed\n");
		exit(1);
	}
	return number;
}

static double fill(struct restart_bench *r)
{
	struct controller c;
	const struct controller_settings settings = settings_of(r);
	controller_open(&c, &settings);
	controller_register(&c, 0, r->nodes);
	controller_register_job(&c);
	double placed = (double)controller_place(&c, 1024, until_enough, r);
	controller_close(&c);
	return placed;
}

static double snapshot(struct restart_bench *r)
{
	struct controller c;
	const struct controller_settings settings = settings_of(r);
	controller_open(&c, &settings);
	int error = store_snapshot(c.store, c.state);
	if (error) {
		fprintf(stderr, "restart: no snapshot: %s\n", error_text(error));
		exit(1);
	}
	controller_close(&c);
	return 0;
}

static double recover(struct restart_bench *r)
{
	struct controller c;
	struct state_counts counts;
	const struct controller_settings settings = settings_of(r);
	controller_open(&c, &settings);
	state_counts(c.state, &counts);
	CHECK(counts.nodes[NODE_READY] == r->nodes && counts.allocations == r->allocations);
	double seconds = c.open_seconds;
	controller_close(&c);
	return seconds;
}

static uint64_t read_bytes;

static int read_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
	if (kind != FTW_F)
		return 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0);
	void *chunk = memory_take(CHUNK_BYTES);
	ssize_t got;
	while ((got = read(file, chunk, CHUNK_BYTES)) > 0)
		read_bytes += (uint64_t)got;
	CHECK(got == 0);
	free(chunk);
	close(file);
	return 0;
}

static double recovery_seconds(void *context)
{
	struct restart_bench *r = context;
	return run_apart(r, recover);
}

static double reading_seconds(void *context)
{
	const struct restart_bench *r = context;
	uint64_t begin = bench_ns();
	read_bytes = 0;
	CHECK(nftw(r->directory, read_one, 8, FTW_PHYS) == 0);
	return (double)(bench_ns() - begin) / 1e9;
}

static void report(struct restart_bench *r, const char *name)
{
	struct bench_result result = {
		.name = name, .nodes = r->nodes, .unit = "s", .against = "reading the same files"};
	bench_interleave(&r->bench, recovery_seconds, reading_seconds, r, &result);
	bench_report(&r->bench, &result);
	printf("    %u allocations, %.1f MiB on disk\n", r->allocations,
		(double)read_bytes / (1 << 20));
}

int main(int count, char **arguments)
{
	static struct restart_bench r;
	bench_begin(&r.bench, "restart", count, arguments);
	r.nodes = (uint32_t)bench_option(&r.bench, "nodes", r.bench.smoke ? 200 : 100000);
	r.allocations =
		(uint32_t)bench_option(&r.bench, "allocations", r.bench.smoke ? 1000 : 1000000);
	bench_directory_begin(&r.bench, r.directory);
	run_apart(&r, fill);
	report(&r, "restart.log");
	run_apart(&r, snapshot);
	report(&r, "restart.snapshot");
	bench_directory_end();
	return bench_end(&r.bench);
}
