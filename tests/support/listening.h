// For tests with a server of their own.
#pragma once
#include "state/base/check.h"
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

// A socket that listens on the loopback at this port, or, if it is 0, at one that nobody has, which it becomes.
static inline int listen_on_loopback(uint16_t *port, int backlog)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)},
		.sin_port = htons(*port)};
	socklen_t size = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, backlog) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
	*port = ntohs(at.sin_port);
	return fd;
}
