// berth vm port-forward, ssh, exec and logs as people type them. The machine's port is a server of this test, and ssh a
// script that says how it was called and talks over the way that it was given.
#include "state/base/memory.h"
#include "tests/tools/berth/inside/inside.h"
#include "tools/agent/service/service_socket.h"
#include "tools/web_socket/relay.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char text[4096];
static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;
static char asked[200]; // of a console, under the lock

static struct MHD_Response *say_machines(struct service_request *request, unsigned *status)
{
	return service_say(status, 200,
		"[{\"name\":\"web\"},{\"name\":\"db\"},{\"name\":\"new\"},{\"name\":\"again\"}]");
}

static struct MHD_Response *say_workers(struct service_request *request, unsigned *status)
{
	return service_say(status, 200, "[{\"name\":\"rack-1\"}]");
}

static atomic_int consoles; // that were asked for of "again", which begins anew after the first

static struct MHD_Response *say_again(struct service_request *request, unsigned *status)
{
	return service_say(status, 200,
		"{\"name\":\"again\",\"uid\":\"u-1\",\"status\":\"%s\",\"powerState\":\"running\","
		"\"restart_policy\":\"%s\",\"restart_count\":%d}",
		consoles == 2 ? "failed" : "running", consoles == 2 ? "Never" : "OnFailure",
		consoles > 0);
}

static struct MHD_Response *say_machine(struct service_request *request, unsigned *status)
{
	if (strcmp(request->id, "again") == 0)
		return say_again(request, status);
	return service_say(status, 200, "{\"name\":\"%s\",\"uid\":\"u-1\"%s}", request->id,
		strcmp(request->id, "web") == 0 ? ",\"username\":\"ubuntu\""
		: strcmp(request->id, "new") == 0
			? ",\"status\":\"pending\",\"powerState\":\"running\""
			: "");
}

static struct MHD_Response *say_events(struct service_request *request, unsigned *status)
{
	return service_say(status, 200,
		strcmp(request->id, "new") == 0
			? "[]"
			: "[{\"kind\":\"lifecycle\",\"timestamp\":1,\"payload\":\"VM created\"},"
			  "{\"kind\":\"log_line\",\"timestamp\":2,\"payload\":\"hello\"},"
			  "{\"kind\":\"log_line\",\"timestamp\":3,\"payload\":\"world\"}]");
}

// "one\ntwo\nthree\n", or nothing of a machine whose worker is kept by hand.
static struct MHD_Response *say_console(struct service_request *request, unsigned *status)
{
	static const char frame[] = "{\"Data\":\"b25lCnR3bwp0aHJlZQo=\",\"File\":\"alloc/logs/"
				    "machine.stdout.0\",\"Offset\":14}";
	if (strcmp(request->id, "db") == 0)
		return service_say(status, 503, "{\"message\":\"the worker is kept by hand\"}");
	consoles += strcmp(request->id, "again") == 0;
	pthread_mutex_lock(&asked_lock);
	snprintf(asked, sizeof asked, "follow=%s origin=%s offset=%s wait=%s",
		service_parameter(request, "follow"), service_parameter(request, "origin"),
		service_parameter(request, "offset"), service_parameter(request, "wait"));
	pthread_mutex_unlock(&asked_lock);
	return service_say(status, 200, "%s", frame);
}

static void expect_asked(const char *expected)
{
	pthread_mutex_lock(&asked_lock);
	assert_string_equal(asked, expected);
	pthread_mutex_unlock(&asked_lock);
}

static struct MHD_Response *say_address(struct service_request *request, unsigned *status)
{
	if (strcmp(request->id, "db") == 0)
		return service_say(
			status, 408, "{\"message\":\"VM is not running on 'w' worker\"}");
	return service_say(status, 200, "{\"ip\":\"10.0.2.15\"}");
}

struct port {
	char greeting[200];
};

static void port_free(void *context)
{
	free(context);
}

// Says what was asked for, then says everything again that it hears.
static void talk_as_port(void *context, struct web_socket *socket,
	const struct web_socket_stream *stream, int stop_fd)
{
	struct port *p = context;
	struct web_socket_message m;
	web_socket_send(socket, WEB_SOCKET_BINARY, p->greeting, strlen(p->greeting));
	while (!web_socket_is_over(socket)) {
		struct pollfd polled[] = {
			{.fd = stream->fd, .events = web_socket_events(socket, true)},
			{.fd = stop_fd, .events = POLLIN}};
		if (poll(polled, 2, 20000) <= 0 || polled[1].revents)
			return;
		web_socket_turn(socket, polled[0].revents);
		while (web_socket_receive(socket, &m))
			web_socket_send(socket, WEB_SOCKET_BINARY, m.data, m.size);
	}
}

static struct MHD_Response *forward(struct service_request *request, unsigned *status)
{
	if (strcmp(request->id, "db") == 0)
		return service_say(status, 503, "{\"message\":\"the machine has no network\"}");
	struct port *p = memory_take(sizeof *p);
	snprintf(p->greeting, sizeof p->greeting, "%s:%s wait=%s\n", request->id,
		service_parameter(request, "port"), service_parameter(request, "wait"));
	struct service_socket_start start = {talk_as_port, p, port_free, RELAY_MESSAGE_BYTES_MAX};
	return service_socket_begin(request, status, &start);
}

// Hangs up as soon as it is asked.
static void talk_no_more(void *context, struct web_socket *socket,
	const struct web_socket_stream *stream, int stop_fd)
{
}

static struct MHD_Response *break_off(struct service_request *request, unsigned *status)
{
	struct service_socket_start start = {
		talk_no_more, memory_take(1), port_free, RELAY_MESSAGE_BYTES_MAX};
	return service_socket_begin(request, status, &start);
}

static const struct service_route routes[] = {
	{NULL, "/v1/client/allocation/:id/exec", break_off},
	{NULL, "/v1/vms", say_machines},
	{NULL, "/v1/vms/:id", say_machine},
	{NULL, "/v1/vms/:id/events", say_events},
	{NULL, "/v1/vms/:id/ip", say_address},
	{NULL, "/v1/vms/:id/logs", say_console},
	{NULL, "/v1/vms/:id/port-forward", forward},
	{NULL, "/v1/workers", say_workers},
	{NULL, "/v1/workers/:id/port-forward", forward},
	{NULL, NULL, NULL},
};

static int set_up(void **unused)
{
	static const char ssh[] = "#!/bin/sh\n"
				  "for word; do echo \"[$word]\"; case $word in ProxyCommand=*) "
				  "way=${word#*=} ;; esac; done\n"
				  "echo again | $way | head -2\n"
				  "exit 9\n";
	char path[200];
	if (inside_start(routes))
		return -1;
	run_write("ssh", ssh);
	snprintf(path, sizeof path, "%s/ssh", run_folder());
	return chmod(path, 0755);
}

static int tear_down(void **unused)
{
	return inside_stop();
}

static void the_lines_of_a_machine(void **unused)
{
	expect_run("vm logs web", 0, "", "");
	assert_string_equal(run.out, "hello\nworld\none\ntwo\nthree\n");
	expect_asked("follow=false origin=start offset=0 wait=0");
	expect_run("vm logs --tail -n 1 web", 0, "", "");
	assert_string_equal(run.out, "world\nthree\n");
	expect_asked("follow=false origin=end offset=1024 wait=0");
	expect_run("vm logs db", 0, "", "");
	assert_string_equal(run.out, "hello\nworld\n");
	expect_run("vm logs -f db", 4, "", "the worker is kept by hand");
	expect_run("vm logs --json web", 0, "\"VM created\"", "");
	expect_run("vm logs -n none web", 2, "", "lines");
}

static void who_waits_says_so(void **unused)
{
	expect_run("vm logs -f --wait 7 new", 0, "", "");
	assert_string_equal(run.out, "one\ntwo\nthree\n");
	expect_asked("follow=true origin=start offset=0 wait=7");
	assert_string_equal(run.error,
		"berth: the machine \"new\" does not run yet: waiting up to 7 "
		"seconds (--wait)\nberth: the machine \"new\" has ended there\n");
	expect_run("vm ip new", 0, "10.0.2.15\n", "waiting up to 60 seconds (--wait)");
	expect_run("vm ip web", 0, "10.0.2.15\n", "");
	assert_string_equal(run.error, "");
	expect_run("vm ip --wait 0 new", 0, "10.0.2.15\n", "");
	assert_string_equal(run.error, "");
	expect_run("vm ip db", 4, "", "VM is not running on 'w' worker");
	expect_run("vm ip --wait long web", 2, "", "wait");
	assert_int_equal(inside_shell("echo | " BERTH_PROGRAM
				      " vm port-forward --wait 5 --stdio new 80 2>&1 | head -1",
				 text, sizeof text),
		0);
	assert_non_null(strstr(text, "waiting up to 5 seconds"));
}

static void one_that_begins_anew_is_followed_on(void **unused)
{
	expect_run("vm logs -f --tail -n 1 again", 0, "world\n", "");
	// The last line of the first run, and all of the second.
	assert_non_null(strstr(run.out, "world\nthree\none\ntwo\nthree\n"));
	expect_asked("follow=true origin=start offset=0 wait=60");
	assert_string_equal(run.error, "berth: the machine \"again\" begins anew\n"
				       "berth: the machine \"again\" has ended there\n");
	assert_int_equal(consoles, 2);
}

static void one_connection_over_pipes(void **unused)
{
	assert_int_equal(inside_shell("(echo one; sleep 0.2; echo two) | " BERTH_PROGRAM
				      " vm port-forward --wait 5 --stdio web 80 | head -3",
				 text, sizeof text),
		0);
	assert_string_equal(text, "web:80 wait=5\none\ntwo\n");
	expect_run("vm port-forward --stdio db 80", 4, "", "the machine has no network");
	assert_int_equal(inside_shell("echo one | " BERTH_PROGRAM
				      " worker port-forward --stdio rack-1 80 | head -2",
				 text, sizeof text),
		0);
	assert_string_equal(text, "rack-1:80 wait=60\none\n");
	expect_run("worker port-forward rack-1 0", 2, "", "\"0\" is not [LOCAL:]PORT");
	expect_run("vm port-forward web 0", 2, "", "\"0\" is not [LOCAL:]PORT");
	expect_run("vm port-forward web 1:2:3", 2, "", "is not [LOCAL:]PORT");
	expect_run("vm port-forward web 65536", 2, "", "is not [LOCAL:]PORT");
}

static bool try_to_connect(int fd, unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = htons((uint16_t)port)};
	return connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

static int connect_to(unsigned port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(try_to_connect(fd, port));
	return fd;
}

static void expect_text(int fd, const char *wanted)
{
	size_t size = 0;
	while (size < strlen(wanted)) {
		assert_true(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 20000) == 1);
		ssize_t n = read(fd, text + size, sizeof text - 1 - size);
		assert_true(n > 0);
		size += (size_t)n;
	}
	text[size] = '\0';
	assert_string_equal(text, wanted);
}

// berth that listens for port 8080 of the machine. Gives what it prints, and its port.
static pid_t begin_forwarding(int *printed, unsigned *port)
{
	int out[2];
	char address[64];
	pid_t pid;
	assert_int_equal(pipe(out), 0);
	snprintf(address, sizeof address, "BERTH_ADDR=http://127.0.0.1:%u", inside_port);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, out[1], 2);
	char program[] = BERTH_PROGRAM,
	     *words[] = {program, (char[]){"vm"}, (char[]){"port-forward"}, (char[]){"web"},
		     (char[]){":8080"}, NULL};
	char *environment[] = {address, NULL};
	assert_int_equal(posix_spawn(&pid, BERTH_PROGRAM, &actions, NULL, words, environment), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	text[0] = '\0';
	for (size_t size = 0; !strchr(text, '\n');) {
		ssize_t n = read(out[0], text + size, sizeof text - 1 - size);
		assert_true(n > 0);
		size += (size_t)n;
		text[size] = '\0';
	}
	assert_int_equal(sscanf(text, "127.0.0.1:%u is port 8080 of \"web\"", port), 1);
	*printed = out[0];
	return pid;
}

// Several at once, each with a way of its own.
static void a_port_of_the_loopback(void **unused)
{
	int printed, fds[3];
	unsigned port;
	pid_t pid = begin_forwarding(&printed, &port);
	for (int i = 0; i < 3; i++) {
		fds[i] = connect_to(port);
		expect_text(fds[i], "web:8080 wait=60\n");
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write(fds[i], "hi", 2), 2);
		expect_text(fds[i], "hi");
		close(fds[i]);
	}
	kill(pid, SIGTERM); // SIGINT may be ignored where the tests run
	waitpid(pid, NULL, 0);
	close(printed);
}

static void more_connections_than_files(void **unused)
{
	const struct rlimit none_more = {3, 3};
	int printed, status;
	unsigned port;
	pid_t pid = begin_forwarding(&printed, &port);
	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, &none_more, NULL), 0);
	// Who waits for a connection has a descriptor for it already, and misses the next one; who does not wait yet
	// has ended by now, maybe.
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)try_to_connect(fd, port);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	ssize_t n = read(printed, text, sizeof text - 1);
	assert_true(n > 0);
	if (status != 0x100)
		fail_msg("it ended with %#x: %.*s", (unsigned)status, (int)n, text);
	text[n] = '\0';
	assert_non_null(strstr(text, "no connection to port 8080 of \"web\" can be taken any more: "
				     "Too many open files"));
	close(fd);
	close(printed);
}

static void what_breaks_off_or_is_missing_is_told(void **unused)
{
	expect_run("alloc exec --task t 7f1e9c1a-52f4-4f0e-9d39-1c07b6c4a0de true", 5, "",
		"the connection broke off; the command was ended");
	assert_int_equal(
		inside_shell("PATH=/nowhere " BERTH_PROGRAM " vm ssh web 2>&1", text, sizeof text),
		1);
	assert_non_null(strstr(text, "cannot run ssh: No such file or directory; install"));
}

static void ssh_goes_over_a_port(void **unused)
{
	char wanted[1000];
	assert_int_equal(inside_shell(BERTH_PROGRAM " vm ssh web", text, sizeof text), 9);
	snprintf(wanted, sizeof wanted,
		"[-o]\n[ProxyCommand=%s vm port-forward --stdio --wait=60 web 22]\n[-o]\n"
		"[HostKeyAlias=berth-vm-u-1]\n[-o]\n[StrictHostKeyChecking=accept-new]\n[-l]\n["
		"ubuntu]\n[--]\n"
		"[web]\nweb:22 wait=60\nagain\n",
		BERTH_PROGRAM);
	assert_string_equal(text, wanted);
	assert_int_equal(inside_shell(BERTH_PROGRAM " vm ssh --user root --wait 5 -t web uname -a",
				 text, sizeof text),
		9);
	assert_non_null(
		strstr(text, "[-l]\n[root]\n[-tt]\n[--]\n[web]\n['uname' '-a']\nweb:22 wait=5\n"));
}

static void a_command_keeps_its_words(void **unused)
{
	assert_int_equal(inside_shell(BERTH_PROGRAM
				 " vm exec -i=false web -- sh -c 'echo \"it'\\''s\" $HOME'",
				 text, sizeof text),
		9);
	assert_non_null(strstr(
		text, "[ubuntu]\n[-nT]\n[--]\n[web]\n['sh' '-c' 'echo \"it'\\''s\" $HOME']\n"));
	assert_int_equal(inside_shell(BERTH_PROGRAM " vm exec db ls", text, sizeof text), 9);
	assert_non_null(strstr(text, "[admin]\n[-T]\n[--]\n[db]\n['ls']\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lines_of_a_machine),
		cmocka_unit_test(who_waits_says_so),
		cmocka_unit_test(one_that_begins_anew_is_followed_on),
		cmocka_unit_test(one_connection_over_pipes),
		cmocka_unit_test(a_port_of_the_loopback),
		cmocka_unit_test(more_connections_than_files),
		cmocka_unit_test(what_breaks_off_or_is_missing_is_told),
		cmocka_unit_test(ssh_goes_over_a_port),
		cmocka_unit_test(a_command_keeps_its_words),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
