// Lists over HTTP, of a controller in this process: pages in the middle, of a prefix and of a filter that finds, and
// whole lists. The reference is the least that any server would have to do: it sends as many bytes, which are ready,
// over a connection of the same kind to the same reader.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/id_order.h"
#include "tools/api/api.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ITEMS 10u
#define BUFFER_BYTES ((size_t)1 << 20)
#define SLOW_READERS 64u
// Requests of one measurement.
#define PAGES_EACH 20u

struct lists_bench {
	struct bench bench;
	struct controller controller;
	struct api *api;
	int connection, plain; // to the API, to the server of bytes
	char *buffer;
	char path[256];        // that is being asked for
	uint64_t answer_bytes; // of the last answer, headers and all
	uint32_t pages;        // of one measurement
	uint32_t nodes, allocations;
	clockid_t clock; // of whole lists
};

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
	CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
	return fd;
}

static void send_all(int fd, const void *data, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		ssize_t some = send(fd, (const char *)data + sent, size - sent, MSG_NOSIGNAL);
		CHECK(some > 0);
		sent += (size_t)some;
	}
}

static void ask(const struct lists_bench *l, int fd)
{
	char request[512];
	int size = snprintf(
		request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", l->path);
	send_all(fd, request, (size_t)size);
}

// Reads an answer to its last chunk. Returns its bytes.
static uint64_t read_answer(struct lists_bench *l)
{
	uint64_t bytes = 0;
	char end[8] = "";
	do {
		ssize_t got = recv(l->connection, l->buffer, BUFFER_BYTES, 0);
		CHECK(got > 0);
		CHECK(bytes > 0 || strncmp(l->buffer, "HTTP/1.1 200", 12) == 0);
		bytes += (uint64_t)got;
		size_t size = (size_t)got < 7 ? (size_t)got : 7;
		memmove(end, end + size, 7 - size);
		memcpy(end + 7 - size, l->buffer + got - size, size);
	} while (memcmp(end, "\r\n0\r\n\r\n", 7) != 0);
	return bytes;
}

// The server of bytes: sends as many as each request of eight bytes says.
static void *serve_bytes(void *listening)
{
	char *bytes = memory_take(BUFFER_BYTES);
	int fd = accept(*(int *)listening, NULL, NULL), on = 1;
	uint64_t wanted;
	CHECK(fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
	while (recv(fd, &wanted, sizeof wanted, MSG_WAITALL) == sizeof wanted)
		for (uint64_t some; wanted > 0; wanted -= some) {
			some = wanted < 32768 ? wanted : 32768;
			send_all(fd, bytes, some);
		}
	close(fd);
	free(bytes);
	return NULL;
}

static void start_plain(struct lists_bench *l)
{
	static int listening;
	pthread_t thread;
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(listening >= 0 && bind(listening, (struct sockaddr *)&address, size) == 0);
	CHECK(listen(listening, 1) == 0);
	CHECK(getsockname(listening, (struct sockaddr *)&address, &size) == 0);
	CHECK(pthread_create(&thread, NULL, serve_bytes, &listening) == 0);
	CHECK(pthread_detach(thread) == 0);
	l->plain = connect_to(ntohs(address.sin_port));
}

static void get(struct lists_bench *l)
{
	ask(l, l->connection);
	l->answer_bytes = read_answer(l);
}

static void get_plain(struct lists_bench *l)
{
	uint64_t left = l->answer_bytes;
	send_all(l->plain, &left, sizeof left);
	while (left) {
		ssize_t got = recv(l->plain, l->buffer, BUFFER_BYTES, 0);
		CHECK(got > 0 && (uint64_t)got <= left);
		left -= (uint64_t)got;
	}
}

static double page_ms(struct lists_bench *l, void (*one)(struct lists_bench *))
{
	uint64_t begin = bench_ns();
	for (uint32_t i = 0; i < l->pages; i++)
		one(l);
	return (double)(bench_ns() - begin) / 1e6 / l->pages;
}

static double pages(void *context)
{
	return page_ms(context, get);
}

static double plain_pages(void *context)
{
	return page_ms(context, get_plain);
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;
	CHECK(clock_gettime(clock, &now) == 0);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double megabytes(struct lists_bench *l, void (*one)(struct lists_bench *))
{
	double begin = seconds_of(l->clock);
	one(l);
	return (double)l->answer_bytes / 1e6 / (seconds_of(l->clock) - begin);
}

static double whole(void *context)
{
	return megabytes(context, get);
}

static double plain_whole(void *context)
{
	return megabytes(context, get_plain);
}

static void report_pages(struct lists_bench *l, const char *name, const char *path, uint32_t each)
{
	struct bench_result result = {.name = name,
		.nodes = l->nodes,
		.unit = "ms",
		.against = "as many bytes over a socket"};
	snprintf(l->path, sizeof l->path, "%s", path);
	l->pages = l->bench.smoke ? 1 : each;
	get(l);
	bench_interleave(&l->bench, pages, plain_pages, l, &result);
	bench_report(&l->bench, &result);
}

// The second figure is of the processor's time, that of the reader and of both ends of the socket included: it hardly
// depends on what else the machine does.
static void report_whole(
	struct lists_bench *l, const char *name, const char *busy_name, const char *path)
{
	struct bench_result result = {.name = name,
		.nodes = l->nodes,
		.unit = "MB/s",
		.against = "as many bytes over a socket"};
	snprintf(l->path, sizeof l->path, "%s", path);
	get(l);
	bench_interleave(&l->bench, whole, plain_whole, l, &result);
	bench_report(&l->bench, &result);
	printf("    %.1f MB\n", (double)l->answer_bytes / 1e6);
	result = (struct bench_result){.name = busy_name,
		.nodes = l->nodes,
		.unit = "MB per busy s",
		.against = result.against};
	l->clock = CLOCK_PROCESS_CPUTIME_ID;
	bench_interleave(&l->bench, whole, plain_whole, l, &result);
	l->clock = CLOCK_MONOTONIC;
	bench_report(&l->bench, &result);
}

static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages_all, pages_resident;
	CHECK(file && fscanf(file, "%lu %lu", &pages_all, &pages_resident) == 2);
	CHECK(fclose(file) == 0);
	return (double)pages_resident * (double)sysconf(_SC_PAGESIZE);
}

// What the server holds for readers that took the beginning of a list and wait.
static void report_slow_readers(struct lists_bench *l)
{
	int readers[SLOW_READERS];
	struct bench_result result = {.name = "lists.slow_reader",
		.nodes = l->nodes,
		.unit = "bytes/reader",
		.against = "the whole list"};
	double before = resident_bytes();
	snprintf(l->path, sizeof l->path, "/v1/nodes");
	for (uint32_t i = 0; i < SLOW_READERS; i++) {
		readers[i] = connect_to(api_port(l->api));
		ask(l, readers[i]);
		CHECK(recv(readers[i], l->buffer, 4096, MSG_WAITALL) == 4096);
	}
	double after = resident_bytes();
	for (uint32_t i = 0; i < SLOW_READERS; i++)
		close(readers[i]);
	result.figure = after > before ? (after - before) / SLOW_READERS : 1;
	result.reference = (double)l->answer_bytes;
	bench_report(&l->bench, &result);
}

static void report_order(struct lists_bench *l)
{
	struct bench_result result = {.name = "lists.order",
		.nodes = l->nodes,
		.unit = "bytes/record",
		.reference = 16,
		.against = "the ids alone"};
	result.figure = (double)(state_ids_bytes(l->controller.state, STATE_NODES) +
				 state_ids_bytes(l->controller.state, STATE_ALLOCATIONS)) /
			(l->nodes + l->allocations);
	bench_report(&l->bench, &result);
}

// The first list by id after a start has to look at all records.
static void report_first(struct lists_bench *l, const char *name, const char *path)
{
	snprintf(l->path, sizeof l->path, "%s", path);
	struct bench_result result = {.name = name, .nodes = l->nodes, .unit = "ms"};
	uint64_t begin = bench_ns();
	get(l);
	result.figure = (double)(bench_ns() - begin) / 1e6;
	bench_report(&l->bench, &result);
}

static bool until_enough(void *context, uint64_t asked)
{
	return asked < ((struct lists_bench *)context)->allocations;
}

static void fill(struct lists_bench *l)
{
	struct controller *c = &l->controller;
	char message[256];
	controller_open(c, &(struct controller_settings){.nodes_max = l->nodes + NODE_BLOCK_SLOTS,
				   .allocations_max = l->allocations + 1024});
	controller_register(c, 0, l->nodes);
	controller_register_job(c);
	CHECK(controller_place(c, 1024, until_enough, l) == l->allocations);
	const struct api_settings settings = {
		.state = c->state, .queue = c->queue, .time = &time_source_real, .seed = 5};
	if (api_start(&settings, &l->api, message, sizeof message) != 0) {
		fprintf(stderr, "lists: %s\n", message);
		exit(1);
	}
	l->connection = connect_to(api_port(l->api));
	l->buffer = memory_take(BUFFER_BYTES);
	start_plain(l);
}

// The cursor of the allocation in the middle: allocations are numbered as they were placed.
static void middle_of_allocations(
	const struct lists_bench *l, char path[static 256], const char *more)
{
	snprintf(path, 256, "/v1/allocations?per_page=10&next_token=%llu%s",
		(unsigned long long)state_index(l->controller.state) - l->allocations / 2, more);
}

static void report_all(struct lists_bench *l)
{
	static const char middle[] = "next_token=80000000-0000-4000-8000-000000000000";
	char path[256];
	report_first(l, "lists.nodes.first", "/v1/nodes?per_page=10");
	report_first(l, "lists.allocations.first", "/v1/allocations?per_page=10&prefix=8000");
	snprintf(path, sizeof path, "/v1/nodes?per_page=10&%s", middle);
	report_pages(l, "lists.nodes.page", path, PAGES_EACH);
	snprintf(path, sizeof path, "/v1/nodes?per_page=10&reverse=true&%s", middle);
	report_pages(l, "lists.nodes.reverse", path, PAGES_EACH);
	report_pages(l, "lists.nodes.prefix", "/v1/nodes?per_page=10&prefix=80", PAGES_EACH);
	report_pages(l, "lists.nodes.filter",
		"/v1/nodes?per_page=10&filter=Name%20contains%20%2277%22", PAGES_EACH);
	middle_of_allocations(l, path, "");
	report_pages(l, "lists.allocations.page", path, PAGES_EACH);
	middle_of_allocations(l, path, "&reverse=true");
	report_pages(l, "lists.allocations.reverse", path, PAGES_EACH);
	report_pages(l, "lists.allocations.prefix", "/v1/allocations?per_page=10&prefix=800",
		PAGES_EACH);
	report_pages(l, "lists.allocations.filter",
		"/v1/allocations?per_page=10&filter=ID%20contains%20%22777%22", PAGES_EACH);
	report_pages(l, "lists.job.page", "/v1/job/bench/allocations?per_page=10", PAGES_EACH);
	report_whole(l, "lists.allocations.whole", "lists.allocations.busy", "/v1/allocations");
	report_whole(l, "lists.nodes.whole", "lists.nodes.busy", "/v1/nodes");
	report_slow_readers(l);
	report_order(l);
}

int main(int count, char **arguments)
{
	static struct lists_bench l;
	bench_begin(&l.bench, "lists", count, arguments);
	l.clock = CLOCK_MONOTONIC;
	l.nodes = (uint32_t)bench_option(&l.bench, "nodes", l.bench.smoke ? 300 : 1000000);
	l.allocations =
		(uint32_t)bench_option(&l.bench, "allocations", l.bench.smoke ? 500 : 1000000);
	fill(&l);
	report_all(&l);
	close(l.connection);
	close(l.plain);
	api_stop(l.api);
	controller_close(&l.controller);
	free(l.buffer);
	return bench_end(&l.bench);
}
