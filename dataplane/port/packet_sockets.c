#include "dataplane/port/packet_sockets.h"
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

static bool is_packet_socket(int fd)
{
	int domain;
	socklen_t size = sizeof domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
	       (domain == AF_PACKET || domain == AF_XDP);
}

static bool is_known(const struct packet_sockets *s, int fd)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->fds[i] == fd)
			return true;
	return false;
}

// The kernel gives the lowest number that is free, so of sockets that were opened one after the other the first is the
// lowest.
static int lowest_unknown(const struct packet_sockets *s)
{
	DIR *folder = opendir("/proc/self/fd");
	int lowest = INT_MAX;

	if (folder == NULL)
		return -1;
	for (const struct dirent *d; (d = readdir(folder)) != NULL;) {
		char *end;
		long fd = strtol(d->d_name, &end, 10);
		if (*end == '\0' && fd < lowest && is_packet_socket((int)fd) &&
			!is_known(s, (int)fd))
			lowest = (int)fd;
	}
	closedir(folder);
	return lowest == INT_MAX ? -1 : lowest;
}

int packet_sockets_take(struct packet_sockets *s)
{
	int fd = s->count < PACKET_SOCKETS_MAX ? lowest_unknown(s) : -1;

	if (fd >= 0)
		s->fds[s->count++] = fd;
	return fd;
}

void packet_sockets_begin(struct packet_sockets *s)
{
	s->count = 0;
	while (packet_sockets_take(s) >= 0)
		;
}
