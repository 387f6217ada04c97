#include "tests/tools/berth/node_way.h"
#include "tests/tools/agent/service/rig.h"
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUEST_BYTES 16384

const char *_Atomic way_tasks = "{\"t\":{}}", *_Atomic way_next_status = "running";
#define NEXT_ID "b0b00000-0000-0000-0000-000000000002"
static int listening;
static pthread_t acceptor;

// A whole request with a small body; 0: the client left.
static size_t read_request(int fd, char *text)
{
	size_t size = 0;
	text[0] = '\0';
	for (;;) {
		const char *end = strstr(text, "\r\n\r\n"),
			   *length = strcasestr(text, "content-length:");
		size_t body = end && length && length < end ? strtoul(length + 15, NULL, 10) : 0;
		if (end && size >= (size_t)(end + 4 - text) + body)
			return size;
		ssize_t n = read(fd, text + size, REQUEST_BYTES - 1 - size);
		if (n <= 0)
			return 0;
		size += (size_t)n;
		text[size] = '\0';
	}
}

static void copy_both_ways(int client, int node)
{
	char bytes[65536];
	struct pollfd polled[] = {{.fd = client, .events = POLLIN}, {.fd = node, .events = POLLIN}};
	for (;;) {
		poll(polled, 2, -1);
		for (int i = 0; i < 2; i++) {
			if (!polled[i].revents)
				continue;
			ssize_t n = read(polled[i].fd, bytes, sizeof bytes);
			if (n <= 0 || send(polled[!i].fd, bytes, (size_t)n, MSG_NOSIGNAL) != n)
				return;
		}
	}
}

static void hand_to_node(int client, char *request, size_t size)
{
	static const char last[] = "Connection: close\r\n";
	int ends[2];
	char *headers = strstr(request, "\r\n") + 2;
	size_t line = (size_t)(headers - request);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
		agent_service_take(rig_service, ends[1]) < 0)
		abort();
	(void)send(ends[0], request, line, MSG_NOSIGNAL);
	(void)send(ends[0], last, sizeof last - 1, MSG_NOSIGNAL);
	(void)send(ends[0], headers, size - line, MSG_NOSIGNAL);
	copy_both_ways(client, ends[0]);
	close(ends[0]);
}

// The allocation, which is replaced once it was asked to stop.
static void answer_itself(int client, const char *request)
{
	static _Atomic bool is_stopped;
	char answer[3000], body[2000], alloc[1200];
	bool is_next = strstr(request, "/v1/allocation/" NEXT_ID);
	if (strncmp(request, "PUT /v1/allocation/", 19) == 0)
		is_stopped = true;
	snprintf(alloc, sizeof alloc,
		"{\"ID\":\"%s\",\"Name\":\"j.g[0]\",\"JobID\":\"j\",\"Namespace\":\"default\","
		"\"TaskGroup\":\"g\",\"NodeID\":\"n\",\"NodeName\":\"node-a\",\"ClientStatus\":"
		"\"%s\",\"DesiredStatus\":\"run\",\"CreateIndex\":7,\"NextAllocation\":\"%s\","
		"\"TaskStates\":%s,\"AllocatedResources\":{\"Tasks\":%s}}",
		is_next ? NEXT_ID : RIG_ID, is_next ? way_next_status : "running",
		is_stopped && !is_next ? NEXT_ID : "", way_tasks, way_tasks);
	bool is_job = strncmp(request, "GET /v1/jobs", 12) == 0;
	bool is_one = strstr(request, " /v1/allocation/") != NULL;
	snprintf(body, sizeof body, is_one ? "%s" : "[%s]",
		is_job ? "{\"ID\":\"j\",\"Name\":\"j\",\"Namespace\":\"default\"}" : alloc);
	int size = snprintf(answer, sizeof answer,
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
		strlen(body), body);
	(void)send(client, answer, (size_t)size, MSG_NOSIGNAL);
}

// As a node that dies.
static void answer_halfway(int client)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				     "14\r\n{\"Data\":\"aGFsZg==\"}{\r\n";
	(void)send(client, answer, sizeof answer - 1, MSG_NOSIGNAL);
}

static void *serve_client(void *context)
{
	int client = (int)(intptr_t)context;
	char *request = malloc(REQUEST_BYTES);
	size_t size = request ? read_request(client, request) : 0;
	if (size > 0 && strstr(request, "path=breaks"))
		answer_halfway(client);
	else if (size > 0 && strstr(request, " /v1/client/"))
		hand_to_node(client, request, size);
	else if (size > 0)
		answer_itself(client, request);
	free(request);
	close(client);
	return NULL;
}

static void *accept_clients(void *unused)
{
	pthread_t thread;
	int client;
	while ((client = accept(listening, NULL, NULL)) >= 0) {
		if (pthread_create(&thread, NULL, serve_client, (void *)(intptr_t)client) != 0)
			abort();
		pthread_detach(thread);
	}
	return NULL;
}

unsigned way_open(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(listening >= 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listening, 64), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(pthread_create(&acceptor, NULL, accept_clients, NULL), 0);
	return ntohs(address.sin_port);
}

void way_close(void)
{
	shutdown(listening, SHUT_RDWR);
	pthread_join(acceptor, NULL);
	close(listening);
}
