// Connections of the service: requests one after the other, idling, too many, the end.
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"
#include "tools/agent/service/service_routes.h"
#include <errno.h>
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

static struct ask_runner *mailbox;
static struct agent_service *service;

static _Atomic uint32_t freed, waits_begun, waits_over;
static _Atomic int taken_last; // what who comes while the service stops is told

static void echo(void *context, int socket, const char *extra, size_t extra_size, int stop_fd)
{
	struct pollfd polled[] = {
		{.fd = socket, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
	char bytes[100];
	assert_string_equal(context, "context");
	if (extra_size > 0)
		(void)send(socket, extra, extra_size, MSG_NOSIGNAL);
	while (poll(polled, 2, 20000) > 0 && !polled[1].revents) {
		ssize_t n = recv(socket, bytes, sizeof bytes, 0);
		if (n <= 0)
			return;
		(void)send(socket, bytes, (size_t)n, MSG_NOSIGNAL);
	}
	// The service waits for this talk.
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	taken_last = agent_service_take(service, ends[1]);
	close(ends[0]);
}

static void count_free(void *context)
{
	free(context);
	freed++;
}

static struct MHD_Response *begin_echo(struct service_request *request, unsigned *status)
{
	struct MHD_Response *response =
		service_upgrade(request, status, echo, text_copy(TEXT("context")), count_free);
	service_put_header(response, MHD_HTTP_HEADER_UPGRADE, "echo");
	return response;
}

static struct MHD_Response *wait_for_a_while(struct service_request *request, unsigned *status)
{
	for (int i = 0; i < 25; i++)
		if (service_wait(request, -1, 100) == SERVICE_OVER)
			waits_over++;
	return service_say(status, MHD_HTTP_OK, "waited for %s", request->id);
}

static struct MHD_Response *wait_for_ever(struct service_request *request, unsigned *status)
{
	waits_begun++;
	while (service_wait(request, -1, 20000) != SERVICE_OVER)
		continue;
	waits_over++;
	return service_say(status, MHD_HTTP_OK, "waited");
}

// A body whose second half comes late.
struct late {
	struct service_request *request;
	bool has_begun;
};

static ssize_t read_late(void *context, uint64_t position, char *to, size_t most)
{
	struct late *late = context;
	if (late->has_begun)
		for (int i = 0; i < 25; i++)
			if (service_wait(late->request, -1, 100) == SERVICE_OVER)
				return MHD_CONTENT_READER_END_WITH_ERROR;
	if (position > 11)
		return MHD_CONTENT_READER_END_OF_STREAM;
	late->has_begun = true;
	memcpy(to, position ? "second" : "first half,", position ? 6 : 11);
	return position ? 6 : 11;
}

static struct MHD_Response *answer_late(struct service_request *request, unsigned *status)
{
	struct late *late = memory_take(sizeof *late);
	late->request = request;
	*status = MHD_HTTP_OK;
	return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1000, read_late, late, free);
}

static struct MHD_Response *answer_zero_byte(struct service_request *request, unsigned *status)
{
	return service_say(status, MHD_HTTP_OK, "saw nothing");
}

static const struct service_route routes[] = {
	{"GET", "/echo", begin_echo},
	{NULL, "/wait/:id", wait_for_a_while},
	{NULL, "/wait-for-ever", wait_for_ever},
	{NULL, "/late", answer_late},
	{NULL, "/zero", answer_zero_byte},
	{NULL, NULL, NULL},
};

static int start_with(uint32_t idle_s)
{
	struct agent_service_settings settings = {.data_folder = "/nonexistent",
		.time = &time_source_real,
		.idle_s = idle_s,
		.routes = routes};
	char message[200];
	settings.connections_max = 3;
	settings.ask = mailbox = ask_runner_create();
	return mailbox ? agent_service_start(&settings, &service, message, sizeof message) : -1;
}

static int start_service(void **state)
{
	return start_with(60);
}

static int start_hasty(void **state)
{
	return start_with(1);
}

static int stop_service(void **state)
{
	ask_runner_close(mailbox);
	agent_service_stop(service);
	ask_runner_destroy(mailbox);
	return 0;
}

// A client's end.
static int connect_client(int *error)
{
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	*error = agent_service_take(service, ends[1]);
	return ends[0];
}

static int client(void)
{
	int error, fd = connect_client(&error);
	assert_int_equal(error, 0);
	return fd;
}

// Reads until the text is there; 0: the other end has closed.
static size_t read_until(int fd, char *bytes, size_t most, const char *text)
{
	size_t size = 0;
	bytes[0] = '\0';
	while (!strstr(bytes, text)) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&polled, 1, 20000), 1);
		ssize_t n = read(fd, bytes + size, most - 1 - size);
		if (n <= 0)
			return 0;
		size += (size_t)n;
		bytes[size] = '\0';
	}
	return size;
}

static void send_request(int fd, const char *path)
{
	char text[300];
	int size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
	assert_int_equal(send(fd, text, (size_t)size, MSG_NOSIGNAL), size);
}

static void ask_for(int fd, const char *path, const char *answer)
{
	char bytes[1000];
	send_request(fd, path);
	assert_true(read_until(fd, bytes, sizeof bytes, answer) > 0);
}

static void requests_come_one_after_the_other(void **state)
{
	int fd = client();
	for (int i = 0; i < 3; i++)
		ask_for(fd, "/v1/client/nosuch", "resource not found");
	close(fd);
}

static void a_zero_byte_is_refused(void **state)
{
	int fd = client();
	ask_for(fd, "/zero?a=b%00c", "zero byte");
	ask_for(fd, "/zero?a%00=b", "zero byte");
	close(fd);
}

static const char upgrade[] =
	"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

static int begin_talk(void)
{
	char bytes[1000];
	int fd = client();
	assert_int_equal(send(fd, upgrade, strlen(upgrade), MSG_NOSIGNAL), strlen(upgrade));
	assert_true(read_until(fd, bytes, sizeof bytes, "101 Switching") > 0);
	return fd;
}

// Waits up to twenty seconds until so many were counted.
static void await_count(const _Atomic uint32_t *count, uint32_t wanted)
{
	for (int i = 0; *count < wanted && i < 20000; i++)
		usleep(1000);
	assert_int_equal(*count, wanted);
}

static void a_talk_has_the_socket(void **state)
{
	char bytes[1000];
	freed = 0;
	int fd = begin_talk();
	assert_int_equal(send(fd, "hello", 5, MSG_NOSIGNAL), 5);
	assert_true(read_until(fd, bytes, sizeof bytes, "hello") > 0);
	close(fd);
	await_count(&freed, 1);
}

// The question is there before the connection idles.
static void ask_at_once(const char *path, const char *answer)
{
	char bytes[1000];
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	send_request(ends[0], path);
	assert_int_equal(agent_service_take(service, ends[1]), 0);
	assert_true(read_until(ends[0], bytes, sizeof bytes, answer) > 0);
	close(ends[0]);
}

static void a_wait_outlives_the_idle_time(void **state)
{
	ask_at_once("/wait/it", "waited for it");
	ask_at_once("/late", "second");
}

static void a_wait_ends_with_its_client(void **state)
{
	waits_begun = waits_over = 0;
	int fd = client();
	send_request(fd, "/wait-for-ever");
	await_count(&waits_begun, 1);
	close(fd);
	await_count(&waits_over, 1);
}

static void stopping_ends_talks_and_waits(void **state)
{
	char bytes[100];
	freed = waits_begun = waits_over = 0;
	taken_last = 0;
	int talking = begin_talk(), waiting = client();
	send_request(waiting, "/wait-for-ever");
	await_count(&waits_begun, 1);
	stop_service(NULL);
	assert_int_equal(waits_over, 1);
	assert_int_equal(freed, 1);
	assert_int_equal(taken_last, -ESHUTDOWN);
	assert_int_equal(read_until(talking, bytes, sizeof bytes, "never"), 0);
	close(talking);
	close(waiting);
}

static void an_idle_connection_is_closed(void **state)
{
	char bytes[100];
	int fd = client();
	assert_int_equal(read_until(fd, bytes, sizeof bytes, "never"), 0);
	close(fd);
}

static void connections_are_limited(void **state)
{
	int fds[3], error, further;
	for (int i = 0; i < 3; i++) {
		fds[i] = client();
		ask_for(fds[i], "/x", "404");
	}
	further = connect_client(&error);
	assert_int_equal(error, -EUSERS);
	close(further);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void what_is_no_connection_is_refused(void **state)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(agent_service_take(service, ends[0]), -ENOTSOCK);
	close(ends[1]);
}

static void stopping_closes_connections(void **state)
{
	char bytes[100];
	int fd = client();
	ask_for(fd, "/x", "404");
	stop_service(NULL);
	assert_int_equal(read_until(fd, bytes, sizeof bytes, "never"), 0);
	close(fd);
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, start_service, stop_service)
#define SERVED_HASTILY(test) cmocka_unit_test_setup_teardown(test, start_hasty, stop_service)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVED(requests_come_one_after_the_other),
		SERVED(a_zero_byte_is_refused),
		SERVED(a_talk_has_the_socket),
		SERVED_HASTILY(a_wait_outlives_the_idle_time),
		SERVED(a_wait_ends_with_its_client),
		SERVED_HASTILY(an_idle_connection_is_closed),
		SERVED(connections_are_limited),
		SERVED(what_is_no_connection_is_refused),
		cmocka_unit_test_setup(stopping_closes_connections, start_service),
		cmocka_unit_test_setup(stopping_ends_talks_and_waits, start_service),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
