#include "tests/tools/agent/check/listener.h"
#include "tests/support/listening.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static pthread_t thread;

// A request is over with its head, and with the body that the head promises.
static int is_whole(const char *request)
{
	const char *end = strstr(request, "\r\n\r\n");
	const char *length = strcasestr(request, "content-length:");
	return end && strlen(end + 4) >= (length ? strtoul(length + 15, NULL, 10) : 0);
}

static void serve(struct listener *l, int client)
{
	size_t size = 0;
	const char *answer = atomic_load(&l->answer);
	ssize_t n;
	l->request[0] = '\0';
	while (!is_whole(l->request) &&
		(n = read(client, l->request + size, sizeof l->request - 1 - size)) > 0) {
		size += (size_t)n;
		l->request[size] = '\0';
	}
	if (size == 0)
		return; // it only connected
	atomic_fetch_add(&l->requests, 1);
	if (!answer) // until the other side gives up
		while (read(client, &(char){0}, 1) > 0)
			;
	else if (write(client, answer, strlen(answer)) < 0)
		abort();
}

static void *listen_on(void *context)
{
	struct listener *l = context;
	for (int client; (client = accept(l->fd, NULL, NULL)) >= 0;) {
		serve(l, client);
		close(client);
	}
	return NULL;
}

void listener_open(struct listener *l, const char *answer)
{
	*l = (struct listener){.port = 0};
	l->fd = listen_on_loopback(&l->port, 256);
	atomic_store(&l->answer, answer);
	assert_int_equal(pthread_create(&thread, NULL, listen_on, l), 0);
}

void listener_close(struct listener *l)
{
	shutdown(l->fd, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(l->fd);
}

uint32_t listener_awaited(int checks_fd)
{
	char path[64], line[300];
	uint32_t watched = 0;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", checks_fd);
	FILE *info = fopen(path, "re");
	assert_non_null(info);
	while (fgets(line, sizeof line, info))
		watched += strncmp(line, "tfd:", 4) == 0;
	fclose(info);
	assert_true(watched > 0);
	return watched - 1; // what wakes it is always watched
}
