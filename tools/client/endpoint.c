#include "tools/client/endpoint.h"
#include "dataplane/wire/wire.h"
#include "state/base/failpoint/failpoint.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Splits in place. A bare IPv6 address has more than one colon and no port.
static bool split_endpoint(char *text, const char **host, const char **port)
{
	*host = text;
	*port = NULL;
	char *colon = strrchr(text, ':');
	if (*text == '[') {
		char *end = strchr(text, ']');
		if (!end || (end[1] != '\0' && end[1] != ':'))
			return false;
		*host = text + 1;
		*port = end[1] == ':' ? end + 2 : NULL;
		*end = '\0';
	} else if (colon && strchr(text, ':') == colon) {
		*colon = '\0';
		*port = colon + 1;
	}
	return **host != '\0' && (!*port || **port != '\0');
}

static int resolve(const char *text, const char *port_default, int flags,
	struct sockaddr_storage *address, socklen_t *size, char *message, uint32_t message_size)
{
	char copy[300];
	const char *host, *port;
	int length = snprintf(copy, sizeof copy, "%s", text);
	if (length < 0 || (size_t)length >= sizeof copy || !split_endpoint(copy, &host, &port)) {
		snprintf(message, message_size,
			"\"%.64s\" is not an address: write HOST, HOST:PORT or [IPv6]:PORT", text);
		return -EINVAL;
	}
	struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = flags}, *found;
	int rc = getaddrinfo(host, port ? port : port_default, &hints, &found);
	if (rc != 0) {
		snprintf(message, message_size, "cannot resolve \"%.64s\": %s", text,
			rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
		return -EHOSTUNREACH;
	}
	memcpy(address, found->ai_addr, found->ai_addrlen);
	*size = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

int endpoint_resolve(const char *text, struct sockaddr_storage *address, socklen_t *size,
	char *message, uint32_t message_size)
{
	char port[8];
	snprintf(port, sizeof port, "%u", WIRE_PORT);
	return resolve(text, port, 0, address, size, message, message_size);
}

static int bind_to(int fd, const char *source, char *message, uint32_t message_size)
{
	struct sockaddr_storage address;
	socklen_t size;
	int rc = resolve(source, "0", AI_PASSIVE, &address, &size, message, message_size);
	if (rc < 0)
		return rc;
	if (CAN_FAIL(BEAT_BIND, bind(fd, (struct sockaddr *)&address, size)) < 0) {
		rc = -errno;
		snprintf(
			message, message_size, "cannot send from %.64s: %s", source, strerror(-rc));
		return rc;
	}
	return 0;
}

int endpoint_connect(const char *server, const char *source, char *message, uint32_t message_size)
{
	struct sockaddr_storage address;
	socklen_t size;
	int rc = endpoint_resolve(server, &address, &size, message, message_size);
	if (rc < 0)
		return rc;
	int fd = CAN_FAIL(BEAT_SOCKET,
		socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0) {
		rc = -errno;
		snprintf(message, message_size, "cannot open a UDP socket: %s", strerror(-rc));
		return rc;
	}
	if (source)
		rc = bind_to(fd, source, message, message_size);
	if (rc == 0 && CAN_FAIL(BEAT_CONNECT, connect(fd, (struct sockaddr *)&address, size)) < 0) {
		rc = -errno;
		snprintf(message, message_size, "cannot reach %.64s: %s", server, strerror(-rc));
	}
	if (rc < 0) {
		close(fd);
		return rc;
	}
	return fd;
}
