// Requests over HTTP that show a token, of 10,000 tokens in turn with ten of 100 policies each, against the same
// requests to a controller without access control.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/acl_policy.h"
#include "state/records/acl_token.h"
#include "tools/api/access/acl_secret.h"
#include "tools/api/access/token_keeper.h"
#include "tools/api/api.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define POLICIES 100u
#define POLICIES_EACH 10u
#define ANSWER_BYTES_MAX 65536u

struct side {
	struct controller controller;
	struct api *api;
	int connection;
};

struct access_bench {
	struct bench bench;
	struct side open, guarded;
	struct token_keeper *keeper;
	uint32_t tokens, requests, next;
	const char *path;
	char answer[ANSWER_BYTES_MAX];
};

static void secret_of(uint32_t number, struct uuid *secret)
{
	*secret = (struct uuid){.bytes = {0xac, 0xce, 0x55, 0, 0, 0, 0x40, 0, 0x80}};
	memcpy(secret->bytes + 12, &number, sizeof number);
}

static void secret_text(uint32_t number, char text[static UUID_TEXT_BYTES])
{
	struct uuid secret;
	secret_of(number, &secret);
	uuid_format(&secret, text);
}

static void start_side(struct side *side)
{
	char message[256];
	controller_open(&side->controller,
		&(struct controller_settings){.nodes_max = 1024, .allocations_max = 1024});
	controller_register(&side->controller, 0, 1);
	controller_register_job(&side->controller);
	const struct api_settings settings = {.state = side->controller.state,
		.queue = side->controller.queue,
		.time = &time_source_real,
		.seed = 5};
	if (api_start(&settings, &side->api, message, sizeof message) != 0) {
		fprintf(stderr, "access: %s\n", message);
		exit(1);
	}
}

// When all is there: a connection on which nothing is asked is cut off after some seconds.
static void connect_side(struct side *side)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(api_port(side->api)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int on = 1;
	side->connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(side->connection, (struct sockaddr *)&address, sizeof address) == 0);
	CHECK(setsockopt(side->connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
}

static void stop_side(struct side *side)
{
	close(side->connection);
	api_stop(side->api);
	controller_close(&side->controller);
}

static void put_policy(struct controller *c, uint32_t number)
{
	struct acl_policy *policy = record_create(&acl_policy_description);
	char name[16], rules[256];
	snprintf(name, sizeof name, "p%u", number);
	snprintf(rules, sizeof rules,
		"namespace \"team-%u-*\" { policy = \"write\" }\nnamespace \"default\" { policy = "
		"\"read\" }\nnode { policy = \"read\" }\n",
		number);
	policy->name = text_copy(text_of(name));
	policy->rules = text_copy(text_of(rules));
	struct command command = {.type = COMMAND_ACL_POLICY, .acl_policy = {policy}};
	controller_run(c, &command, 1);
}

// Number 0 is the first token, of management.
static void put_token(struct controller *c, uint32_t number)
{
	struct acl_token *token = record_create(&acl_token_description);
	struct uuid secret;
	char name[16];
	secret_of(number, &secret);
	acl_secret_hash_of(&secret, &token->secret);
	token->type = number ? ACL_CLIENT : ACL_MANAGEMENT;
	token->create_time_ns = 1;
	for (uint32_t i = 0; number && i < POLICIES_EACH; i++) {
		snprintf(name, sizeof name, "p%u", (number + i * 7) % POLICIES);
		*(char **)array_append(&token->policies, sizeof(char *)) = text_copy(text_of(name));
	}
	struct command_acl_token ask = {.token = token};
	struct command command = {
		.type = number ? COMMAND_ACL_TOKEN : COMMAND_ACL_BOOTSTRAP, .acl_token = &ask};
	controller_run(c, &command, 1);
}

static void read_answer(struct access_bench *b, int fd)
{
	size_t got = 0, wanted = SIZE_MAX;
	while (got < wanted) {
		ssize_t some = recv(fd, b->answer + got, sizeof b->answer - 1 - got, 0);
		CHECK(some > 0);
		got += (size_t)some;
		b->answer[got] = '\0';
		const char *end = strstr(b->answer, "\r\n\r\n");
		const char *length = strstr(b->answer, "Content-Length: ");
		if (end && length)
			wanted = (size_t)(end + 4 - b->answer) + strtoul(length + 16, NULL, 10);
	}
}

// token 0: shows none.
static void ask(struct access_bench *b, struct side *side, uint32_t token)
{
	char secret[UUID_TEXT_BYTES], shown[64], request[256];
	secret_text(token, secret);
	snprintf(shown, sizeof shown, "X-Nomad-Token: %s\r\n", secret);
	int size = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
		b->path, token ? shown : "");
	CHECK(send(side->connection, request, (size_t)size, MSG_NOSIGNAL) == size);
	read_answer(b, side->connection);
	CHECK(strncmp(b->answer, "HTTP/1.1 200", 12) == 0);
}

static double requests_us(
	struct access_bench *b, struct side *side, bool shows_tokens, uint64_t (*now_ns)(void))
{
	uint64_t begin = now_ns();
	for (uint32_t i = 0; i < b->requests; i++)
		ask(b, side, shows_tokens ? 1 + b->next++ % b->tokens : 0);
	return (double)(now_ns() - begin) / 1e3 / b->requests;
}

static double with_token(void *context)
{
	struct access_bench *b = context;
	return requests_us(b, &b->guarded, true, bench_ns);
}

static double without_token(void *context)
{
	struct access_bench *b = context;
	return requests_us(b, &b->open, false, bench_ns);
}

static double processor_with_token(void *context)
{
	struct access_bench *b = context;
	return requests_us(b, &b->guarded, true, bench_processor_ns);
}

static double processor_without_token(void *context)
{
	struct access_bench *b = context;
	return requests_us(b, &b->open, false, bench_processor_ns);
}

static void report_requests(struct access_bench *b)
{
	struct bench_result result = {.name = "access.request",
		.nodes = 1,
		.unit = "us",
		.against = "without a token and access control"};
	bench_interleave(&b->bench, with_token, without_token, b, &result);
	bench_report(&b->bench, &result);
	struct bench_result processor = {.name = "access.processor",
		.nodes = 1,
		.unit = "us",
		.against = "without a token and access control"};
	bench_interleave(&b->bench, processor_with_token, processor_without_token, b, &processor);
	bench_report(&b->bench, &processor);
}

// What a request pays for its token beside HTTP: it is found, and asked one question.
static double finds_ns(void *context)
{
	struct access_bench *b = context;
	uint64_t begin = bench_ns();
	for (uint32_t i = 0; i < b->requests; i++) {
		char text[UUID_TEXT_BYTES];
		struct access *access;
		secret_text(1 + b->next++ % b->tokens, text);
		CHECK(token_keeper_find(b->keeper, text, 1, &access) == TOKEN_GOOD);
		CHECK(acl_allows_in(access->acl, "default", ACL_READ_JOB));
		access_release(access);
	}
	return (double)(bench_ns() - begin) / b->requests;
}

static double hashes_ns(void *context)
{
	struct access_bench *b = context;
	struct acl_secret_hash hash;
	uint64_t begin = bench_ns();
	for (uint32_t i = 0; i < b->requests; i++) {
		char text[UUID_TEXT_BYTES];
		secret_text(1 + b->next++ % b->tokens, text);
		CHECK(acl_secret_hash(text, &hash));
		bench_keep(hash.bytes[0]);
	}
	return (double)(bench_ns() - begin) / b->requests;
}

static void report_finds(struct access_bench *b)
{
	struct bench_result result = {
		.name = "access.find", .nodes = 1, .unit = "ns", .against = "hashing the secret"};
	b->keeper = token_keeper_create(b->guarded.controller.state, NULL, false);
	bench_interleave(&b->bench, finds_ns, hashes_ns, b, &result);
	bench_report(&b->bench, &result);
	token_keeper_destroy(b->keeper);
}

int main(int count, char **arguments)
{
	static struct access_bench b;
	bench_begin(&b.bench, "access", count, arguments);
	b.tokens = (uint32_t)bench_option(&b.bench, "tokens", b.bench.smoke ? 100 : 10000);
	b.requests = (uint32_t)bench_option(&b.bench, "requests", b.bench.smoke ? 100 : 20000);
	b.path = "/v1/job/bench/summary";
	start_side(&b.open);
	start_side(&b.guarded);
	for (uint32_t i = 0; i < POLICIES; i++)
		put_policy(&b.guarded.controller, i);
	for (uint32_t i = 0; i <= b.tokens; i++)
		put_token(&b.guarded.controller, i);
	connect_side(&b.open);
	connect_side(&b.guarded);
	report_requests(&b);
	report_finds(&b);
	stop_side(&b.guarded);
	stop_side(&b.open);
	return bench_end(&b.bench);
}
