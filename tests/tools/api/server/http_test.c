// The protocol's edges: methods, limits, encodings, slow and broken clients, a queue that is full.
#include "state/base/memory.h"
#include "tests/support/shared_time.h"
#include "tests/tools/api/prometheus_reader.h"
#include "tests/tools/api/server.h"
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct shared_time stopped_time = {1795225440000000000};
static const struct time_source stopped = {shared_time_ns, shared_time_ns, &stopped_time, NULL};

static void wrong_methods_are_405(void **unused)
{
	static const char *const cases[][2] = {{"DELETE", "/v1/nodes"}, {"PUT", "/v1/nodes"},
		{"POST", "/v1/node/x"}, {"GET", "/v1/validate/job"}, {"DELETE", "/v1/jobs"},
		{"PATCH", "/v1/job/x"}, {"BREW", "/v1/nodes"}, {"GET", "/v1/berth/release"}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, cases[i][0], cases[i][1], NULL);
		assert_int_equal(r.status, 405);
		assert_string_equal(r.body, "Invalid method");
		assert_true(response_has(&r, "Content-Type: text/plain; charset=utf-8"));
		response_free(&r);
	}
}

static void other_regions_are_500(void **unused)
{
	static const struct {
		const char *method, *path;
		long status;
	} cases[] = {{"GET", "/v1/nodes?region=global", 200}, {"GET", "/v1/nodes?region=", 200},
		{"GET", "/v1/nodes?region=never", 500}, {"GET", "/v1/nodes?region=Global", 500},
		{"GET", "/v1/job/x?region=global", 404}, {"GET", "/v1/job/x?region=never", 500},
		{"DELETE", "/v1/job/x?region=global", 200},
		{"DELETE", "/v1/job/x?region=never", 500}, {"PUT", "/v1/jobs?region=never", 500}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct response r = http(server, cases[i].method, cases[i].path,
			strcmp(cases[i].method, "PUT") == 0 ? "{}" : NULL);
		assert_int_equal(r.status, cases[i].status);
		if (r.status == 500)
			assert_string_equal(r.body, "No path to region");
		response_free(&r);
	}
}

static void large_bodies_are_413(void **unused)
{
	size_t size = JOB_JSON_BYTES_MAX + 1;
	char *body = memory_take(size + 1);
	memset(body, ' ', size);
	struct response r = http_with(server, "PUT", "/v1/jobs", body, size, "Expect:");
	assert_int_equal(r.status, 413);
	response_free(&r);
	// A megabyte is read: blanks are no JSON.
	r = http_with(server, "PUT", "/v1/jobs", body, size - 1, "Expect:");
	assert_int_equal(r.status, 400);
	response_free(&r);
	// The same when its size is not announced.
	r = http_with(server, "PUT", "/v1/jobs", body, size, "Transfer-Encoding: chunked");
	assert_int_equal(r.status, 413);
	response_free(&r);
	free(body);
}

// Who is answered in the midst of a body may miss it: the connection is closed with data unread, that is reset.
static void a_body_is_read_before_it_is_refused(void **unused)
{
	static const struct {
		const char *line, *header;
		size_t size;
		long status;
	} cases[] = {{"PUT /v1/jobs", "X: y", JOB_JSON_BYTES_MAX + 1, 413},
		{"PUT /v1/nowhere", "X: y", 2 << 20, 404}, {"PUT /v1/nodes", "X: y", 2 << 20, 405},
		{"PUT /v1/jobs", "Content-Encoding: gzip", 1 << 20, 415},
		{"PUT /v1/jobs?region=never", "X: y", 2 << 20, 500},
		{"PUT /v1/jobs", "Origin: http://elsewhere", 2 << 20, 403}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char head[256], answer[2048];
		int fd = server_connect(server);
		int size = snprintf(head, sizeof head,
			"%s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\nContent-Length: %zu\r\n\r\n",
			cases[i].line, cases[i].header, cases[i].size);
		char *body = memory_take(cases[i].size);
		memset(body, ' ', cases[i].size);
		assert_int_equal(send(fd, head, (size_t)size, MSG_NOSIGNAL), size);
		assert_int_equal(
			send(fd, body, cases[i].size - 1, MSG_NOSIGNAL), cases[i].size - 1);
		struct pollfd answered = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&answered, 1, 50), 0);
		assert_int_equal(send(fd, body, 1, MSG_NOSIGNAL), 1);
		ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
		assert_true(got > 12);
		answer[got] = '\0';
		assert_int_equal(strtol(answer + 9, NULL, 10), cases[i].status);
		free(body);
		close(fd);
	}
}

// Who asks for leave, or announces more than is ever read, is answered before it sends anything.
static void a_body_that_is_not_sent_is_not_waited_for(void **unused)
{
	static const char *const headers[] = {
		"Expect: 100-continue\r\nContent-Length: 1048577", "Content-Length: 16777217"};
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		char head[256], answer[2048];
		int fd = server_connect(server);
		int size = snprintf(head, sizeof head,
			"PUT /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n\r\n", headers[i]);
		assert_int_equal(send(fd, head, (size_t)size, MSG_NOSIGNAL), size);
		ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
		assert_true(got > 12);
		answer[got] = '\0';
		assert_int_equal(strtol(answer + 9, NULL, 10), 413);
		close(fd);
	}
}

static void encoded_bodies_are_415(void **unused)
{
	struct response r = http_with(server, "PUT", "/v1/jobs", "{}", 2, "Content-Encoding: gzip");
	assert_int_equal(r.status, 415);
	response_free(&r);
	r = http_with(server, "PUT", "/v1/jobs", "{}", 2, "Content-Encoding: identity");
	assert_int_equal(r.status, 400);
	response_free(&r);
}

static long status_of_raw(const char *method, const char *host, const char *header)
{
	char request[512], answer[2048];
	int fd = server_connect(server);
	int size = snprintf(request, sizeof request,
		"%s /v1/jobs HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Length: %s\r\n\r\n%s", method,
		host, header, *method == 'P' ? "2" : "0", *method == 'P' ? "{}" : "");
	assert_int_equal(send(fd, request, (size_t)size, MSG_NOSIGNAL), size);
	ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
	assert_true(got > 12);
	answer[got] = '\0';
	close(fd);
	return strtol(answer + 9, NULL, 10);
}

// A page of any site may send requests to the addresses that its reader's browser reaches, and a site may name this
// machine after itself.
static void pages_of_other_sites_are_403(void **unused)
{
	static const struct {
		const char *host, *header;
		bool is_refused;
	} cases[] = {{"localhost", "Origin: http://elsewhere.example", true},
		{"localhost", "Origin: null", true},
		{"localhost", "Origin: http://localhost", false},
		{"localhost", "X-Nothing: y", false}, {"127.0.0.1:4646", "X-Nothing: y", false},
		{"elsewhere.example", "X-Nothing: y", true},
		{"elsewhere.example:4646", "Origin: http://elsewhere.example:4646", true}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		bool is_refused = cases[i].is_refused;
		assert_int_equal(status_of_raw("PUT", cases[i].host, cases[i].header),
			is_refused ? 403 : 400);
		assert_int_equal(status_of_raw("GET", cases[i].host, cases[i].header),
			is_refused ? 403 : 200);
	}
}

static void many_parameters_are_refused(void **unused)
{
	char path[512] = "/v1/nodes?";
	for (int i = 0; i < 20; i++)
		snprintf(path + strlen(path), sizeof path - strlen(path), "a%d=1&", i);
	struct response r = http(server, "GET", path, NULL);
	assert_int_equal(r.status, 400);
	response_free(&r);
}

// What is answered within wait_ms of silence.
static void exchange(const char *request, size_t size, char *answer, size_t room, int wait_ms)
{
	int fd = server_connect(server);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(send(fd, request, size, MSG_NOSIGNAL), (ssize_t)size);
	size_t got = 0;
	ssize_t some = 1;
	while (some > 0 && poll(&p, 1, wait_ms) == 1) {
		some = recv(fd, answer + got, room - 1 - got, 0);
		got += some > 0 ? (size_t)some : 0;
	}
	answer[got] = '\0';
	close(fd);
}

// Whatever bytes come, the server answers or closes, and goes on.
static void garbage_is_survived(void **unused)
{
	static const char *const cases[] = {"", "\r\n\r\n", "GET\r\n\r\n", "GET /v1/nodes\r\n\r\n",
		"GET /v1/nodes HTTP/9.9\r\n\r\n", "GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /v1/../v1/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		"99999999999999999999\r\n\r\n",
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}",
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
		"chunked\r\n\r\nzz\r\n",
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{}",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"};
	char answer[4096];
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		exchange(cases[i], strlen(cases[i]), answer, sizeof answer, 50);
		assert_null(strstr(answer, "root:"));
		assert_true(!*answer || strncmp(answer, "HTTP/1.1 ", 9) == 0);
	}
	struct prng prng;
	prng_seed(&prng, 23);
	for (int i = 0; i < 300; i++) {
		char noise[300];
		size_t size = 0;
		static const char start[] = "GET /v1/node/";
		if (prng_below(&prng, 2)) {
			memcpy(noise, start, sizeof start - 1);
			size = sizeof start - 1;
		}
		size_t end = size + prng_below(&prng, 250);
		while (size < end)
			noise[size++] = (char)prng_u64(&prng);
		exchange(noise, size, answer, sizeof answer, 0);
	}
	json_decref(http_json(server, "GET", "/v1/nodes", NULL));
}

static void connections_are_kept_alive(void **unused)
{
	static const char request[] = "GET /v1/regions HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = server_connect(server);
	for (int i = 0; i < 5; i++) {
		char answer[2048] = "";
		size_t got = 0;
		assert_int_equal(send(fd, request, sizeof request - 1, MSG_NOSIGNAL),
			(ssize_t)sizeof request - 1);
		while (!strstr(answer, "[\"global\"]")) {
			ssize_t some = recv(fd, answer + got, sizeof answer - 1 - got, 0);
			assert_true(some > 0);
			answer[got += (size_t)some] = '\0';
		}
		assert_int_equal(strncmp(answer, "HTTP/1.1 200", 12), 0);
	}
	close(fd);
}

static void one_address_has_few_connections(void **unused)
{
	struct server *s = server_start(&(struct server_options){.connections_per_ip_max = 5});
	int fds[10], refused = 0;
	for (int i = 0; i < 10; i++)
		fds[i] = server_connect(s);
	for (int i = 0; i < 10; i++) {
		static const char request[] = "GET /v1/regions HTTP/1.1\r\nHost: localhost\r\n\r\n";
		char byte;
		send(fds[i], request, sizeof request - 1, MSG_NOSIGNAL);
		refused += recv(fds[i], &byte, 1, 0) <= 0;
	}
	assert_int_equal(refused, 5);
	for (int i = 0; i < 10; i++)
		close(fds[i]);
	server_stop(s);
}

// A client that dribbles its headers is cut off, whatever it sends: the clock is moved, not waited
// for.
static void dribbling_headers_are_cut_off(void **unused)
{
	struct server *s = server_start(&(struct server_options){.time = &stopped});
	int fd = server_connect(s);
	assert_int_equal(send(fd, "GET /v1/nodes HTTP/1.1\r\nX-A: ", 29, MSG_NOSIGNAL), 29);
	// Moved again and again: which of its threads have taken notice of anything yet is open.
	struct pollfd p = {.fd = fd, .events = POLLIN};
	while (poll(&p, 1, 50) == 0) {
		send(fd, "a", 1, MSG_NOSIGNAL);
		shared_time_advance_ms(&stopped_time, 1000);
	}
	char byte;
	while (recv(fd, &byte, 1, 0) > 0)
		;
	close(fd);
	assert_int_equal(
		server_metric(s, "berth_http_connections_cut_total{phase=\"headers\"}"), 1);
	server_stop(s);
}

static void nothing(struct command *command)
{
}

static const char job_body[] =
	"{\"Job\":{\"ID\":\"x\",\"Name\":\"x\",\"Type\":\"direct\",\"Datacenters\":[\"dc1\"],"
	"\"TaskGroups\":[{\"Name\":\"g\",\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"exec\"}]}]}}";

static void a_full_queue_is_429(void **unused)
{
	struct server *s = server_start(&(struct server_options){.no_applier_thread = true});
	struct command_status status = {.client = TEXT("x")};
	struct command *commands = memory_take_array(COMMAND_RING_SLOTS, sizeof *commands);
	uint32_t pushed = 0;
	for (; pushed < COMMAND_RING_SLOTS; pushed++) {
		commands[pushed] = (struct command){
			.type = COMMAND_STATUS, .done = nothing, .status = &status};
		if (!command_queue_push(s->queue, COMMAND_PRODUCER_SHARED, &commands[pushed]))
			break;
	}
	struct response r = http(s, "PUT", "/v1/jobs", job_body);
	assert_int_equal(r.status, 429);
	assert_true(response_has(&r, "Retry-After: 1"));
	assert_non_null(strstr(r.body, "nothing was changed"));
	response_free(&r);
	while (command_queue_depth(s->queue))
		applier_step(s->applier);
	server_stop(s);
	free(commands);
}

struct stepper {
	struct server *server;
	_Atomic bool stop;
};

static void *step(void *context)
{
	struct stepper *stepper = context;
	while (!stepper->stop) {
		applier_step(stepper->server->applier);
		usleep(1000);
	}
	return NULL;
}

static void an_applier_that_hangs_is_503(void **unused)
{
	struct server *s =
		server_start(&(struct server_options){.no_applier_thread = true, .time = &stopped});
	int fd = server_connect(s);
	char request[1024], answer[2048];
	int size = snprintf(request, sizeof request,
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
		"%zu\r\n\r\n%s",
		sizeof job_body - 1, job_body);
	assert_int_equal(send(fd, request, (size_t)size, MSG_NOSIGNAL), size);
	// From here on its deadline is set.
	while (server_metric(s, "berth_http_parked") == 0)
		usleep(1000);
	shared_time_advance_ms(&stopped_time, 31000);
	ssize_t got = recv(fd, answer, sizeof answer - 1, 0);
	assert_true(got > 0);
	answer[got] = '\0';
	assert_int_equal(strncmp(answer, "HTTP/1.1 503", 12), 0);
	close(fd);
	// It still takes effect, and stopping waits for it.
	struct stepper stepper = {.server = s};
	pthread_t thread;
	pthread_create(&thread, NULL, step, &stepper);
	api_stop(s->api);
	s->api = NULL;
	stepper.stop = true;
	pthread_join(thread, NULL);
	state_read_begin();
	assert_non_null(state_job(s->state, TEXT("default"), TEXT("x")));
	state_read_end();
	server_stop(s);
}

// libmicrohttpd does not ask us again about a connection whose client left: it ends it as soon as it is resumed.
static void who_leaves_while_a_command_waits_is_forgotten(void **unused)
{
	struct server *s = server_start(&(struct server_options){.no_applier_thread = true});
	const struct linger at_once = {.l_onoff = 1};
	char request[1024];
	int size = snprintf(request, sizeof request,
		"PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s",
		sizeof job_body - 1, job_body);
	int clients[8];
	for (int i = 0; i < 8; i++) {
		clients[i] = server_connect(s);
		assert_int_equal(send(clients[i], request, (size_t)size, MSG_NOSIGNAL), size);
	}
	while (server_metric(s, "berth_http_parked") < 8)
		usleep(1000);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(
			setsockopt(clients[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
		close(clients[i]); // with a reset
	}
	while (command_queue_depth(s->queue))
		applier_step(s->applier);
	while (server_metric(s, "berth_http_parked") != 0)
		usleep(1000);
	server_stop(s);
}

static void a_taken_port_is_explained(void **unused)
{
	char message[512] = "";
	struct api *api = NULL;
	struct api_settings settings = {
		.address = "127.0.0.1",
		.port = api_port(server->api),
		.state = server->state,
		.queue = server->queue,
		.time = &time_source_real,
	};
	assert_true(api_start(&settings, &api, message, sizeof message) < 0);
	assert_null(api);
	char place[64];
	snprintf(place, sizeof place, "127.0.0.1:%u: Address already in use", settings.port);
	assert_non_null(strstr(message, place));
	settings.address = "not an address";
	assert_true(api_start(&settings, &api, message, sizeof message) < 0);
	assert_non_null(strstr(message, "\"not an address\" is no address"));
}

struct knocker {
	uint16_t port;
	_Atomic bool stop;
	_Atomic uint32_t answered;
};

// Connects and asks again and again, also where nobody listens any more.
static void *knock(void *context)
{
	static const char request[] =
		"GET /v1/status/leader HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	struct knocker *k = context;
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(k->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char answer[256];

	while (!k->stop) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_true(fd >= 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
			send(fd, request, sizeof request - 1, MSG_NOSIGNAL) > 0)
			k->answered += recv(fd, answer, sizeof answer, 0) > 0;
		close(fd);
	}
	return NULL;
}

// Whoever comes while the server stops is sent away, and the process goes on.
static void stopping_while_clients_connect(void **unused)
{
	enum { ROUNDS = 20, KNOCKERS = 3 };
	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct server *s = server_start(&(struct server_options){0});
		struct knocker knockers[KNOCKERS];
		pthread_t threads[KNOCKERS];
		for (uint32_t i = 0; i < KNOCKERS; i++) {
			knockers[i] = (struct knocker){.port = api_port(s->api)};
			pthread_create(&threads[i], NULL, knock, &knockers[i]);
		}
		for (uint32_t i = 0; i < KNOCKERS; i++)
			while (knockers[i].answered == 0)
				sched_yield();
		api_stop(s->api);
		s->api = NULL;
		for (uint32_t i = 0; i < KNOCKERS; i++) {
			knockers[i].stop = true;
			pthread_join(threads[i], NULL);
		}
		server_stop(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_methods_are_405),
		cmocka_unit_test(other_regions_are_500),
		cmocka_unit_test(large_bodies_are_413),
		cmocka_unit_test(a_body_is_read_before_it_is_refused),
		cmocka_unit_test(a_body_that_is_not_sent_is_not_waited_for),
		cmocka_unit_test(encoded_bodies_are_415),
		cmocka_unit_test(pages_of_other_sites_are_403),
		cmocka_unit_test(many_parameters_are_refused),
		cmocka_unit_test(garbage_is_survived),
		cmocka_unit_test(connections_are_kept_alive),
		cmocka_unit_test(one_address_has_few_connections),
		cmocka_unit_test(dribbling_headers_are_cut_off),
		cmocka_unit_test(a_full_queue_is_429),
		cmocka_unit_test(an_applier_that_hangs_is_503),
		cmocka_unit_test(who_leaves_while_a_command_waits_is_forgotten),
		cmocka_unit_test(a_taken_port_is_explained),
		cmocka_unit_test(stopping_while_clients_connect),
	};
	return cmocka_run_group_tests(tests, server_group_begin, server_group_end);
}
