// What a node costs in memory: the part that a heartbeat touches, everything that is kept of the node, and what the
// process really takes, against the bytes of the description that the node sent (45 attributes). Each size runs in a
// process of its own, so that none inherits the other's heap.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "state/base/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct cost { // bytes per node
	double hot, kept, resident;
};

static uint64_t resident_bytes(void)
{
	unsigned long long whole, resident;
	FILE *file = fopen("/proc/self/statm", "r");
	CHECK(file && fscanf(file, "%llu %llu", &whole, &resident) == 2);
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

// A node's line, its place in the last-heard column and its share of the block's owner.
static double hot_bytes(uint32_t nodes)
{
	double blocks = (nodes + NODE_BLOCK_SLOTS - 1) / NODE_BLOCK_SLOTS;
	const struct node_table *t = NULL;
	return (double)(sizeof t->lines[0] + sizeof t->last_heard_ms[0]) +
	       blocks * (double)sizeof t->block_owner[0] / nodes;
}

// Touches the lines, as when every node beats.
static void touch_lines(const struct controller *c)
{
	struct node_table *t = state_node_table(c->state);
	for (uint32_t slot = 0; slot < state_node_slots(c->state); slot++) {
		node_table_line(t, slot)->sequence = 1;
		atomic_store_explicit(&t->last_heard_ms[slot], 1, memory_order_relaxed);
	}
}

static struct cost measure(uint32_t nodes)
{
	struct controller c;
	uint64_t before = resident_bytes();
	controller_open(&c, &(struct controller_settings){.nodes_max = nodes + NODE_BLOCK_SLOTS,
				    .allocations_max = 1024});
	controller_register(&c, 0, nodes);
	touch_lines(&c);
	struct state_counts counts;
	state_counts(c.state, &counts);
	CHECK(counts.nodes[NODE_READY] == nodes);
	double hot = hot_bytes(nodes);
	struct cost cost = {.hot = hot,
		.kept = hot + (double)counts.bytes_nodes / nodes,
		.resident = (double)(resident_bytes() - before) / nodes};
	controller_close(&c);
	return cost;
}

static struct cost measure_apart(uint32_t nodes)
{
	int ends[2];
	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	CHECK(child >= 0);
	struct cost cost;
	if (child == 0) {
		cost = measure(nodes);
		_exit(write(ends[1], &cost, sizeof cost) != sizeof cost);
	}
	close(ends[1]);
	bool complete = read(ends[0], &cost, sizeof cost) == sizeof cost;
	close(ends[0]);
	int status;
	CHECK(waitpid(child, &status, 0) == child);
	if (!complete || status != 0) {
		fprintf(stderr, "memory: measuring %u nodes failed\n", nodes);
		exit(1);
	}
	return cost;
}

static double description_bytes(uint32_t nodes)
{
	uint32_t samples = nodes < 1000 ? nodes : 1000;
	double sum = 0;
	for (uint32_t i = 0; i < samples; i++)
		sum += fleet_description_bytes((uint32_t)((uint64_t)i * nodes / samples));
	return sum / samples;
}

static void report(struct bench *bench, uint32_t nodes)
{
	struct cost cost = measure_apart(nodes);
	double sent = description_bytes(nodes);
	const struct {
		const char *name;
		double bytes;
	} rows[] = {{"memory.hot", cost.hot}, {"memory.kept", cost.kept},
		{"memory.resident", cost.resident}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		bench_report(bench, &(struct bench_result){.name = rows[i].name,
					    .nodes = nodes,
					    .figure = rows[i].bytes,
					    .unit = "bytes/node",
					    .reference = sent,
					    .against = "the description as the node sent it"});
}

int main(int count, char **arguments)
{
	static struct bench bench;
	static const uint32_t sizes[] = {10000, 100000, 1000000};
	bench_begin(&bench, "memory", count, arguments);
	uint32_t only = (uint32_t)bench_option(&bench, "nodes", bench.smoke ? 5000 : 0);
	if (only)
		report(&bench, only);
	for (size_t i = 0; !only && i < sizeof sizes / sizeof sizes[0]; i++)
		report(&bench, sizes[i]);
	return bench_end(&bench);
}
