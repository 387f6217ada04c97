#include "tests/tools/berth/inside/inside.h"
#include "tests/tools/agent/service/exec_agent.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

unsigned inside_port;
static pthread_t thread;
static int listener, stop_fd;

// The agent's main thread, and whoever brings it connections.
static void *run_agent(void *unused)
{
	struct pollfd polled[] = {{.fd = stop_fd, .events = POLLIN},
		{.fd = listener, .events = POLLIN},
		{.fd = ask_runner_fd(mailbox), .events = POLLIN}};
	while (poll(polled, 3, -1) > 0 && !polled[0].revents) {
		int fd = polled[1].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
		if (fd >= 0)
			(void)agent_service_take(service, fd);
		if (polled[2].revents)
			exec_agent_serve();
	}
	return NULL;
}

int inside_start(const struct service_route *routes)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof address;
	if (exec_agent_open(routes, false))
		return -1;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	stop_fd = eventfd(0, EFD_CLOEXEC);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
		listen(listener, 16) < 0 ||
		getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		return -1;
	inside_port = ntohs(address.sin_port);
	run_begin(inside_port);
	return pthread_create(&thread, NULL, run_agent, NULL);
}

int inside_stop(void)
{
	eventfd_write(stop_fd, 1);
	pthread_join(thread, NULL);
	close(listener);
	close(stop_fd);
	run_end();
	return exec_agent_close();
}

int inside_shell(const char *line, char *text, size_t size)
{
	char whole[1000], shell[] = "sh", option[] = "-c", path[128];
	int status;
	pid_t pid;
	snprintf(path, sizeof path, "%s/printed", run_folder());
	snprintf(whole, sizeof whole,
		"exec >%s; PATH=%s:$PATH BERTH_ADDR=http://127.0.0.1:%u; export PATH BERTH_ADDR; "
		"%s",
		path, run_folder(), inside_port, line);
	char *words[] = {shell, option, whole, NULL};
	assert_int_equal(posix_spawnp(&pid, shell, NULL, NULL, words, environ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, size - 1);
	close(fd);
	assert_true(n >= 0);
	text[n] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
