// One sweep of the last-heard column by the real liveness_sweep(), without silent nodes, against a plain read of the
// same column (a sum).
#include "bench/harness/bench.h"
#include "dataplane/hot/liveness.h"
#include "state/base/check.h"

#define TTL_MS 5000u
#define NOW_MS 1000000u

struct run {
	struct hot_worker worker;
	struct hot_counters counters;
	uint32_t nodes, rounds;
};

static bool nobody(void *context, uint32_t slot, uint32_t generation)
{
	CHECK(!"a node that was just heard must not expire");
	return false;
}

static double sweep_ns(void *context)
{
	struct run *r = context;
	uint64_t begin = bench_ns();
	for (uint32_t i = 0; i < r->rounds; i++) {
		uint32_t cursor = 0;
		CHECK(liveness_sweep(&r->worker, &cursor, r->nodes) >= r->nodes);
	}
	return (double)(bench_ns() - begin) / ((double)r->rounds * r->nodes);
}

static double read_ns(void *context)
{
	struct run *r = context;
	const uint32_t *column = (const uint32_t *)r->worker.table->last_heard_ms;
	uint64_t begin = bench_ns();
	for (uint32_t i = 0; i < r->rounds; i++) {
		uint32_t sum = 0;
		for (uint32_t slot = 0; slot < r->nodes; slot++)
			sum += column[slot];
		bench_keep(sum);
	}
	return (double)(bench_ns() - begin) / ((double)r->rounds * r->nodes);
}

static void measure(struct bench *bench, uint32_t nodes)
{
	struct run r = {.nodes = nodes, .rounds = bench->smoke ? 1 : 100000000 / nodes};
	struct node_table *table = node_table_create(nodes);
	CHECK(table);
	r.worker = (struct hot_worker){.table = table,
		.counters = &r.counters,
		.up = {.expired = nobody, .returned = nobody},
		.ttl_ms = TTL_MS,
		.now_ms = NOW_MS};
	for (uint32_t block = 0; block < nodes / NODE_BLOCK_SLOTS; block++)
		table->block_owner[block] = r.worker.number;
	table->slots_used = nodes;
	for (uint32_t slot = 0; slot < nodes; slot++)
		liveness_arm(table, slot, NOW_MS - slot % TTL_MS);
	struct bench_result result = {.name = "sweep",
		.nodes = nodes,
		.unit = "ns/node",
		.against = "a plain read of the column"};
	bench_interleave(bench, sweep_ns, read_ns, &r, &result);
	bench_report(bench, &result);
	node_table_destroy(table);
}

int main(int count, char **arguments)
{
	struct bench bench;
	bench_begin(&bench, "sweep", count, arguments);
	bench_pin();
	// Whole blocks, as they are handed out.
	static const uint32_t blocks[] = {2, 25, 250, 2500};
	for (uint32_t i = 0; i < (bench.smoke ? 1u : 4u); i++)
		measure(&bench, blocks[i] * NODE_BLOCK_SLOTS);
	return bench_end(&bench);
}
