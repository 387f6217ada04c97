#include "tests/tools/agent/exec/scripted_engine.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static int listener;
static pthread_t engine_thread;
static struct sockaddr_un address;
static const struct engine_answer *answers; // set while nobody asks
static char requests[4096];                 // the engine's until it is joined
static bool was_given[ENGINE_ANSWERS_MAX];  // so is this

static bool reads_request(int fd, char *text, size_t size)
{
	size_t at = 0;
	const char *body, *length;
	do {
		ssize_t n = recv(fd, text + at, size - 1 - at, 0);
		if (n <= 0)
			return false;
		at += (size_t)n;
		text[at] = '\0';
		body = strstr(text, "\r\n\r\n");
		length = strstr(text, "Content-Length: ");
	} while (!body || (length && strlen(body + 4) < strtoul(length + 16, NULL, 10)));
	return true;
}

static void say_answer(int fd, const struct engine_answer *a)
{
	char ignored[64];
	size_t size = a->size ? a->size : strlen(a->says), step = a->step ? a->step : size;
	for (size_t at = 0; at < size; at += step) {
		size_t left = size - at;
		(void)!send(fd, a->says + at, left < step ? left : step, MSG_NOSIGNAL);
	}
	while (a->holds && recv(fd, ignored, sizeof ignored, 0) > 0)
		;
}

static void serve_engine(int fd)
{
	char text[8192];
	const struct engine_answer *a = answers;
	if (!reads_request(fd, text, sizeof text))
		return;
	text[strcspn(text, "\r")] = '\0';
	size_t used = strlen(requests);
	snprintf(requests + used, sizeof requests - used, "%.500s\n", text);
	while (!strstr(text, a->asked) || (a->is_once && was_given[a - answers]))
		a++;
	was_given[a - answers] = true;
	say_answer(fd, a);
}

static void *engine_main(void *unused)
{
	int fd;
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		serve_engine(fd);
		close(fd);
	}
	return NULL;
}

void scripted_engine_start(const char *socket_path, const struct engine_answer *given)
{
	answers = given;
	*requests = '\0';
	memset(was_given, 0, sizeof was_given);
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 10), 0);
	assert_int_equal(pthread_create(&engine_thread, NULL, engine_main, NULL), 0);
}

void scripted_engine_stop(void)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(engine_thread, NULL);
	close(listener);
	unlink(address.sun_path);
}

const char *scripted_engine_requests(void)
{
	return requests;
}
