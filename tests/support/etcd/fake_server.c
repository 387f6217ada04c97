#include "tests/support/etcd/fake_server.h"
#include "tests/support/etcd/etcd_server.h"
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUEST_BYTES_MAX (256u * 1024)

// Whether a request with its body is whole.
static bool request_is_whole(const char *text, size_t size)
{
	const char *end = memmem(text, size, "\r\n\r\n", 4);
	const char *length = strcasestr(text, "content-length:");
	if (!end || !length)
		return end != NULL;
	return size >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10);
}

// Who asks before it sends the body waits a second for the answer.
static void let_go_on(int fd, const char *text, size_t size)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	const char *end = memmem(text, size, "\r\n\r\n", 4);
	if (end && end + 4 == text + size && strcasestr(text, "expect: 100-continue"))
		(void)send(fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL); // it may have gone
}

// False when the other side is done.
static bool request_read(int fd, char *text)
{
	size_t size = 0;
	while (!request_is_whole(text, size)) {
		ssize_t got = recv(fd, text + size, REQUEST_BYTES_MAX - 1 - size, 0);
		if (got <= 0)
			return false;
		size += (size_t)got;
		text[size] = 0;
		let_go_on(fd, text, size);
	}
	return true;
}

// A process that was stopped for a moment has sent a part.
static bool answer_send(int fd, const char *answer, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, answer, size, MSG_NOSIGNAL);
		if (sent < 0)
			return false;
		answer += sent;
		size -= (size_t)sent;
	}
	return true;
}

static void connection_serve(struct fake_server *s, int fd, char *text)
{
	text[0] = 0;
	while (request_read(fd, text)) {
		size_t size = 0;
		const char *answer = s->answer(s->context, s->requests++, &size);
		if (!answer || !answer_send(fd, answer, size))
			return;
		text[0] = 0;
	}
}

static void *fake_server_thread(void *context)
{
	struct fake_server *s = context;
	char *text = malloc(REQUEST_BYTES_MAX);
	for (int fd; (fd = accept(s->listener, NULL, NULL)) >= 0; close(fd))
		connection_serve(s, fd, text);
	free(text);
	return NULL;
}

void fake_server_start(struct fake_server *s)
{
	uint16_t port;
	s->listener = listen_anywhere(&port);
	s->requests = 0;
	snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", port);
	assert_int_equal(pthread_create(&s->thread, NULL, fake_server_thread, s), 0);
}

void fake_server_stop(struct fake_server *s)
{
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->listener);
}
