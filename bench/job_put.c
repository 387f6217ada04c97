// Registers many jobs over HTTP with several clients at once: the people of the million, preempt and c2m benchmarks.
// A template is the body of each PUT; every "@ID@" in it stands for the job's id. The clients share one count, so that
// all of them work until the last job is put. They speak to their sockets themselves, so that the clients leave the
// machine to the controller: with a library each request took them 40 us of processor time.
//
// Prints "begun SECONDS" (CLOCK_MONOTONIC) before the first PUT, then a JSON object when the last one is answered.
#include "bench/harness/bench.h"
#include "state/base/memory.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_MAX_HERE 64u
#define TEMPLATE_BYTES_MAX 65536u
#define TIMEOUT_S 60
#define ANSWER_BYTES_MAX 16384u
#define MARK "@ID@"
#define COMPLAINT_BYTES 512u

struct putting {
	uint16_t port;
	const char *prefix, *template;
	uint64_t first, count, stop_ns;
	_Atomic uint64_t next, failed;
	uint32_t *latencies_us;
	pthread_barrier_t all_ready;
	pthread_mutex_t complaint_lock;
	char complaint[COMPLAINT_BYTES]; // of the first that failed
};

static _Noreturn void give_up(const char *what, const char *why)
{
	fprintf(stderr, "job_put: %s: %s\n", what, why);
	exit(1);
}

static char *read_template(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? memory_take(TEMPLATE_BYTES_MAX) : NULL;
	size_t size = file ? fread(text, 1, TEMPLATE_BYTES_MAX - 1, file) : 0;
	if (size == 0 || size == TEMPLATE_BYTES_MAX - 1 || fclose(file) != 0)
		give_up("--template", "a file of 1 to 65534 bytes that can be read");
	text[size] = '\0';
	return text;
}

// Writes the template with the id in it; returns its size. Body has room for the template and as many ids as fit.
static size_t fill_template(const char *template, const char *id, char *body, size_t room)
{
	size_t at = 0;
	for (const char *from = template, *mark; from; from = mark ? mark + strlen(MARK) : NULL) {
		mark = strstr(from, MARK);
		int size = mark ? (int)(mark - from) : (int)strlen(from);
		at += (size_t)snprintf(body + at, room - at, "%.*s%s", size, from, mark ? id : "");
		if (at >= room)
			give_up("--template", "too many ids in it");
	}
	return at;
}

// One client's connection, which is kept.
struct connection {
	int fd;
	char answer[ANSWER_BYTES_MAX]; // the newest, NUL-terminated
};

static int connect_to(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct timeval patience = {.tv_sec = TIMEOUT_S};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
		connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		give_up("--port", "nobody answers there");
	return fd;
}

static bool send_request(const struct connection *c, const char *body, size_t size)
{
	char head[160];
	int head_size = snprintf(head, sizeof head,
		"PUT /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n\r\n",
		size);
	struct iovec pieces[] = {{head, (size_t)head_size}, {(void *)(uintptr_t)body, size}};
	// A body of 64 KiB fits what a socket of loopback takes at once.
	return writev(c->fd, pieces, 2) == (ssize_t)((size_t)head_size + size);
}

// Returns the size of head and body once the head is there; 0: it is not.
static size_t answer_size(const char *answer)
{
	static const char length[] = "\r\nContent-Length: ";
	const char *end = strstr(answer, "\r\n\r\n"), *at = strcasestr(answer, length);
	if (!end)
		return 0;
	size_t body = at && at < end ? strtoul(at + sizeof length - 1, NULL, 10) : 0;
	return (size_t)(end + 4 - answer) + body;
}

// Returns the status; 0: no whole answer came.
static long take_answer(struct connection *c)
{
	size_t size = 0, whole;
	do {
		ssize_t n = recv(c->fd, c->answer + size, sizeof c->answer - 1 - size, 0);
		if (n <= 0)
			return 0;
		size += (size_t)n;
		c->answer[size] = '\0';
		whole = answer_size(c->answer);
		if (whole >= sizeof c->answer)
			return 0;
	} while (whole == 0 || size < whole);
	return strncmp(c->answer, "HTTP/1.1 ", 9) == 0 ? strtol(c->answer + 9, NULL, 10) : 0;
}

static void note_failure(struct putting *p, const char *id, long status, const char *why)
{
	pthread_mutex_lock(&p->complaint_lock);
	if (atomic_fetch_add(&p->failed, 1) == 0)
		snprintf(p->complaint, sizeof p->complaint, "%s: %ld %.256s", id, status, why);
	pthread_mutex_unlock(&p->complaint_lock);
}

static void put_job(struct putting *p, struct connection *c, char *body, uint64_t number)
{
	char id[128];
	snprintf(id, sizeof id, "%s%lu", p->prefix, (unsigned long)(p->first + number));
	size_t size = fill_template(p->template, id, body, 2 * TEMPLATE_BYTES_MAX);
	uint64_t began_ns = bench_ns();
	long status = send_request(c, body, size) ? take_answer(c) : 0;
	p->latencies_us[number] = (uint32_t)((bench_ns() - began_ns) / 1000);
	if (status != 200)
		note_failure(p, id, status, status ? c->answer : "no answer");
	if (status == 0) { // what comes later on this connection would answer another request
		close(c->fd);
		c->fd = connect_to(p->port);
	}
}

static void *put_jobs(void *context)
{
	struct putting *p = context;
	struct connection c = {.fd = connect_to(p->port)};
	char *body = memory_take(2 * TEMPLATE_BYTES_MAX);
	pthread_barrier_wait(&p->all_ready);
	pthread_barrier_wait(&p->all_ready);
	for (;;) {
		uint64_t number = atomic_fetch_add(&p->next, 1);
		if (number >= p->count || (p->stop_ns && bench_ns() > p->stop_ns))
			break;
		put_job(p, &c, body, number);
	}
	free(body);
	close(c.fd);
	return NULL;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void run_clients(struct putting *p, uint32_t clients)
{
	pthread_t threads[CLIENTS_MAX_HERE];
	pthread_barrier_init(&p->all_ready, NULL, clients + 1);
	for (uint32_t i = 0; i < clients; i++)
		if (pthread_create(&threads[i], NULL, put_jobs, p) != 0)
			give_up("a client", "no thread");
	pthread_barrier_wait(&p->all_ready);
	uint64_t began_ns = bench_ns();
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("begun %.6f\n", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
	fflush(stdout);
	pthread_barrier_wait(&p->all_ready);
	for (uint32_t i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&p->all_ready);
	uint64_t put = p->next < p->count ? p->next : p->count;
	double seconds = (double)(bench_ns() - began_ns) / 1e9;
	qsort(p->latencies_us, put, sizeof *p->latencies_us, compare_u32);
	printf("{\"seconds\": %.6f, \"put\": %lu, \"failed\": %lu, \"p50_us\": %u, \"p99_us\": "
	       "%u}\n",
		seconds, (unsigned long)put, (unsigned long)p->failed,
		put ? p->latencies_us[put / 2] : 0, put ? p->latencies_us[put * 99 / 100] : 0);
	if (p->failed)
		fprintf(stderr, "job_put: %s\n", p->complaint);
}

int main(int argc, char **argv)
{
	static struct putting p;
	struct bench bench;
	bench_begin(&bench, "job_put", argc, argv);
	uint64_t clients = bench_option(&bench, "clients", 8);
	uint64_t seconds = bench_option(&bench, "seconds", 0);
	p = (struct putting){.prefix = bench_option_text(&bench, "prefix", "job-"),
		.template = read_template(bench_option_text(&bench, "template", "")),
		.first = bench_option(&bench, "first", 0),
		.count = bench_option(&bench, "count", 1),
		.port = (uint16_t)bench_option(&bench, "port", 4646),
		.stop_ns = seconds ? bench_ns() + seconds * 1000000000ull : 0,
		.complaint_lock = PTHREAD_MUTEX_INITIALIZER};
	if (clients == 0 || clients > CLIENTS_MAX_HERE || strlen(p.prefix) > 64)
		give_up("--clients, --prefix", "1 to 64 clients, a prefix of at most 64 bytes");
	p.latencies_us = memory_take_array(p.count + 1, sizeof *p.latencies_us);
	run_clients(&p, (uint32_t)clients);
	free(p.latencies_us);
	free((char *)p.template);
	return p.failed ? 1 : 0;
}
