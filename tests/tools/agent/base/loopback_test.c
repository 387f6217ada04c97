// Connections to servers of this machine.
#include "tools/agent/base/loopback.h"
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

// A port that is taken, for who listens there from now on or does not.
static int take_port(uint16_t *port)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof here;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&here, &size), 0);
	*port = ntohs(here.sin_port);
	return listener;
}

static void who_does_not_listen_refuses(void **unused)
{
	uint16_t port;
	int listener = take_port(&port);

	assert_int_equal(loopback_connect(AF_INET, port, LOOPBACK_WAIT_MS), -ECONNREFUSED);
	assert_int_equal(listen(listener, 1), 0);
	int fd = loopback_connect(AF_INET, port, LOOPBACK_WAIT_MS);
	assert_true(fd >= 0);
	close(fd);
	close(listener);
}

// The kernel takes as many connections as may wait for it, and leaves the next without an answer.
static void who_does_not_accept_is_not_waited_for(void **unused)
{
	uint16_t port;
	int fds[4], listener = take_port(&port);
	uint32_t count = 0;

	assert_int_equal(listen(listener, 0), 0);
	while (count < 4 && (fds[count] = loopback_connect(AF_INET, port, 5)) >= 0)
		count++;
	assert_true(count < 4);
	assert_int_equal(fds[count], -ETIMEDOUT);
	while (count > 0)
		close(fds[--count]);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_not_listen_refuses),
		cmocka_unit_test(who_does_not_accept_is_not_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
