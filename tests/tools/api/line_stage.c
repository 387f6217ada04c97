#include "tests/tools/api/line_stage.h"
#include "dataplane/wire/little_endian.h"
#include "state/base/time_units.h"
#include "tools/web_socket/handshake.h"
#include <errno.h>
#include <poll.h>
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

struct line_stage stage;

static struct server *staged;
static _Atomic bool stops;
static pthread_mutex_t calling = PTHREAD_MUTEX_INITIALIZER; // held while a call is passed on
static pthread_t dataplane;

bool stage_say(int fd, const void *data, size_t size)
{
	for (const char *at = data; size;) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN)
			return false;
		if (sent < 0)
			(void)poll(&(struct pollfd){fd, POLLOUT, 0}, 1, 1000);
		at += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

bool stage_say_text(int fd, const char *text)
{
	return stage_say(fd, text, strlen(text));
}

bool stage_hear(int fd, char *text, size_t room)
{
	struct pollfd polled = {fd, POLLIN, 0};
	size_t used = strlen(text);
	if (used + 1 >= room || poll(&polled, 1, 60000) != 1)
		return false;
	ssize_t size = recv(fd, text + used, room - used - 1, 0);
	text[used + (size > 0 ? (size_t)size : 0)] = '\0';
	return size > 0;
}

static bool accept_socket(int fd, const char *request)
{
	static const char name[] = "Sec-WebSocket-Key: ";
	char text[256], given[65] = "", accept[WEB_SOCKET_ACCEPT_BYTES];
	const char *at = strstr(request, name);
	(void)sscanf(at ? at + sizeof name - 1 : "", "%64s", given);
	server_must(web_socket_accept(given, accept), "a key");
	snprintf(text, sizeof text,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
		"Upgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		accept);
	return stage_say_text(fd, text);
}

static void node_echoes(int fd, const char *request)
{
	static _Thread_local char piece[STAGE_PIECE_BYTES];
	bool goes_on = accept_socket(fd, request);
	while (goes_on) {
		struct pollfd polled = {fd, POLLIN, 0};
		ssize_t size = poll(&polled, 1, 60000) == 1 ? recv(fd, piece, sizeof piece, 0) : 0;
		goes_on = size > 0 && stage_say(fd, piece, (size_t)size);
	}
}

static void fill_flood(uint32_t *words, size_t size, size_t at)
{
	for (size_t i = 0; i < size / sizeof *words; i++)
		words[i] = (uint32_t)(at / sizeof *words + i);
}

bool stage_is_flood(const void *bytes, size_t size, size_t at)
{
	static uint32_t expected[STAGE_PIECE_BYTES / 4];
	fill_flood(expected, size, at);
	return memcmp(bytes, expected, size) == 0;
}

static void node_floods(int fd, const char *request)
{
	static _Thread_local uint32_t words[STAGE_PIECE_BYTES / 4];
	const uint8_t head[] = {0x82, 127, 0, 0, 0, 0, STAGE_FLOOD_BYTES >> 24,
		STAGE_FLOOD_BYTES >> 16 & 0xff, STAGE_FLOOD_BYTES >> 8 & 0xff,
		STAGE_FLOOD_BYTES & 0xff};
	bool goes_on = accept_socket(fd, request) && stage_say(fd, head, sizeof head);
	for (size_t at = 0; goes_on && at < STAGE_FLOOD_BYTES; at += STAGE_PIECE_BYTES) {
		fill_flood(words, STAGE_PIECE_BYTES, at);
		goes_on = stage_say(fd, words, STAGE_PIECE_BYTES);
		atomic_fetch_add(&stage.flooded, STAGE_PIECE_BYTES);
	}
}

static void node_streams(int fd)
{
	char unused[16] = "";
	bool goes_on = stage_say_text(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; goes_on && i < 1000; i++) {
		struct pollfd polled = {fd, POLLIN, 0};
		// Whoever asked has left once the connection ends.
		goes_on = stage_say_text(fd, "5\r\nline\n\r\n") &&
			  (poll(&polled, 1, 20) != 1 || stage_hear(fd, unused, sizeof unused));
	}
}

static void node_repeats(int fd, const char *request)
{
	char head[256];
	snprintf(head, sizeof head,
		"HTTP/1.1 200 OK\r\nContent-Type: text/x-test\r\nContent-Length: %zu\r\n\r\n",
		strlen(request));
	(void)(stage_say_text(fd, head) && stage_say_text(fd, request));
}

static void node_answers(int fd, const char *request)
{
	if (strstr(request, "follow=true"))
		node_streams(fd);
	else if (strstr(request, "task=flood"))
		node_floods(fd, request);
	else if (strstr(request, "task=refused"))
		(void)stage_say_text(fd, "HTTP/1.1 417 No\r\nContent-Length: 5\r\n\r\nnever");
	else if (strstr(request, "task=silent"))
		(void)stage_hear(fd, (char[16]){0}, 16);
	else if (strstr(request, "/exec"))
		node_echoes(fd, request);
	else if (strstr(request, "path=dies"))
		(void)stage_say_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
	else
		node_repeats(fd, request);
}

static void *talk(void *context)
{
	int fd = *(int *)context;
	char request[4096] = "";
	free(context);
	while (stage_hear(fd, request, sizeof request)) {
		if (!strstr(request, "\r\n\r\n"))
			continue;
		atomic_fetch_add(&stage.answering, 1);
		node_answers(fd, request);
		atomic_fetch_sub(&stage.answering, 1);
		if (!strstr(request, "path=/"))
			break;
		*request = '\0';
	}
	close(fd);
	return NULL;
}

static int serve(void *unused, int fd)
{
	pthread_t thread;
	int *at = malloc(sizeof *at);
	*at = fd;
	server_must(pthread_create(&thread, NULL, talk, at) == 0, "a thread");
	pthread_detach(thread);
	return 0;
}

// What the dataplane does of a node that is called.
static void *pass_calls_on(void *unused)
{
	const struct node_table *table = state_node_table(staged->state);
	uint64_t number = 0;
	while (!atomic_load(&stops)) {
		uint32_t slot = staged->newest.slot;
		_Atomic uint64_t *news = &((struct node_table *)table)->news[slot / 64];
		bool is_told = atomic_fetch_and(news, ~(1ull << slot % 64)) >> slot % 64 & 1;
		const struct line_call call = {1, 1, 1, ++number};
		pthread_mutex_lock(&calling);
		if (is_told && atomic_load(&table->lines[slot].directives) & NODE_DIRECTIVE_CALL)
			line_called(stage.line, &call);
		pthread_mutex_unlock(&calling);
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	}
	return NULL;
}

void stage_begin(struct server *s)
{
	static char address[40];
	struct uuid ids[PLACE_COUNT_MAX];
	staged = s;
	stage.node = server_node(s, 0);
	server_job(s, "web");
	assert_int_equal(server_place(s, "web", 1, ids), 1);
	stage.allocation = ids[0];
	uuid_format(&ids[0], stage.id);
	server_report(s, s->newest, stage.id, ALLOC_RUNNING, 0);
	snprintf(address, sizeof address, "127.0.0.1:%u", s->line_port);
	struct line_settings settings = {
		.node = stage.node, .key_id = 7, .address = address, .serve = serve};
	settings.key.k[0] = load64(server_line_key);
	settings.key.k[1] = load64(server_line_key + 8);
	stage.line = line_open(&settings);
	assert_non_null(stage.line);
	atomic_store(&stops, false);
	assert_int_equal(pthread_create(&dataplane, NULL, pass_calls_on, NULL), 0);
}

void stage_end(void)
{
	atomic_store(&stops, true);
	pthread_join(dataplane, NULL);
	line_close(stage.line);
}

void stage_until_called(void)
{
	pthread_mutex_lock(&calling);
	pthread_mutex_unlock(&calling);
}

void stage_until_quiet(void)
{
	for (int ms = 0; atomic_load(&stage.answering) > 0; ms++) {
		assert_true(ms < 60000);
		nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	}
}
