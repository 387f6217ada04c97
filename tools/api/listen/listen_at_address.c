#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "tools/api/listen/listening.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define LISTEN_BACKLOG 1024

static int bind_address(const struct addrinfo *where, const char **what)
{
	*what = "open a socket for";
	int fd = CAN_FAIL(HTTP_SOCKET,
		socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return -errno;
	int on = 1;
	*what = "listen on";
	int error = CAN_FAIL(HTTP_OPTION, setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on))
			    ? -errno
			    : 0;
	if (error == 0 && CAN_FAIL(HTTP_BIND, bind(fd, where->ai_addr, where->ai_addrlen)) != 0)
		error = -errno;
	if (error == 0 && CAN_FAIL(HTTP_LISTEN, listen(fd, LISTEN_BACKLOG)) != 0)
		error = -errno;
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

int listen_at_address(const char *setting, const char *address, uint16_t port, char *message,
	uint32_t message_size)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *where = NULL;
	const char *what;
	char text[8];
	snprintf(text, sizeof text, "%u", port);
	int error = getaddrinfo(address, text, &hints, &where);
	if (error != 0) {
		snprintf(message, message_size,
			"%s: \"%s\" is no address of this machine: %s; write it like 127.0.0.1 "
			"or ::1",
			setting, address, gai_strerror(error));
		return -EINVAL;
	}
	int fd = bind_address(where, &what);
	freeaddrinfo(where);
	if (fd < 0)
		snprintf(message, message_size,
			"%s: cannot %s %s:%u: %s; see who holds the port with \"ss -ltnp\", or "
			"set another %s address or port",
			setting, what, address, port, error_text(fd), setting);
	return fd;
}
