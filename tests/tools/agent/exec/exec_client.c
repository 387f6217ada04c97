#include "tests/tools/agent/exec/exec_client.h"
#include "state/base/base64.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MESSAGE_BYTES_MAX (256u * 1024)

void exec_client_open(struct exec_client *c, int fd, const void *first, size_t first_size)
{
	*c = (struct exec_client){.fd = fd, .other_fd = -1};
	c->stream = web_socket_stream_of(&c->fd);
	c->socket = web_socket_open(&c->stream, true, MESSAGE_BYTES_MAX, first, first_size);
}

void exec_client_leave(struct exec_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void exec_client_close(struct exec_client *c)
{
	exec_client_leave(c);
	web_socket_free(c->socket);
	json_decref(c->heard);
	*c = (struct exec_client){.fd = -1};
}

void exec_client_say(struct exec_client *c, const char *text)
{
	web_socket_send(c->socket, WEB_SOCKET_TEXT, text, strlen(text));
}

const json_t *exec_client_hear(struct exec_client *c, int timeout_ms)
{
	struct web_socket_message m;
	json_decref(c->heard);
	c->heard = NULL;
	while (!web_socket_receive(c->socket, &m)) {
		struct pollfd polled[] = {
			{.fd = c->fd, .events = web_socket_events(c->socket, true)},
			{.fd = c->other_fd, .events = POLLIN}};
		if (web_socket_is_over(c->socket) || poll(polled, 2, timeout_ms) <= 0)
			return NULL;
		if (polled[1].revents)
			c->do_other();
		web_socket_turn(c->socket, polled[0].revents);
	}
	assert_int_equal(m.opcode, WEB_SOCKET_TEXT);
	c->heard = json_loadb((const char *)m.data, m.size, 0, NULL);
	assert_non_null(c->heard);
	return c->heard;
}

static size_t put_stream(const json_t *stream, const char *name, char *text, size_t size)
{
	const json_t *data = json_object_get(stream, "data");
	size_t decoded = 0;
	if (json_is_true(json_object_get(stream, "close")))
		return (size_t)snprintf(text, size, "<%s>", name);
	if (!data)
		return 0;
	assert_true(json_string_length(data) < size);
	assert_true(base64_decode(
		json_string_value(data), json_string_length(data), (uint8_t *)text, &decoded));
	return decoded;
}

void exec_client_hear_all(struct exec_client *c, char *text, size_t size)
{
	const json_t *heard;
	const char *reason;
	size_t at = 0;
	while ((heard = exec_client_hear(c, 20000)) != NULL) {
		at += put_stream(json_object_get(heard, "stdout"), "stdout", text + at, size - at);
		at += put_stream(json_object_get(heard, "stderr"), "stderr", text + at, size - at);
		if (json_is_true(json_object_get(heard, "exited")))
			at += (size_t)snprintf(text + at, size - at, "<%d>",
				(int)json_integer_value(json_object_get(
					json_object_get(heard, "result"), "exit_code")));
	}
	text[at] = '\0';
	unsigned code = web_socket_closed_with(c->socket, &reason);
	if (code != WEB_SOCKET_NORMAL || *reason)
		snprintf(text + at, size - at, "<%u %s>", code, reason);
}
