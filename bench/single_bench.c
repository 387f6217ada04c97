// One service instance at a time in a large fleet: from the PUT of its job, over HTTP, until its allocation is durable.
// The reference is one write and fdatasync of as many bytes as a batch of the log has, so that the ratio says how many
// fdatasyncs a person waits for. Two are the least where the job is acknowledged before its evaluation begins.
#include "bench/harness/bench.h"
#include "bench/harness/census.h"
#include "bench/harness/directory.h"
#include "bench/harness/prewritten.h"
#include "bench/harness/service_fleet.h"
#include "state/base/check.h"
#include "state/store/journal.h"
#include "tools/api/api.h"
#include "tools/http_client/http_client.h"
#include <stdio.h>
#include <stdlib.h>

enum { JOBS_A_ROUND = 100, ROUNDS_MOST = BENCH_PAIRS_MAX, TIMEOUT_MS = 10000 };

struct single {
	struct bench bench;
	char directory[BENCH_PATH_BYTES];
	struct controller controller;
	struct service_fleet fleet;
	struct census census;
	struct api *api;
	struct http_client *client;
	char url[64];
	uint32_t jobs; // so far
	uint32_t batch_bytes;
	double waited_us[JOBS_A_ROUND], wrote_us[JOBS_A_ROUND];
};

static bool take_nothing(void *context, long status, const char *data, size_t size)
{
	return true;
}

static void put_job(struct single *s)
{
	char body[1024];
	int size = snprintf(body, sizeof body,
		"{\"Job\":{\"ID\":\"single-%u\",\"Type\":\"service\",\"Datacenters\":[\"*\"],"
		"\"TaskGroups\":[{"
		"\"Name\":\"g\",\"Count\":1,\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"raw_exec\","
		"\"Config\":{\"command\":\"/bin/"
		"true\"},\"Resources\":{\"CPU\":100,\"MemoryMB\":64}}]}]}}",
		s->jobs++);
	struct http_result result;
	CHECK(size > 0 && (size_t)size < sizeof body);
	struct http_request request = {.method = "PUT",
		.url = s->url,
		.body = body,
		.body_size = (size_t)size,
		.names_json = true,
		.timeout_ms = TIMEOUT_MS,
		.take_body = take_nothing};
	CHECK(http_client_ask(s->client, &request, &result) && result.status == 200);
}

// Microseconds from the PUT until the instance is durable.
static double place_one(struct single *s)
{
	uint64_t target = census_read(&s->census, &s->census.placed) + 1, began_ns = bench_ns();
	put_job(s);
	census_await(&s->census, &s->census.placed, target);
	return (double)(bench_ns() - began_ns) / 1e3;
}

static double write_one(const struct single *s)
{
	uint64_t began_ns = bench_ns();
	prewritten_sync(s->batch_bytes);
	return (double)(bench_ns() - began_ns) / 1e3;
}

// The evaluation's own last state is written after the instance is durable, and belongs to no later one.
static void await_rest(const struct single *s)
{
	const struct store_counters *counters = store_counters(s->controller.store);
	uint64_t appends;
	do {
		appends = atomic_load(&counters->appends);
		for (uint64_t end_ns = bench_ns() + 1000000; bench_ns() < end_ns;)
			continue;
	} while (atomic_load(&counters->appends) != appends);
}

static void run_round(struct single *s, uint32_t jobs)
{
	const struct store_counters *counters = store_counters(s->controller.store);
	for (uint32_t i = 0; i < jobs; i++) {
		uint64_t appends = atomic_load(&counters->appends),
			 bytes = atomic_load(&counters->append_bytes);
		s->waited_us[i] = place_one(s);
		await_rest(s);
		appends = atomic_load(&counters->appends) - appends;
		bytes = atomic_load(&counters->append_bytes) - bytes;
		s->batch_bytes = (uint32_t)journal_batch_bytes((uint32_t)(bytes / appends));
		s->wrote_us[i] = write_one(s);
	}
}

static void measure(struct single *s)
{
	double waited[ROUNDS_MOST], wrote[ROUNDS_MOST], ratios[ROUNDS_MOST];
	uint32_t rounds = s->bench.pairs, jobs = s->bench.smoke ? 3 : JOBS_A_ROUND;
	struct bench_result result = {.nodes = s->fleet.nodes,
		.unit = "us from PUT to durable, p50",
		.against = "write and fdatasync of a batch, written before"};
	run_round(s, jobs);
	for (uint32_t i = 0; i < rounds; i++) {
		run_round(s, jobs);
		waited[i] = bench_median(s->waited_us, jobs);
		wrote[i] = bench_median(s->wrote_us, jobs);
		ratios[i] = waited[i] / wrote[i];
	}
	result.figure = bench_median(waited, rounds);
	result.reference = bench_median(wrote, rounds);
	result.ratio = bench_median(ratios, rounds);
	result.ratio_least = ratios[0];
	result.ratio_most = ratios[rounds - 1];
	bench_report(&s->bench, &result);
}

static void open_api(struct single *s)
{
	char message[256];
	const struct api_settings settings = {.state = s->controller.state,
		.queue = s->controller.queue,
		.time = &time_source_real,
		.seed = 5};
	if (api_start(&settings, &s->api, message, sizeof message) != 0) {
		fprintf(stderr, "single: %s\n", message);
		exit(1);
	}
	snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/v1/jobs", (unsigned)api_port(s->api));
	s->client = http_client_create();
	CHECK(s->client);
}

// --nodes N: of the fleet.
int main(int count, char **arguments)
{
	static struct single s;
	char store[BENCH_PATH_BYTES + 8];

	bench_begin(&s.bench, "single", count, arguments);
	uint32_t nodes = (uint32_t)bench_option(&s.bench, "nodes", s.bench.smoke ? 100 : 100000);
	bench_directory_begin(&s.bench, s.directory);
	prewritten_open(&s.bench, s.directory);
	snprintf(store, sizeof store, "%s/store", s.directory);
	census_init(&s.census, false);
	controller_open(&s.controller, &(struct controller_settings){.directory = store,
					       .nodes_max = nodes + NODE_BLOCK_SLOTS,
					       .allocations_max = 1u << 16,
					       .jobs_max = 1u << 14,
					       .schedulers = 1,
					       .sync = true,
					       .watch = true,
					       .observer = &s.census.observer});
	service_fleet_open(&s.fleet, &s.controller, nodes);
	open_api(&s);
	measure(&s);
	http_client_destroy(s.client);
	api_stop(s.api);
	service_fleet_close(&s.fleet);
	controller_close(&s.controller);
	census_free(&s.census);
	prewritten_close();
	bench_directory_end();
	return bench_end(&s.bench);
}
