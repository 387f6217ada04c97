// Puts values of one size into etcd, so many transactions at a time, for so long: what the cluster benchmark compares
// with. Each is one transaction with one compare, as a batch of Berth's log is.
//
// Prints a JSON object: transactions and bytes a second, and how long one took, in microseconds by percentile.
#include "bench/harness/bench.h"
#include "state/base/memory.h"
#include "state/etcd/etcd.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TOGETHER_MAX 64u
#define WAITS_MAX (1u << 20)
#define TIMEOUT_MS 10000u

struct putting {
	struct etcd *etcd;
	uint8_t *value;
	uint32_t bytes, pause_ms;
	uint64_t end_ns;
	_Atomic uint32_t count;
	double *waits_us;
};

static _Noreturn void give_up(const char *what, const char *why)
{
	fprintf(stderr, "etcd_put: %s: %s\n", what, why);
	exit(1);
}

static void put_once(struct putting *p, const char *key)
{
	// The key of a leader that is not there: a compare like that of a batch.
	struct etcd_compare compare = {.key = "/bench/leader", .is_creation = true};
	struct etcd_put put = {.key = key, .value = p->value, .size = p->bytes};
	struct etcd_txn txn = {
		.compares = &compare, .compare_count = 1, .puts = &put, .put_count = 1};
	struct etcd_txn_result result;
	uint64_t began = bench_ns();
	int error = etcd_txn(p->etcd, &txn, TIMEOUT_MS, &result);
	if (error != 0 || !result.succeeded) {
		char text[ETCD_MESSAGE_BYTES];
		etcd_trouble(p->etcd, text, sizeof text);
		give_up("a transaction was not done", text);
	}
	uint32_t at = atomic_fetch_add(&p->count, 1);
	if (at < WAITS_MAX)
		p->waits_us[at] = (double)(bench_ns() - began) / 1000;
}

static void rest(const struct putting *p)
{
	struct timespec pause = {.tv_nsec = (long)p->pause_ms * 1000000};
	if (p->pause_ms > 0)
		nanosleep(&pause, NULL);
}

static void *put_main(void *argument)
{
	struct putting *p = argument;
	char key[64];
	snprintf(key, sizeof key, "/bench/%p", (void *)&key);
	while (bench_ns() < p->end_ns) {
		put_once(p, key);
		rest(p);
	}
	return NULL;
}

static void put_all(struct putting *p, uint32_t together)
{
	pthread_t threads[TOGETHER_MAX];
	for (uint32_t i = 0; i < together; i++)
		if (pthread_create(&threads[i], NULL, put_main, p) != 0)
			give_up("threads", "cannot be started");
	for (uint32_t i = 0; i < together; i++)
		pthread_join(threads[i], NULL);
}

static void open_etcd(struct putting *p, const char *endpoints)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd_settings settings = {.endpoints = endpoints, .timeout_ms = TIMEOUT_MS};
	if (etcd_open(&settings, &p->etcd, message, sizeof message) != 0)
		give_up("--endpoints", message);
}

int main(int count, char **arguments)
{
	static struct putting p;
	struct bench bench;
	bench_begin(&bench, "etcd_put", count, arguments);
	uint32_t together = (uint32_t)bench_option(&bench, "together", 1);
	p.bytes = (uint32_t)bench_option(&bench, "bytes", 400);
	p.pause_ms = (uint32_t)bench_option(&bench, "pause-ms", 0);
	if (together == 0 || together > TOGETHER_MAX || p.bytes > ETCD_TXN_BYTES_MAX)
		give_up("options", "--together is 1 to 64, --bytes at most 900 KiB");
	open_etcd(&p, bench_option_text(&bench, "endpoints", "http://127.0.0.1:2379"));
	p.value = memory_take(p.bytes);
	for (uint32_t i = 0; i < p.bytes; i++)
		p.value[i] = (uint8_t)(i * 2654435761u >> 24);
	p.waits_us = memory_take_array(WAITS_MAX, sizeof *p.waits_us);
	put_once(&p, "/bench/warm");
	atomic_store(&p.count, 0);
	uint64_t began = bench_ns();
	p.end_ns = began + bench_option(&bench, "ms", 2000) * 1000000;
	put_all(&p, together);
	double seconds = (double)(bench_ns() - began) / 1e9;
	uint32_t done = atomic_load(&p.count) < WAITS_MAX ? atomic_load(&p.count) : WAITS_MAX;
	double p50 = bench_median(p.waits_us, done); // sorts them
	printf("{\"per_s\": %.1f, \"bytes_per_s\": %.0f, \"p50_us\": %.0f, \"p99_us\": %.0f}\n",
		done / seconds, (double)done * p.bytes / seconds, p50,
		p.waits_us[(uint32_t)(0.99 * done)]);
	etcd_close(p.etcd);
	free(p.waits_us);
	free(p.value);
	return 0;
}
