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

static void who_does_not_listen_refuses(void **unused)
{
	struct sockaddr_in here = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof here;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&here, &size), 0);
	uint16_t port = ntohs(here.sin_port);
	assert_int_equal(loopback_connect(AF_INET, port), -ECONNREFUSED);
	assert_int_equal(listen(listener, 1), 0);
	int fd = loopback_connect(AF_INET, port);
	assert_true(fd >= 0);
	close(fd);
	close(listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_not_listen_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
