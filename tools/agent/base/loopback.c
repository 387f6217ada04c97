#include "tools/agent/base/loopback.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int connect_blocking(int fd, int family, uint16_t port)
{
	const struct sockaddr_in four = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = htons(port)};
	const struct sockaddr_in6 six = {.sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
		.sin6_port = htons(port)};
	return family == AF_INET ? connect(fd, (const struct sockaddr *)&four, sizeof four)
				 : connect(fd, (const struct sockaddr *)&six, sizeof six);
}

int loopback_connect(int family, uint16_t port, uint32_t wait_ms)
{
	const struct timeval longest = {wait_ms / 1000, wait_ms % 1000 * 1000};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest) == 0 &&
		connect_blocking(fd, family, port) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	int error = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	if (fd >= 0)
		close(fd);
	return error;
}
