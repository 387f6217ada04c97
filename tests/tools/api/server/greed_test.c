// Clients who take all that there is: connections, memory for bodies, memory for answers. Others from elsewhere are
// served meanwhile, and all is given back.
#include "state/base/memory.h"
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/api/server.h"
#include "tools/api/server/server.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (1u << 20)
#define MEMORY (8u * MIB)
#define GREEDY 12

// Connects from 127.0.0.NUMBER, and takes little at a time.
static int connect_from(struct server *s, uint8_t number)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
	struct sockaddr_in from = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + number)};
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(api_port(s->api)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_true(fd >= 0);
	assert_return_code(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
	assert_return_code(bind(fd, (struct sockaddr *)&from, sizeof from), 0);
	assert_return_code(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

static void send_all(int fd, const char *bytes, size_t size)
{
	assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void send_text(int fd, const char *text)
{
	send_all(fd, text, strlen(text));
}

// The status of an answer, of which no more than its beginning is read; 0: the connection was closed.
static long status_of(int fd)
{
	char head[2048];
	ssize_t got = recv(fd, head, sizeof head - 1, 0);
	if (got <= 0)
		return 0;
	head[got] = '\0';
	if (strncmp(head + 9, "429", 3) == 0)
		assert_non_null(strstr(head, "Retry-After: 1\r\n"));
	return strtol(head + 9, NULL, 10);
}

// Nothing but the answer that tells it.
static void await_memory_is_free(struct server *s)
{
	while (server_metric(s, "berth_http_memory_bytes") > MIB)
		usleep(1000);
}

static void begin_body(int fd, const char *body)
{
	char head[128];
	snprintf(head, sizeof head,
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %u\r\n\r\n", MIB);
	send_text(fd, head);
	send_all(fd, body, MIB - 1);
}

static void bodies_that_never_end_leave_memory_to_others(void **unused)
{
	struct server *s = server_start(&(struct server_options){.memory_bytes_max = MEMORY});
	char *body = memory_take(MIB);
	int fds[GREEDY], taken = 0, refused = 0;
	memset(body, ' ', MIB);
	for (int i = 0; i < GREEDY; i++) {
		fds[i] = connect_from(s, 2);
		begin_body(fds[i], body);
	}
	// All were read.
	while (server_metric(s, "berth_http_memory_bytes") < 2 * MIB ||
		server_metric(s, "berth_http_memory_refused_total") == 0)
		usleep(1000);
	int other = connect_from(s, 3);
	begin_body(other, body);
	send_all(other, " ", 1);
	assert_int_equal(status_of(other), 400); // blanks are no JSON
	close(other);
	assert_true(server_metric(s, "berth_http_memory_bytes_most") <= MEMORY);
	for (int i = 0; i < GREEDY; i++) {
		send_all(fds[i], " ", 1);
		long status = status_of(fds[i]);
		taken += status == 400;
		refused += status == 429;
		close(fds[i]);
	}
	assert_int_equal(taken + refused, GREEDY);
	assert_true(taken > 0 && refused > 0);
	await_memory_is_free(s);
	free(body);
	server_stop(s);
}

// A job of about 900 KB.
static void put_large_job(struct server *s)
{
	static const char begin[] = "{\"Job\":{\"ID\":\"large\",\"Name\":\"large\",\"Type\":"
				    "\"service\",\"Datacenters\":"
				    "[\"dc1\"],\"Meta\":{\"text\":\"";
	static const char end[] =
		"\"},\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":"
		"\"exec\",\"Config\":{\"command\":\"/bin/true\"}}]}]}}";
	size_t text = 900u * 1000, size = sizeof begin - 1 + text;
	char *body = memory_take(size + sizeof end);
	memcpy(body, begin, sizeof begin - 1);
	memset(body + sizeof begin - 1, 'x', text);
	memcpy(body + size, end, sizeof end);
	json_decref(http_json(s, "PUT", "/v1/jobs", body));
	free(body);
}

static void ask_for_job(int fd)
{
	send_text(fd, "GET /v1/job/large HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

// A connection of whoever holds all that it may. The kernel may take a little more of what it does not read.
static int connect_refused(struct server *s, uint8_t number)
{
	for (int tries = 0; tries < 5000; tries++) {
		int fd = connect_from(s, number);
		ask_for_job(fd);
		long status = status_of(fd);
		if (status == 429)
			return fd;
		assert_int_equal(status, 200);
		close(fd);
	}
	fail_msg("127.0.0.%d is never refused", number);
	return -1;
}

static void answers_that_nobody_reads_leave_memory_to_others(void **unused)
{
	struct server *s = server_start(&(struct server_options){.memory_bytes_max = MEMORY});
	int fds[GREEDY], other;
	put_large_job(s);
	for (int i = 0; i < GREEDY; i++) {
		fds[i] = connect_from(s, 2);
		// The kernel takes the first megabytes of each.
		for (int asked = 0; asked < 8; asked++)
			ask_for_job(fds[i]);
	}
	while (server_metric(s, "berth_http_memory_refused_total") == 0)
		usleep(1000);
	other = connect_from(s, 3);
	ask_for_job(other);
	assert_int_equal(status_of(other), 200);
	close(other);
	assert_true(server_metric(s, "berth_http_memory_bytes_most") <= MEMORY);
	// Who took all is told why, and what became of a change.
	other = connect_refused(s, 2);
	send_text(other, "DELETE /v1/job/large HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(status_of(other), 200);
	close(other);
	for (int i = 0; i < GREEDY; i++)
		close(fds[i]);
	await_memory_is_free(s);
	server_stop(s);
}

// A list keeps what it shows until it was read, beside what is on its way.
static void lists_that_nobody_reads_are_counted(void **unused)
{
	enum { PLACED = 6000, LISTED_BYTES = PLACED * 16 + 2 * 32 * 1024 };
	struct server *s =
		server_start(&(struct server_options){.memory_bytes_max = 5 * LISTED_BYTES});
	struct uuid ids[PLACE_COUNT_MAX];
	int fds[GREEDY], other;
	uint32_t taken = 0;
	server_nodes(s, PLACED / 3);
	server_job(s, "many");
	for (uint32_t placed = 0; placed < PLACED;)
		placed += server_place(s, "many", PLACE_COUNT_MAX, ids);
	for (int i = 0; i < GREEDY; i++) {
		fds[i] = connect_from(s, 2);
		send_text(
			fds[i], "GET /v1/job/many/allocations HTTP/1.1\r\nHost: localhost\r\n\r\n");
		taken += status_of(fds[i]) == 200;
	}
	assert_int_equal(taken, 2);
	other = connect_from(s, 3);
	send_text(other, "GET /v1/job/many/allocations HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(status_of(other), 200);
	close(other);
	for (int i = 0; i < GREEDY; i++)
		close(fds[i]);
	server_stop(s);
}

static uint32_t connect_many(struct server *s, uint8_t number, int *fds, uint32_t count)
{
	static const char request[] = "GET /v1/regions HTTP/1.1\r\nHost: localhost\r\n\r\n";
	uint32_t served = 0;
	for (uint32_t i = 0; i < count; i++) {
		fds[i] = connect_from(s, number);
		// A connection that was closed may be reset while this is sent.
		(void)send(fds[i], request, sizeof request - 1, MSG_NOSIGNAL);
		served += status_of(fds[i]) == 200;
	}
	return served;
}

static void two_addresses_do_not_hold_all_connections(void **unused)
{
	enum { MOST = 40, TRIED = 32 };
	struct server *s = server_start(&(struct server_options){.connections_max = MOST});
	int fds[2][TRIED], other;
	// A few more than the rule says: libmicrohttpd's threads look before any of them has one more.
	uint32_t first = connect_many(s, 2, fds[0], TRIED);
	uint32_t second = connect_many(s, 3, fds[1], TRIED);
	assert_in_range(first, MOST / 2, MOST / 2 + API_THREADS);
	assert_in_range(second, MOST / 8, MOST / 4 + API_THREADS);
	assert_int_equal(connect_many(s, 4, &other, 1), 1);
	close(other);
	assert_int_equal(server_metric(s, "berth_http_connections_refused_total"),
		2 * TRIED - first - second);
	for (uint32_t i = 0; i < 2 * TRIED; i++)
		close(fds[i / TRIED][i % TRIED]);
	server_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_that_never_end_leave_memory_to_others),
		cmocka_unit_test(answers_that_nobody_reads_leave_memory_to_others),
		cmocka_unit_test(lists_that_nobody_reads_are_counted),
		cmocka_unit_test(two_addresses_do_not_hold_all_connections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
