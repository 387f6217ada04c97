#include "tools/berth/commands/inside/exec_talk.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/commands/inside/escape.h"
#include "tools/berth/commands/inside/raw_terminal.h"
#include "tools/http_client/http_socket.h"
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define INPUT_BYTES 4096u
// Standard input is not read while so much of it waits for the way.
#define INPUT_WAITING_MAX (64u * 1024)
// Those between cut connections on which nothing moves.
#define HEARTBEAT_MS 10000

struct talk {
	const struct exec_talk *options;
	struct web_socket *socket;
	const struct web_socket_stream *stream;
	struct escape escape;
	int signal_fd;
	bool input_ended;
	bool leaves; // this end wants no more
	int signal;  // that told it so; 0: none
	bool has_exited;
	int exit_code;
};

static void say_json(struct talk *t, const char *text)
{
	web_socket_send(t->socket, WEB_SOCKET_TEXT, text, strlen(text));
}

static void say_size(struct talk *t)
{
	uint16_t rows, columns;
	char text[80];
	if (!t->options->has_terminal || !raw_terminal_size(&rows, &columns))
		return;
	snprintf(text, sizeof text, "{\"tty_size\":{\"height\":%u,\"width\":%u}}", rows, columns);
	say_json(t, text);
}

static void end_input(struct talk *t)
{
	say_json(t, "{\"stdin\":{\"close\":true}}");
	t->input_ended = true;
}

static void say_input(struct talk *t, const uint8_t *bytes, size_t size)
{
	char text[BASE64_ENCODED(INPUT_BYTES + 1) + 32];
	int at = snprintf(text, sizeof text, "{\"stdin\":{\"data\":\"");
	base64_write(text + at, bytes, size);
	at += (int)BASE64_ENCODED(size);
	memcpy(text + at, "\"}}", 3);
	web_socket_send(t->socket, WEB_SOCKET_TEXT, text, (size_t)at + 3);
}

static void take_input(struct talk *t)
{
	uint8_t typed[INPUT_BYTES], kept[INPUT_BYTES + 1];
	ssize_t n = read(STDIN_FILENO, typed, sizeof typed);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		end_input(t);
		return;
	}
	size_t size = escape_filter(&t->escape, typed, (size_t)n, kept, &t->leaves);
	if (size)
		say_input(t, kept, size);
}

static void take_signals(struct talk *t)
{
	struct signalfd_siginfo info;
	while (read(t->signal_fd, &info, sizeof info) == sizeof info)
		if (info.ssi_signo == SIGWINCH)
			say_size(t);
		else
			t->signal = (int)info.ssi_signo;
	t->leaves |= t->signal != 0;
}

// False: nobody takes it.
static bool put_output(int fd, const json_t *stream)
{
	const char *data = field_text((json_t *)stream, "data");
	size_t size = strlen(data), decoded = 0;
	uint8_t *bytes = memory_take(BASE64_DECODED_MAX(size) + 1), *at = bytes;
	bool is_fine = base64_decode(data, size, bytes, &decoded);
	while (is_fine && decoded > 0) {
		ssize_t n = write(fd, at, decoded);
		if (n < 0 && errno == EAGAIN) // somebody else made it so
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		else if (n < 0 && errno != EINTR)
			is_fine = false;
		at += n > 0 ? n : 0;
		decoded -= n > 0 ? (size_t)n : 0;
	}
	free(bytes);
	return is_fine;
}

static void take_message(struct talk *t, const struct web_socket_message *m)
{
	json_t *said = json_loadb((const char *)m->data, m->size, 0, NULL);
	if (!put_output(STDOUT_FILENO, json_object_get(said, "stdout")) ||
		!put_output(STDERR_FILENO, json_object_get(said, "stderr")))
		t->leaves = true;
	if (json_is_true(json_object_get(said, "exited"))) {
		t->has_exited = true;
		t->exit_code = (int)field_number(json_object_get(said, "result"), "exit_code");
	}
	json_decref(said);
}

static void take_messages(struct talk *t)
{
	struct web_socket_message m;
	while (web_socket_receive(t->socket, &m))
		take_message(t, &m);
}

static void take_turn(struct talk *t)
{
	bool reads = t->options->passes_input && !t->input_ended && !t->has_exited &&
		     web_socket_waiting(t->socket) < INPUT_WAITING_MAX;
	struct pollfd polled[] = {
		{.fd = t->stream->fd, .events = web_socket_events(t->socket, true)},
		{.fd = t->signal_fd, .events = POLLIN},
		{.fd = reads ? STDIN_FILENO : -1, .events = POLLIN}};
	if (poll(polled, 3, HEARTBEAT_MS) == 0)
		say_json(t, "{}");
	if (polled[1].revents)
		take_signals(t);
	if (polled[2].revents)
		take_input(t);
	web_socket_turn(t->socket, polled[0].revents);
	take_messages(t);
}

static int open_signals(bool has_terminal, sigset_t *before)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGWINCH);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	if (has_terminal)
		sigaddset(&signals, SIGQUIT);
	sigprocmask(SIG_BLOCK, &signals, before);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static enum exit_status judge_end(const struct talk *t)
{
	const char *reason;
	uint16_t code = web_socket_closed_with(t->socket, &reason);
	if (t->has_exited)
		return (enum exit_status)(t->exit_code & 0xff);
	if (t->signal)
		return (enum exit_status)(128 + t->signal);
	if (t->leaves)
		return STATUS_FAILURE;
	if (!code)
		return complain(
			STATUS_UNREACHABLE, "the connection broke off; the command was ended");
	bool is_unknown = strncmp(reason, "Unknown allocation", 18) == 0 ||
			  strcmp(reason, "task not found") == 0;
	return complain(is_unknown ? STATUS_NOT_FOUND : STATUS_REFUSED, "%s",
		*reason ? reason : "the command was refused, without a reason");
}

enum exit_status exec_talk(struct http_socket *socket, const struct exec_talk *options)
{
	sigset_t before;
	struct talk t = {.options = options,
		.socket = http_socket_messages(socket),
		.stream = http_socket_stream(socket),
		.escape = {.character = options->has_terminal ? options->escape : '\0'},
		.signal_fd = open_signals(options->has_terminal, &before)};
	if (options->has_terminal)
		raw_terminal_begin();
	say_size(&t);
	if (!options->passes_input)
		end_input(&t);
	take_messages(&t); // what came behind the handshake
	while (!t.leaves && !web_socket_is_through(t.socket))
		take_turn(&t);
	if (t.leaves)
		web_socket_close(t.socket, WEB_SOCKET_NORMAL, "");
	raw_terminal_end();
	if (t.signal_fd >= 0)
		close(t.signal_fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return judge_end(&t);
}
