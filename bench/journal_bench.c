// Placements per second through the real applier and the real store, each acknowledged only when it
// is on disk, against the appends of 64 bytes with fdatasync that the same file system does in a
// second. Then one placement at a time: how long until it is durable, against writing the same bytes
// into a file that was written before, and fdatasync.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/directory.h"
#include "bench/harness/prewritten.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/store/journal.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WAITS_MOST = 1 << 19, SLICES = 20 };

// What was waited for one placement, or one write, in one round.
struct waits {
	uint32_t count;
	double us[WAITS_MOST];
};

struct journal_bench {
	struct bench bench;
	struct controller controller;
	char directory[BENCH_PATH_BYTES];
	int raw;
	uint64_t round_ns; // of one measurement
	uint64_t end_ns;
	uint32_t under_way;
	uint32_t record_bytes; // that the log wrote of one placement

	struct waits *waits; // that are measured now
	uint64_t since_ns;
	double per_sync[BENCH_PAIRS_MAX + 1]; // placements, by round
	uint32_t round_count;
};

static bool until_end(void *context, uint64_t asked)
{
	return bench_ns() < ((struct journal_bench *)context)->end_ns;
}

static double placements_per_second(void *context)
{
	struct journal_bench *j = context;
	const struct store_counters *counters = store_counters(j->controller.store);
	uint64_t begin = bench_ns(), appends = atomic_load(&counters->appends);
	j->end_ns = begin + j->round_ns;
	uint64_t placed = controller_place(&j->controller, j->under_way, until_end, j);
	appends = atomic_load(&counters->appends) - appends;
	j->per_sync[j->round_count++] = (double)placed / (double)appends;
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

static void note_wait(struct journal_bench *j)
{
	uint64_t now = bench_ns();
	if (j->waits->count < WAITS_MOST)
		j->waits->us[j->waits->count++] = (double)(now - j->since_ns) / 1e3;
	j->since_ns = now;
}

// Called before each request; the one before was sent just after the call before.
static bool until_end_noting(void *context, uint64_t asked)
{
	struct journal_bench *j = context;
	if (asked > 1)
		note_wait(j);
	j->since_ns = bench_ns();
	return j->since_ns < j->end_ns;
}

static void place_one_by_one(struct journal_bench *j)
{
	const struct store_counters *counters = store_counters(j->controller.store);
	uint64_t appends = atomic_load(&counters->appends);
	uint64_t bytes = atomic_load(&counters->append_bytes);
	j->end_ns = bench_ns() + j->round_ns / SLICES;
	(void)controller_place(&j->controller, 1, until_end_noting, j);
	appends = atomic_load(&counters->appends) - appends;
	bytes = atomic_load(&counters->append_bytes) - bytes;
	j->record_bytes = (uint32_t)journal_batch_bytes((uint32_t)(bytes / appends));
}

static void write_one_by_one(struct journal_bench *j)
{
	uint64_t end_ns = bench_ns() + j->round_ns / SLICES;
	for (j->since_ns = bench_ns(); j->since_ns < end_ns;) {
		prewritten_sync(j->record_bytes);
		note_wait(j);
	}
}

struct quantile {
	const char *name;
	double share;
};

static const struct quantile quantiles[] = {
	{"journal p50", 0.5}, {"journal p99", 0.99}, {"journal p99.9", 0.999}};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static void note_quantiles(
	struct waits *waits, double values[QUANTILES][BENCH_PAIRS_MAX], uint32_t pair)
{
	(void)bench_median(waits->us, waits->count); // sorts them
	for (uint32_t q = 0; q < QUANTILES; q++)
		values[q][pair] = waits->us[(uint32_t)(quantiles[q].share * waits->count)];
}

static void report_quantile(struct journal_bench *j, const struct quantile *quantile,
	double placements[], double writes[])
{
	double ratios[BENCH_PAIRS_MAX];
	uint32_t pairs = j->bench.pairs;
	for (uint32_t i = 0; i < pairs; i++)
		ratios[i] = placements[i] / writes[i];
	struct bench_result result = {.name = quantile->name,
		.unit = "us until one placement is durable",
		.against = "write and fdatasync of the same bytes, written before",
		.figure = bench_median(placements, pairs),
		.reference = bench_median(writes, pairs),
		.ratio = bench_median(ratios, pairs)};
	result.ratio_least = ratios[0];
	result.ratio_most = ratios[pairs - 1];
	bench_report(&j->bench, &result);
}

// In slices, so that what else the disk does falls on both.
static void measure_waits(struct journal_bench *j)
{
	static double placements[QUANTILES][BENCH_PAIRS_MAX], writes[QUANTILES][BENCH_PAIRS_MAX];
	struct waits *placing = memory_take(sizeof *placing),
		     *writing = memory_take(sizeof *writing);
	for (uint32_t i = 0; i < j->bench.pairs; i++) {
		placing->count = writing->count = 0;
		for (int slice = 0; slice < SLICES; slice++) {
			j->waits = placing;
			place_one_by_one(j);
			j->waits = writing;
			write_one_by_one(j);
		}
		note_quantiles(placing, placements, i);
		note_quantiles(writing, writes, i);
	}
	for (uint32_t q = 0; q < QUANTILES; q++)
		report_quantile(j, &quantiles[q], placements[q], writes[q]);
	free(placing);
	free(writing);
}

static void report_per_sync(struct journal_bench *j)
{
	struct bench_result result = {.name = "journal per sync",
		.figure = bench_median(j->per_sync, j->round_count),
		.unit = "durable placements per fdatasync"};
	bench_report(&j->bench, &result);
}

static void make_directory(struct journal_bench *j)
{
	bench_directory_begin(&j->bench, j->directory);
	char path[sizeof j->directory + 8];
	snprintf(path, sizeof path, "%s/raw", j->directory);
	j->raw = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	CHECK(j->raw >= 0);
	prewritten_open(&j->bench, j->directory);
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
	report_per_sync(&j);
	measure_waits(&j);
	controller_close(&j.controller);
	close(j.raw);
	prewritten_close();
	bench_directory_end();
	return bench_end(&j.bench);
}
