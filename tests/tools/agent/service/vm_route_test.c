// A port of a virtual machine or of its worker over a WebSocket, its address, and what it says. What stands where qemu
// forwards to its guest is a server of this test, which listens when the machine's monitor is told so: no machine of a
// few bytes speaks TCP.
#include "state/base/time_source.h"
#include "tests/support/listening.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"
#include "tools/agent/vm/qmp.h"
#include "tools/web_socket/relay.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define UPGRADE                                                                  \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13" \
	"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static const struct node_facts node = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static struct ask_runner *mailbox;
static struct agent_service *service;
static int monitor_fd = -1;
static unsigned forwarded; // to which port of the guest
static pthread_t monitor;
static char worker_ports[32];
static const char fine[] = "{\"return\":\"\"}\r\n";
static const char *greeted, *forwards; // what the monitor says then; NULL: nothing, and it hangs up

// The guest: answers what it hears, once.
static void answer_as_guest(int listener)
{
	char text[64];
	int fd = accept(listener, NULL, NULL);
	ssize_t n = fd < 0 ? -1 : recv(fd, text, sizeof text, 0);
	if (n > 0)
		(void)send(fd, text, (size_t)n, MSG_NOSIGNAL);
	if (fd >= 0)
		close(fd);
}

// One talk of the machine's monitor.
static void *run_monitor(void *unused)
{
	static const char greeting[] = "{\"QMP\":{}}\r\n";
	char line[500];
	int listener = -1, fd = accept(monitor_fd, NULL, NULL);
	ssize_t n = fd < 0 ? -1 : send(fd, greeting, strlen(greeting), MSG_NOSIGNAL);
	while (n > 0 && (n = recv(fd, line, sizeof line - 1, 0)) > 0) {
		uint16_t port;
		line[n] = '\0';
		const char *add = strstr(line, "hostfwd_add net0 tcp:127.0.0.1:");
		const char *says = strstr(line, "qmp_capabilities") ? greeted
				   : add                            ? forwards
								    : fine;
		if (says == fine && add &&
			sscanf(add, "hostfwd_add net0 tcp:127.0.0.1:%hu-:%u", &port, &forwarded) ==
				2)
			listener = listen_on_loopback(&port, 1);
		n = says ? send(fd, says, strlen(says), MSG_NOSIGNAL) : 0;
	}
	close(fd);
	if (listener >= 0) {
		answer_as_guest(listener);
		close(listener);
	}
	return NULL;
}

static void open_monitor(const struct alloc_run *a)
{
	struct task_folders folders;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	assert_true(strlen(folders.secrets) + sizeof QMP_SOCKET < sizeof address.sun_path);
	snprintf(address.sun_path, sizeof address.sun_path, "%.98s/" QMP_SOCKET, folders.secrets);
	monitor_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(monitor_fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(monitor_fd, 1), 0);
}

static int set_up(void **unused)
{
	static const char json[] = "{\"name\":\"web\",\"uid\":\"u1\",\"image\":\"mock:web\"}";
	struct agent_service_settings settings = {.time = &time_source_real};
	struct uuid id = {{7}};
	char message[200];
	greeted = forwards = fine;
	stage_open(&node);
	struct alloc_spec *spec = machine_spec_read(
		json, strlen(json), &id, &runner.settings.machines, message, sizeof message);
	assert_non_null(spec);
	runner_add(&runner, &id, 1, 1, spec);
	runner_step(&runner);
	open_monitor(runner_find(&runner, &id));
	settings.data_folder = stage_folder;
	settings.worker_ports = worker_ports;
	settings.ask = mailbox = ask_runner_create();
	return agent_service_start(&settings, &service, message, sizeof message);
}

static int tear_down(void **unused)
{
	ask_runner_close(mailbox);
	agent_service_stop(service);
	ask_runner_destroy(mailbox);
	close(monitor_fd);
	return stage_close();
}

static char text[8192];

// Sends a request and gives the connection; text has the answer until it fits.
static int ask(const char *path, const char *headers, const char *wanted)
{
	int ends[2], size;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(agent_service_take(service, ends[1]), 0);
	size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, headers);
	assert_int_equal(send(ends[0], text, (size_t)size, MSG_NOSIGNAL), size);
	size = 0;
	text[0] = '\0';
	while (!strstr(text, wanted)) {
		struct pollfd polled[] = {{.fd = ends[0], .events = POLLIN},
			{.fd = ask_runner_fd(mailbox), .events = POLLIN}};
		assert_true(poll(polled, 2, 20000) > 0);
		if (polled[1].revents)
			ask_runner_serve(mailbox, &runner);
		if (!polled[0].revents)
			continue;
		ssize_t n = recv(ends[0], text + size, sizeof text - 1 - (size_t)size, 0);
		if (n <= 0)
			fail_msg("\"%s\" without \"%s\"", text, wanted);
		size += (int)n;
		text[size] = '\0';
	}
	return ends[0];
}

// What is said over the WebSocket is said again, once.
static void expect_echo(const char *path)
{
	struct web_socket_message m;
	int fd = ask(path, UPGRADE, "\r\n\r\n");
	assert_int_equal(strncmp(text, "HTTP/1.1 101 ", 13), 0);
	struct web_socket_stream stream = web_socket_stream_of(&fd);
	struct web_socket *client =
		web_socket_open(&stream, true, RELAY_MESSAGE_BYTES_MAX, NULL, 0);
	web_socket_send(client, WEB_SOCKET_BINARY, "are you there", 13);
	for (int messages = 0; !web_socket_is_over(client);) {
		struct pollfd polled = {.fd = fd, .events = web_socket_events(client, true)};
		assert_int_equal(poll(&polled, 1, 20000), 1);
		web_socket_turn(client, polled.revents);
		while (web_socket_receive(client, &m)) {
			assert_int_equal(++messages, 1);
			assert_int_equal(m.opcode, WEB_SOCKET_BINARY);
			assert_int_equal(m.size, 13);
			assert_memory_equal(m.data, "are you there", 13);
		}
		assert_true(messages == 1 || !web_socket_is_over(client));
	}
	web_socket_free(client);
	close(fd);
}

static void bytes_go_to_the_guest_and_back(void **unused)
{
	assert_int_equal(pthread_create(&monitor, NULL, run_monitor, NULL), 0);
	expect_echo("/v1/vms/web/port-forward?port=22");
	pthread_join(monitor, NULL);
	assert_int_equal(forwarded, 22);
}

static void *run_server(void *listener)
{
	answer_as_guest(*(int *)listener);
	return NULL;
}

// A server of this node at a port that may be reached.
static void expect_worker_port(int listener, uint16_t port)
{
	pthread_t server;
	char path[80];
	snprintf(worker_ports, sizeof worker_ports, "1-2,%u", port);
	snprintf(path, sizeof path, "/v1/workers/n/port-forward?port=%u", port);
	assert_int_equal(pthread_create(&server, NULL, run_server, &listener), 0);
	expect_echo(path);
	pthread_join(server, NULL);
	close(listener);
	close(ask(path, UPGRADE, "of this worker: Connection refused\"}"));
	assert_non_null(strstr(text, " 503 "));
}

static void a_port_of_the_worker(void **unused)
{
	uint16_t port = 0;
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t size = sizeof six;
	int listener = listen_on_loopback(&port, 1);
	expect_worker_port(listener, port);
	listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&six, size) < 0)
		return; // this machine has no IPv6
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&six, &size), 0);
	expect_worker_port(listener, ntohs(six.sin6_port));
}

static void ports_of_the_worker_are_refused(void **unused)
{
	static const char refusal[] = "may not be reached: its agent's --worker-ports";
	worker_ports[0] = '\0';
	close(ask("/v1/workers/n/port-forward?port=22", UPGRADE, refusal));
	assert_non_null(strstr(text, " 403 "));
	snprintf(worker_ports, sizeof worker_ports, "21,23-24");
	close(ask("/v1/workers/n/port-forward?port=22", UPGRADE, refusal));
	close(ask("/v1/workers/n/port-forward?port=25", UPGRADE, refusal));
	close(ask("/v1/workers/n/port-forward?port=0", UPGRADE, "port: expected a number"));
	assert_non_null(strstr(text, " 400 "));
}

static void what_is_wrong_is_a_status(void **unused)
{
	static const struct {
		const char *path, *status, *body;
	} rows[] = {
		{"/v1/vms/web/port-forward", " 400 ", "{\"message\":\"port: expected a number"},
		{"/v1/vms/web/port-forward?port=0", " 400 ",
			"port: expected a number from 1 to 65535"},
		{"/v1/vms/web/port-forward?port=65536", " 400 ", "port: expected"},
		{"/v1/vms/web/port-forward?port=22x", " 400 ", "port: expected"},
		{"/v1/vms/web/port-forward?port=22&wait=x", " 400 ", "wait: expected seconds"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		close(ask(rows[i].path, UPGRADE, rows[i].body));
		assert_non_null(strstr(text, rows[i].status));
	}
	assert_int_equal(pthread_create(&monitor, NULL, run_monitor, NULL), 0);
	close(ask("/v1/vms/web/port-forward?port=22", "", "failed to upgrade connection"));
	assert_non_null(strstr(text, " 400 "));
	pthread_join(monitor, NULL); // its connection was closed again
}

static void what_a_monitor_refuses_is_said(void **unused)
{
	static const struct {
		const char *greeted, *forwards, *body;
	} rows[] = {
		{"{\"error\":{\"desc\":\"not now\"}}\r\n", fine,
			"{\"message\":\"the machine's monitor takes no questions\"}"},
		{NULL, fine, "does not answer: the machine has ended"},
		{fine, NULL, "does not answer: the machine has ended"},
		{fine, "{\"return\":\"unrecognized netdev 'net0'\"}\r\n",
			"the machine has no network"},
		{fine, "{\"return\":\"invalid host forwarding rule\\r\\n\"}\r\n",
			"the machine's monitor says: invalid host forwarding rule\"}"},
		{fine, "{\"return\":\"Could not set up host forwarding rule\"}\r\n",
			"the machine's monitor says: Could not set up host forwarding rule\"}"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		greeted = rows[i].greeted;
		forwards = rows[i].forwards;
		assert_int_equal(pthread_create(&monitor, NULL, run_monitor, NULL), 0);
		close(ask("/v1/vms/web/port-forward?port=22", UPGRADE, rows[i].body));
		assert_non_null(strstr(text, " 503 "));
		pthread_join(monitor, NULL);
	}
}

// Whoever asks the runner is told that it does not answer any more.
static void an_agent_that_stops_says_so(void **unused)
{
	static const char *const paths[] = {"/v1/client/gc",
		"/v1/client/allocation/07000000-0000-0000-0000-000000000000/gc",
		"/v1/client/allocation/07000000-0000-0000-0000-000000000000/restart",
		"/v1/client/allocation/07000000-0000-0000-0000-000000000000/stats"};
	ask_runner_close(mailbox);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		close(ask(paths[i], "", "the node's agent stops"));
		assert_non_null(strstr(text, " 503 "));
	}
	close(ask("/v1/client/allocation/07000000-0000-0000-0000-000000000000/exec?task=t&"
		  "command=%5B%22true%22%5D",
		UPGRADE, "the node's agent stops"));
	close(ask("/v1/vms/web/ip", "", "too busy to answer, or stops"));
	assert_non_null(strstr(text, " 503 "));
}

// Whoever waits for a machine does so no longer.
static void an_agent_that_stops_ends_waits(void **unused)
{
	static const char question[] = "GET /v1/vms/none/ip?wait=600 HTTP/1.1\r\nHost: x\r\n\r\n";
	struct pollfd asked = {.fd = ask_runner_fd(mailbox), .events = POLLIN};
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(agent_service_take(service, ends[1]), 0);
	assert_int_equal(send(ends[0], question, strlen(question), MSG_NOSIGNAL), strlen(question));
	assert_int_equal(poll(&asked, 1, 20000), 1);
	ask_runner_serve(mailbox, &runner);
	agent_service_stop(service);
	service = NULL;
	ssize_t n = recv(ends[0], text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	assert_true(n == 0 || strstr(text, " 503 "));
	close(ends[0]);
}

// What the monitor says to "info network" is what it says of all that is fine: nothing.
static void a_machine_without_an_address(void **unused)
{
	assert_int_equal(pthread_create(&monitor, NULL, run_monitor, NULL), 0);
	close(ask("/v1/vms/web/ip", "", "{\"message\":\"the machine has no network"));
	assert_non_null(strstr(text, " 503 "));
	pthread_join(monitor, NULL);
	close(ask("/v1/vms/none/ip?wait=1", "", "does not run on its worker"));
	assert_non_null(strstr(text, " 408 "));
	close(ask("/v1/vms/web/ip?uid=other", "", "does not run on its worker"));
	close(ask("/v1/vms/web/ip?wait=-1", "", "wait: expected seconds"));
	assert_non_null(strstr(text, " 400 "));
}

static void say_on_console(const char *lines, const char *mode)
{
	char path[600], id[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%s/alloc/%s/alloc/logs/machine.stdout.0", stage_folder,
		uuid_format(&runner.allocs->id, id));
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	fputs(lines, file);
	fclose(file);
}

static void hear(int fd, const char *wanted)
{
	size_t size = strlen(text);
	while (!strstr(text, wanted)) {
		struct pollfd polled = {.fd = fd, .events = POLLIN};
		assert_int_equal(poll(&polled, 1, 20000), 1);
		ssize_t n = recv(fd, text + size, sizeof text - 1 - size, 0);
		if (n <= 0)
			fail_msg("\"%s\" without \"%s\"", text, wanted);
		size += (size_t)n;
		text[size] = '\0';
	}
}

static void what_a_machine_says_is_followed(void **unused)
{
	say_on_console("booting\nlogin: ", "w");
	close(ask("/v1/vms/web/logs?plain=1", "", "booting\nlogin: "));
	assert_non_null(strstr(text, " 200 "));
	close(ask("/v1/vms/web/logs?plain=1&origin=end&offset=7", "", "login: "));
	assert_null(strstr(text, "boot"));
	close(ask("/v1/vms/web/logs?uid=u1", "", "\"Data\":\"Ym9vdGluZwpsb2dpbjog\""));

	int fd = ask("/v1/vms/web/logs?plain=true&follow=true", "", "login: ");
	say_on_console("root\n", "a");
	hear(fd, "root\n");
	// It ends with the machine and its folder.
	runner_forget_machines(&runner);
	for (int i = 0; i < 100 && runner.allocs; i++)
		stage_pass_ms(1000);
	hear(fd, "\r\n0\r\n");
	close(fd);
	close(ask(
		"/v1/vms/web/logs", "", "{\"message\":\"the virtual machine \\\"web\\\" has not"));
	assert_non_null(strstr(text, " 404 "));
	// What it said last is still there, and of no other machine.
	close(ask("/v1/vms/web/logs?plain=1&follow=1&uid=u1", "", "login: root\n\r\n0\r\n"));
	close(ask("/v1/vms/web/logs?uid=u2", "", "has not begun"));
}

static void a_console_that_cannot_be_read_is_told(void **unused)
{
	char logs[600], aside[610], id[UUID_TEXT_BYTES];
	snprintf(logs, sizeof logs, "%s/alloc/%s/alloc/logs", stage_folder,
		uuid_format(&runner.allocs->id, id));
	snprintf(aside, sizeof aside, "%s.aside", logs);
	assert_int_equal(rename(logs, aside), 0);
	int fd = open(logs, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && close(fd) == 0);
	close(ask("/v1/vms/web/logs", "",
		"what the virtual machine said cannot be read: Not a directory"));
	assert_non_null(strstr(text, " 503 "));
}

static void a_console_is_asked_for_in_words(void **unused)
{
	static const struct {
		const char *path, *body;
	} rows[] = {
		{"/v1/vms/web/logs?follow=x", "follow and plain: expected true or false"},
		{"/v1/vms/web/logs?offset=-1", "offset: expected a number of bytes"},
		{"/v1/vms/web/logs?offset=1x", "offset: expected a number of bytes"},
		{"/v1/vms/web/logs?origin=middle", "origin: expected start or end"},
		{"/v1/vms/web/logs?wait=x", "wait: expected seconds"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		close(ask(rows[i].path, "", rows[i].body));
		assert_non_null(strstr(text, " 400 "));
	}
	close(ask("/v1/vms/web/logs?uid=other", "", "has not begun on its worker"));
	assert_non_null(strstr(text, " 404 "));
}

static void a_machine_that_is_over(void **unused)
{
	close(ask("/v1/vms/none/port-forward?port=22&wait=1", UPGRADE,
		"{\"message\":\"the virtual machine \\\"none\\\" does not run on its worker\"}"));
	assert_non_null(strstr(text, " 408 "));
	runner_stop_all(&runner);
	for (int i = 0; i < 100 && !runner_is_idle(&runner); i++)
		stage_pass_ms(1000);
	close(ask("/v1/vms/web/port-forward?port=22", UPGRADE,
		"the virtual machine \\\"web\\\" does not run"));
	assert_non_null(strstr(text, " 408 "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bytes_go_to_the_guest_and_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_port_of_the_worker, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ports_of_the_worker_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_a_status, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_monitor_refuses_is_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_agent_that_stops_says_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_agent_that_stops_ends_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_console_that_cannot_be_read_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_machine_without_an_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_machine_says_is_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_console_is_asked_for_in_words, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_machine_that_is_over, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
