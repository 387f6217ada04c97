// Requests over HTTPS against the same without TLS: on a connection that is kept, and each on a new one. The client
// (libcurl) is in both figures, and of TLS it has its own share of the work. In processor time of both.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "state/base/check.h"
#include "tools/api/api.h"
#include "tools/http_client/http_client.h"
#include "tools/tls/certificate.h"
#include "tools/tls/pem_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DAY_S 86400

struct side {
	struct api *api;
	struct http_client *client;
	char url[64];
};

struct tls_bench {
	struct bench bench;
	struct controller controller;
	char folder[32], authority[64], certificate[64], key[64];
	struct http_tls trust;
	struct side plain, secure;
	uint32_t requests, connections;
};

static void write_file(
	char path[static 64], const struct tls_bench *b, const char *name, const char *text)
{
	snprintf(path, 64, "%s/%s", b->folder, name);
	CHECK(pem_file_write(path, 0600, text) == 0);
}

static void make_certificates(struct tls_bench *b)
{
	const char *const host = "127.0.0.1";
	int64_t now_s = (int64_t)(time_wall_ns(&time_source_real) / 1000000000);
	struct certificate_wish wish = {
		.name = "bench", .from_s = now_s - DAY_S, .until_s = now_s + 2 * DAY_S};
	struct certificate authority, certificate;
	char message[256];
	snprintf(b->folder, sizeof b->folder, "/tmp/berth-tls-XXXXXX");
	CHECK(mkdtemp(b->folder));
	CHECK(authority_make(&wish, &authority, message, sizeof message));
	wish.hosts = &host;
	wish.host_count = 1;
	wish.until_s = now_s + DAY_S;
	CHECK(certificate_make(&wish, &authority, &certificate, message, sizeof message));
	write_file(b->authority, b, "ca.pem", authority.certificate);
	write_file(b->certificate, b, "server.pem", certificate.certificate);
	write_file(b->key, b, "server-key.pem", certificate.key);
	b->trust.ca_file = b->authority;
	certificate_free(&certificate);
	certificate_free(&authority);
}

static void start_side(struct tls_bench *b, struct side *side, bool is_secure)
{
	char message[256];
	struct api_settings settings = {.state = b->controller.state,
		.queue = b->controller.queue,
		.time = &time_source_real,
		.seed = 5};
	if (is_secure)
		settings.tls = (struct credentials_files){b->certificate, b->key, NULL};
	if (api_start(&settings, &side->api, message, sizeof message) != 0) {
		fprintf(stderr, "tls: %s\n", message);
		exit(1);
	}
	snprintf(side->url, sizeof side->url, "%s://127.0.0.1:%u", is_secure ? "https" : "http",
		api_port(side->api));
	side->client = http_client_create();
}

static void stop_side(struct side *side)
{
	http_client_destroy(side->client);
	api_stop(side->api);
}

static bool drop(void *context, long status, const char *data, size_t size)
{
	return true;
}

static void ask(const struct tls_bench *b, const struct side *side, struct http_client *client)
{
	const struct http_request request = {.url = side->url,
		.path = "/v1/job/bench/summary",
		.tls = &b->trust,
		.timeout_ms = 60000,
		.take_body = drop};
	struct http_result result;
	CHECK(http_client_ask(client, &request, &result) && result.status == 200);
}

static double requests_us(const struct tls_bench *b, const struct side *side)
{
	uint64_t begin = bench_processor_ns();
	for (uint32_t i = 0; i < b->requests; i++)
		ask(b, side, side->client);
	return (double)(bench_processor_ns() - begin) / 1e3 / b->requests;
}

static double connections_us(const struct tls_bench *b, const struct side *side)
{
	uint64_t begin = bench_processor_ns();
	for (uint32_t i = 0; i < b->connections; i++) {
		struct http_client *client = http_client_create();
		ask(b, side, client);
		http_client_destroy(client);
	}
	return (double)(bench_processor_ns() - begin) / 1e3 / b->connections;
}

static double secure_requests(void *context)
{
	const struct tls_bench *b = context;
	return requests_us(b, &b->secure);
}

static double plain_requests(void *context)
{
	const struct tls_bench *b = context;
	return requests_us(b, &b->plain);
}

static double secure_connections(void *context)
{
	const struct tls_bench *b = context;
	return connections_us(b, &b->secure);
}

static double plain_connections(void *context)
{
	const struct tls_bench *b = context;
	return connections_us(b, &b->plain);
}

static void report(struct tls_bench *b)
{
	struct bench_result request = {
		.name = "tls.request", .nodes = 1, .unit = "us", .against = "the same without TLS"};
	struct bench_result connection = {.name = "tls.connection",
		.nodes = 1,
		.unit = "us",
		.against = "the same without TLS"};
	bench_interleave(&b->bench, secure_requests, plain_requests, b, &request);
	bench_report(&b->bench, &request);
	bench_interleave(&b->bench, secure_connections, plain_connections, b, &connection);
	bench_report(&b->bench, &connection);
}

static void remove_certificates(const struct tls_bench *b)
{
	unlink(b->authority);
	unlink(b->certificate);
	unlink(b->key);
	rmdir(b->folder);
}

int main(int count, char **arguments)
{
	static struct tls_bench b;
	bench_begin(&b.bench, "tls", count, arguments);
	b.requests = b.bench.smoke ? 20 : 5000;
	b.connections = b.bench.smoke ? 2 : 200;
	make_certificates(&b);
	controller_open(&b.controller,
		&(struct controller_settings){.nodes_max = 1024, .allocations_max = 1024});
	controller_register(&b.controller, 0, 1);
	controller_register_job(&b.controller);
	start_side(&b, &b.plain, false);
	start_side(&b, &b.secure, true);
	report(&b);
	stop_side(&b.secure);
	stop_side(&b.plain);
	controller_close(&b.controller);
	remove_certificates(&b);
	return bench_end(&b.bench);
}
