#include "tools/agent/exec/exec_session.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/exec/exec_frame.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Outputs are not read while so much of them waits for the client.
#define OUTPUT_WAITING_MAX (64u * 1024)
#define END_OF_INPUT 4 // what a terminal takes for it

struct exec_session {
	struct web_socket *socket;
	const struct web_socket_stream *stream;
	struct exec_command *command;
	int stop_fd;
	uint8_t *input; // what came for the command and was not taken yet
	size_t input_at, input_size;
	bool input_closes; // behind that
	bool has_closed_input;
	bool has_ended; // the command
	struct exec_command_end end;
};

// Polls the stream and stop_fd. False: it is time to stop, or the time is over.
static bool wait_for_client(struct web_socket *socket, const struct web_socket_stream *stream,
	int stop_fd, uint64_t until_ns)
{
	uint64_t now_ns = time_monotonic_ns(&time_source_real);
	struct pollfd polled[2] = {{.fd = stream->fd, .events = web_socket_events(socket, true)},
		{.fd = stop_fd, .events = POLLIN}};
	if (now_ns >= until_ns)
		return false;
	int count = poll(polled, 2, (int)((until_ns - now_ns) / NS_PER_MS) + 1);
	if (count < 0 && errno != EINTR)
		return false;
	if (count > 0)
		web_socket_turn(socket, polled[0].revents);
	return polled[1].revents == 0;
}

static void say_goodbye(
	struct web_socket *socket, const struct web_socket_stream *stream, int stop_fd)
{
	uint64_t until_ns =
		time_monotonic_ns(&time_source_real) + EXEC_FAREWELL_MS * (uint64_t)NS_PER_MS;
	struct web_socket_message m;
	while (!web_socket_is_through(socket) && wait_for_client(socket, stream, stop_fd, until_ns))
		while (web_socket_receive(socket, &m))
			;
}

void exec_session_refuse(struct web_socket *socket, const struct web_socket_stream *stream,
	uint16_t code, const char *reason, int stop_fd)
{
	web_socket_close(socket, code, reason);
	say_goodbye(socket, stream, stop_fd);
}

bool exec_session_greet(
	struct web_socket *socket, const struct web_socket_stream *stream, int stop_fd)
{
	uint64_t until_ns =
		time_monotonic_ns(&time_source_real) + EXEC_HANDSHAKE_MS * (uint64_t)NS_PER_MS;
	struct web_socket_message m;
	struct exec_input in = {0};
	char reason[64];
	bool came;
	while (!(came = web_socket_receive(socket, &m)) && !web_socket_is_over(socket) &&
		wait_for_client(socket, stream, stop_fd, until_ns))
		;
	if (!came) {
		exec_session_refuse(
			socket, stream, EXEC_REFUSED, "no handshake came in time", stop_fd);
		return false;
	}
	uint8_t *data = memory_take(BASE64_DECODED_MAX(m.size) + 1);
	bool is_frame = exec_input_read(m.data, m.size, data, &in);
	free(data);
	if (is_frame && in.version == 1)
		return true;
	snprintf(reason, sizeof reason, "unexpected handshake value: %lld", (long long)in.version);
	exec_session_refuse(socket, stream, EXEC_REFUSED, reason, stop_fd);
	return false;
}

static void close_input(struct exec_session *s)
{
	if (s->command->input >= 0 && !s->command->has_terminal) {
		close(s->command->input);
		s->command->input = -1;
	}
	s->has_closed_input = true;
}

// A terminal has no end: there it is a character, which counts at the beginning of a line only.
static void add_end_of_input(struct exec_session *s)
{
	bool is_within_line = s->input_size > 0 && s->input[s->input_size - 1] != '\n';
	for (int i = 0; i <= is_within_line; i++)
		s->input[s->input_size++] = END_OF_INPUT;
}

static void write_input(struct exec_session *s)
{
	while (s->input_at < s->input_size) {
		ssize_t n = s->command->input < 0 ? -1
						  : write(s->command->input, s->input + s->input_at,
							    s->input_size - s->input_at);
		if (n < 0 && s->command->input >= 0 && (errno == EAGAIN || errno == EINTR))
			return;
		// A command that has closed its input takes nothing more, and what was for it is dropped.
		s->input_at = n < 0 ? s->input_size : s->input_at + (size_t)n;
	}
	if (s->input_closes && !s->has_closed_input)
		close_input(s);
}

static void take_input(struct exec_session *s, const struct web_socket_message *m)
{
	struct exec_input in;
	if (!exec_input_read(m->data, m->size, s->input, &in))
		return;
	s->input_at = 0;
	s->input_size = s->input_closes ? 0 : in.size; // nothing comes behind the end
	if (in.has_size)
		exec_command_resize(s->command, in.rows, in.columns);
	if (in.closes && !s->input_closes) {
		s->input_closes = true;
		if (s->command->has_terminal)
			add_end_of_input(s);
	}
	write_input(s);
}

// False: nobody can write there any more, or nothing is there now and the command has ended.
static bool pass_output(struct exec_session *s, int *fd, enum exec_stream which)
{
	uint8_t bytes[EXEC_OUTPUT_BYTES];
	char text[EXEC_FRAME_BYTES];
	while (*fd >= 0 && web_socket_waiting(s->socket) < OUTPUT_WAITING_MAX) {
		ssize_t n = read(*fd, bytes, sizeof bytes);
		if (n > 0) {
			size_t size = exec_output_write(text, which, bytes, (size_t)n);
			web_socket_send(s->socket, WEB_SOCKET_TEXT, text, size);
			continue;
		}
		if (n < 0 && (errno == EINTR || (errno == EAGAIN && !s->has_ended)))
			return true;
		close(*fd);
		*fd = -1;
	}
	return *fd >= 0;
}

static void say_end(struct exec_session *s)
{
	char text[EXEC_FRAME_BYTES];
	int streams = s->command->has_terminal ? 1 : 2;
	if (!s->end.is_known && *s->end.reason) {
		web_socket_close(s->socket, EXEC_FAILED, s->end.reason);
		return;
	}
	for (int i = 0; i < streams; i++)
		web_socket_send(s->socket, WEB_SOCKET_TEXT, text,
			exec_output_close_write(text, (enum exec_stream)i));
	web_socket_send(s->socket, WEB_SOCKET_TEXT, text, exec_end_write(text, s->end.exit_code));
	web_socket_close(s->socket, WEB_SOCKET_NORMAL, "");
}

// True: everything is said. Without a terminal the client's end of input is waited for, as its clients expect.
static bool is_said(struct exec_session *s)
{
	bool has_output = pass_output(s, &s->command->output, EXEC_STDOUT);
	has_output |= pass_output(s, &s->command->error, EXEC_STDERR);
	if (has_output || !s->has_ended || (!s->command->has_terminal && !s->input_closes))
		return false;
	say_end(s);
	return true;
}

enum polled {
	POLLED_CLIENT,
	POLLED_STOP,
	POLLED_INPUT,
	POLLED_OUTPUT,
	POLLED_ERROR,
	POLLED_END,
	POLLED
};

static void set_polled(const struct exec_session *s, struct pollfd polled[POLLED])
{
	const struct exec_command *c = s->command;
	bool has_input = s->input_at < s->input_size;
	bool reads = web_socket_waiting(s->socket) < OUTPUT_WAITING_MAX;
	for (int i = 0; i < POLLED; i++)
		polled[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	polled[POLLED_CLIENT].fd = s->stream->fd;
	polled[POLLED_CLIENT].events = web_socket_events(s->socket, !has_input);
	polled[POLLED_STOP].fd = s->stop_fd;
	polled[POLLED_INPUT] = (struct pollfd){has_input ? c->input : -1, POLLOUT, 0};
	polled[POLLED_OUTPUT].fd = reads ? c->output : -1;
	polled[POLLED_ERROR].fd = reads ? c->error : -1;
	polled[POLLED_END].fd = s->has_ended ? -1 : c->keeper_fd;
}

// False: the client has left, or it is time to stop.
static bool take_turn(struct exec_session *s)
{
	struct pollfd polled[POLLED];
	struct web_socket_message m;
	set_polled(s, polled);
	if (poll(polled, POLLED, -1) < 0)
		return errno == EINTR;
	if (polled[POLLED_STOP].revents)
		return false;
	if (polled[POLLED_END].revents) {
		s->end = exec_command_ended(s->command);
		s->has_ended = true;
	}
	web_socket_turn(s->socket, polled[POLLED_CLIENT].revents);
	write_input(s);
	while (s->input_at == s->input_size && web_socket_receive(s->socket, &m))
		take_input(s, &m);
	return !web_socket_is_over(s->socket);
}

// A command that closes its input is nothing to die of.
static void block_broken_pipes(void)
{
	sigset_t broken_pipe;
	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
}

int exec_session_run(struct web_socket *socket, const struct web_socket_stream *stream,
	struct exec_command *command, int stop_fd)
{
	struct exec_session s = {.socket = socket,
		.stream = stream,
		.command = command,
		.stop_fd = stop_fd,
		.input = memory_take(BASE64_DECODED_MAX(EXEC_MESSAGE_BYTES_MAX) + 2)};
	bool goes_on = true, is_told = false;
	struct web_socket_message m;
	block_broken_pipes();
	// What came with the handshake is there already, and no poll tells of it.
	while (s.input_at == s.input_size && web_socket_receive(socket, &m))
		take_input(&s, &m);
	while (goes_on && !is_told) {
		goes_on = take_turn(&s);
		is_told = goes_on && is_said(&s);
	}
	if (is_told || web_socket_is_over(socket))
		say_goodbye(socket, stream, stop_fd);
	free(s.input);
	return s.has_ended ? s.end.exit_code : -1;
}
