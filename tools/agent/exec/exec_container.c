#include "tools/agent/exec/exec_container.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/base/quiet_thread.h"
#include "tools/agent/container/container_exec.h"
#include "tools/agent/container/container_frames.h"
#include "tools/agent/exec/exec_pipes.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_BYTES 16384u
// An engine may learn of the end of a command a little after the end of its output.
#define END_WAIT_MS 3000u
#define END_PAUSE_MS 50
// Engines refuse a size as long as the command does not quite run.
#define RESIZE_TRIES 20u
#define RESIZE_PAUSE_MS 100u

// What is to be done with a command.
enum relay {
	RELAY_ON,
	RELAY_AWAIT_END, // its output is over
	RELAY_KILL       // it is not wanted any more, or the engine's stream is broken
};

struct terminal_size {
	uint16_t rows, columns;
};

// All but the thread's number is the thread's.
struct exec_container {
	pthread_t thread;
	struct container_exec exec;
	struct container_frames frames;
	int input, outputs[2], channel; // the far ends of the command's; -1: closed
	char in[RELAY_BYTES];           // for the engine
	size_t in_at, in_size;
	char out[RELAY_BYTES]; // of the engine
	const char *out_at;    // what no piece was made of yet
	size_t out_size;
	struct container_piece piece; // of it, which waits for its output
	struct terminal_size size;
	uint32_t resize_tries; // that are left
	uint64_t resize_due_ms;
	struct exec_command_end end;
};

static void close_ends(struct exec_container *c)
{
	exec_pipe_close(&c->input);
	exec_pipe_close(&c->outputs[0]);
	exec_pipe_close(&c->outputs[1]);
	exec_pipe_close(&c->channel);
	exec_pipe_close(&c->exec.fd);
}

static bool is_for_later(void)
{
	return errno == EAGAIN || errno == EINTR;
}

// Whoever cannot take it any more is spared the rest.
static void send_to_engine(struct exec_container *c)
{
	while (c->in_at < c->in_size) {
		ssize_t n = send(c->exec.fd, c->in + c->in_at, c->in_size - c->in_at, MSG_NOSIGNAL);
		if (n < 0 && is_for_later())
			return;
		if (n < 0) {
			exec_pipe_close(&c->input);
			c->in_at = c->in_size;
			return;
		}
		c->in_at += (size_t)n;
	}
}

static void take_from_input(struct exec_container *c)
{
	ssize_t n = read(c->input, c->in, sizeof c->in);
	if (n < 0 && is_for_later())
		return;
	if (n <= 0) {
		exec_pipe_close(&c->input);
		(void)shutdown(c->exec.fd, SHUT_WR); // of one that is gone there is nothing to end
		return;
	}
	c->in_at = 0;
	c->in_size = (size_t)n;
	send_to_engine(c);
}

static enum relay take_from_engine(struct exec_container *c)
{
	ssize_t n = recv(c->exec.fd, c->out, sizeof c->out, 0);
	if (n < 0 && is_for_later())
		return RELAY_ON;
	c->out_at = c->out;
	c->out_size = n > 0 ? (size_t)n : 0;
	// An engine that has not read all of the input resets the connection at its end.
	return n > 0 ? RELAY_ON : RELAY_AWAIT_END;
}

// False: there is no room for more.
static bool write_piece(struct exec_container *c)
{
	int *fd = &c->outputs[c->piece.which];
	while (c->piece.size > 0) {
		ssize_t n = *fd < 0 ? (ssize_t)c->piece.size
				    : write(*fd, c->piece.bytes, c->piece.size);
		if (n < 0 && is_for_later())
			return false;
		if (n < 0) // nobody reads there
			exec_pipe_close(fd);
		c->piece.bytes += n > 0 ? n : 0;
		c->piece.size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static enum relay pass_output_on(struct exec_container *c)
{
	while (write_piece(c)) {
		if (!container_frames_next(&c->frames, &c->out_at, &c->out_size, &c->piece)) {
			snprintf(c->end.reason, sizeof c->end.reason,
				"the engine sends what is no output of a command");
			return RELAY_KILL;
		}
		if (c->piece.size == 0)
			break;
	}
	return RELAY_ON;
}

// The last of them counts.
static enum relay take_sizes(struct exec_container *c)
{
	struct terminal_size size;
	ssize_t n;
	while ((n = recv(c->channel, &size, sizeof size, MSG_DONTWAIT)) == sizeof size) {
		c->size = size;
		c->resize_tries = RESIZE_TRIES;
		c->resize_due_ms = 0;
	}
	return n < 0 && is_for_later() ? RELAY_ON : RELAY_KILL;
}

static uint64_t relay_now_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

static void resize_when_due(struct exec_container *c)
{
	if (c->resize_tries == 0 || relay_now_ms() < c->resize_due_ms)
		return;
	bool is_done = container_exec_resize(&c->exec, c->size.rows, c->size.columns);
	c->resize_tries = is_done ? 0 : c->resize_tries - 1;
	c->resize_due_ms = relay_now_ms() + RESIZE_PAUSE_MS;
}

enum relayed { RELAYED_CHANNEL, RELAYED_INPUT, RELAYED_ENGINE, RELAYED_OUTPUT, RELAYED };

// Of a connection that nothing is wanted of, the end would be told again and again.
static void set_relayed(const struct exec_container *c, struct pollfd polled[RELAYED])
{
	bool has_piece = c->piece.size > 0, has_input = c->in_at < c->in_size;
	short events = (short)((has_piece ? 0 : POLLIN) | (has_input ? POLLOUT : 0));
	polled[RELAYED_CHANNEL] = (struct pollfd){c->channel, POLLIN, 0};
	polled[RELAYED_INPUT] = (struct pollfd){has_input ? -1 : c->input, POLLIN, 0};
	polled[RELAYED_ENGINE] = (struct pollfd){events ? c->exec.fd : -1, events, 0};
	polled[RELAYED_OUTPUT] =
		(struct pollfd){has_piece ? c->outputs[c->piece.which] : -1, POLLOUT, 0};
}

static enum relay relay_turn(struct exec_container *c)
{
	struct pollfd polled[RELAYED];
	enum relay next = RELAY_ON;
	set_relayed(c, polled);
	if (poll(polled, RELAYED, c->resize_tries > 0 ? (int)RESIZE_PAUSE_MS : -1) < 0)
		return RELAY_KILL; // no signal comes here
	if (polled[RELAYED_CHANNEL].revents)
		next = take_sizes(c);
	resize_when_due(c);
	if (polled[RELAYED_INPUT].revents)
		take_from_input(c);
	if (polled[RELAYED_ENGINE].revents)
		send_to_engine(c);
	if (next == RELAY_ON && polled[RELAYED_ENGINE].revents && c->piece.size == 0)
		next = take_from_engine(c);
	return next == RELAY_ON ? pass_output_on(c) : next;
}

// Of a command whose container is gone the end is that of the container.
static enum relay look_for_end(struct exec_container *c)
{
	struct exec_command_end *end = &c->end;
	end->is_known = container_exec_has_ended(
		&c->exec, &end->exit_code, end->reason, sizeof end->reason);
	if (!end->is_known && !container_exec_has_place(c->exec.socket, c->exec.name)) {
		end->exit_code = 128 + SIGKILL;
		end->is_known = true;
	}
	if (end->is_known)
		*end->reason = '\0';
	return end->is_known ? RELAY_ON : RELAY_AWAIT_END;
}

static enum relay await_end(struct exec_container *c)
{
	struct pollfd channel = {.fd = c->channel, .events = POLLIN};
	uint64_t until_ms = relay_now_ms() + END_WAIT_MS;
	enum relay next;
	while ((next = look_for_end(c)) == RELAY_AWAIT_END) {
		if (relay_now_ms() >= until_ms ||
			(poll(&channel, 1, END_PAUSE_MS) > 0 && take_sizes(c) == RELAY_KILL))
			return RELAY_KILL;
	}
	return next;
}

static void *keep_in_container(void *context)
{
	struct exec_container *c = context;
	enum relay next;
	pthread_setname_np(pthread_self(), "exec-container");
	while ((next = relay_turn(c)) == RELAY_ON)
		;
	if (next == RELAY_AWAIT_END)
		next = await_end(c);
	if (next == RELAY_KILL)
		container_exec_kill(&c->exec);
	if (next == RELAY_KILL && !*c->end.reason)
		snprintf(c->end.reason, sizeof c->end.reason,
			"the command was ended, as nobody could watch it any more");
	// Somebody who does not want it any more does not want to know.
	(void)send(c->channel, &c->end, sizeof c->end, MSG_NOSIGNAL | MSG_DONTWAIT);
	close_ends(c);
	return NULL;
}

// Takes over what it needs of the command.
static int begin_keeper(struct exec_container *c, struct exec_command *command, bool has_input,
	char *message, uint32_t message_size)
{
	int far[3] = {-1, -1, -1}, channel[2] = {-1, -1};
	int error = exec_pipes_open(
		(int *[]){&command->input, &command->output, &command->error}, far, O_NONBLOCK);
	if (!error && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
		error = -errno;
	command->keeper_fd = channel[0];
	c->channel = channel[1];
	c->input = far[0];
	c->outputs[0] = far[1];
	c->outputs[1] = far[2];
	if (!has_input) {
		exec_pipe_close(&command->input);
		exec_pipe_close(&c->input);
	}
	if (!error)
		error = -quiet_thread_begin(&c->thread, keep_in_container, c);
	if (error)
		snprintf(message, message_size, "cannot open pipes or begin a thread: %s",
			strerror(-error));
	return error;
}

static void tell_size(const struct exec_command *command, uint16_t rows, uint16_t columns)
{
	struct terminal_size size = {rows, columns};
	// One that has ended has no size, and one that is asked for hundreds at once takes another.
	if (command->has_terminal)
		(void)send(command->keeper_fd, &size, sizeof size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void join_keeper(void *context)
{
	struct exec_container *c = context;
	pthread_join(c->thread, NULL);
	free(c);
}

int exec_container_start(const struct exec_container_start *start, struct exec_command *command,
	char *message, uint32_t message_size)
{
	static const struct exec_other_keeper keeper = {tell_size, join_keeper};
	struct exec_container *c = memory_take(sizeof *c);
	struct container_exec_start asked = {.socket = start->socket,
		.name = start->name,
		.arguments = start->arguments,
		.has_input = start->has_input,
		.has_terminal = start->has_terminal,
		.timeout_ms = start->timeout_ms,
		.stop_fd = start->stop_fd};
	*command = (struct exec_command){.input = -1,
		.output = -1,
		.error = -1,
		.keeper_fd = -1,
		.has_terminal = start->has_terminal};
	*c = (struct exec_container){.frames.is_raw = start->has_terminal,
		.input = -1,
		.outputs = {-1, -1},
		.channel = -1,
		.end.exit_code = 255};
	int error = container_exec_start(&asked, &c->exec, message, message_size) ? -EIO : 0;
	if (!error &&
		(error = begin_keeper(c, command, start->has_input, message, message_size)) == 0) {
		command->other = &keeper;
		command->context = c;
		return 0;
	}
	if (c->exec.fd >= 0)
		container_exec_kill(&c->exec);
	close_ends(c);
	free(c);
	exec_command_finish(command);
	return error;
}
