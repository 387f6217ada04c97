#include "tools/web_socket/relay.h"
#include "state/base/memory.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES (16u * 1024)
#define WAITING_BYTES_MAX (64u * 1024)
#define FAREWELL_MS 2000
// How long out may take what a client left behind.
#define LEFT_BEHIND_MS 10000

struct relay {
	struct web_socket *socket;
	const struct web_socket_stream *stream;
	int in, out, stop_fd;
	uint8_t *pending; // of a message that out has not taken whole
	size_t at, size;
	bool in_ended; // out may still take something
	bool is_over;
};

static void pass_in(struct relay *r)
{
	uint8_t piece[PIECE_BYTES];
	ssize_t n = read(r->in, piece, sizeof piece);
	if (n > 0)
		web_socket_send(r->socket, WEB_SOCKET_BINARY, piece, (size_t)n);
	else if (n == 0 && r->in != r->out)
		r->in_ended = true;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		r->is_over = true;
}

static void pass_pending(struct relay *r)
{
	while (r->at < r->size && !r->is_over) {
		ssize_t n = write(r->out, r->pending + r->at, r->size - r->at);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		r->is_over = n < 0;
		r->at += n < 0 ? 0 : (size_t)n;
	}
}

static void pass_messages(struct relay *r)
{
	struct web_socket_message m;
	while (r->at == r->size && !r->is_over && web_socket_receive(r->socket, &m)) {
		memcpy(r->pending, m.data, m.size);
		r->at = 0;
		r->size = m.size;
		pass_pending(r);
	}
}

static void relay_turn(struct relay *r)
{
	bool is_full = r->at < r->size, is_left = web_socket_is_over(r->socket);
	bool reads = web_socket_waiting(r->socket) < WAITING_BYTES_MAX;
	struct pollfd polled[] = {{.fd = is_left ? -1 : r->stream->fd,
					  .events = web_socket_events(r->socket, !is_full)},
		{.fd = r->stop_fd, .events = POLLIN},
		{.fd = reads && !is_left && !r->in_ended ? r->in : -1, .events = POLLIN},
		{.fd = is_full || r->in_ended ? r->out : -1, .events = is_full ? POLLOUT : 0}};
	int count = poll(polled, 4, is_left ? LEFT_BEHIND_MS : -1);
	if (count <= 0) {
		r->is_over = count == 0 || errno != EINTR;
		return;
	}
	r->is_over |= polled[1].revents != 0;
	r->is_over |= r->in_ended && (polled[3].revents & (POLLERR | POLLHUP));
	if (polled[2].revents)
		pass_in(r);
	web_socket_turn(r->socket, polled[0].revents);
	pass_pending(r);
	pass_messages(r);
	r->is_over |= web_socket_is_over(r->socket) && r->at == r->size;
}

// Gives what is under way and the other end's farewell some time.
static void say_farewell(const struct relay *r)
{
	struct web_socket_message m;
	web_socket_close(r->socket, WEB_SOCKET_NORMAL, "");
	while (!web_socket_is_through(r->socket)) {
		struct pollfd polled[] = {
			{.fd = r->stream->fd, .events = web_socket_events(r->socket, true)},
			{.fd = r->stop_fd, .events = POLLIN}};
		if (poll(polled, 2, FAREWELL_MS) <= 0 || polled[1].revents)
			return;
		web_socket_turn(r->socket, polled[0].revents);
		while (web_socket_receive(r->socket, &m))
			;
	}
}

void relay_run(struct web_socket *socket, const struct web_socket_stream *stream, int in, int out,
	int stop_fd)
{
	sigset_t broken_pipe;
	struct relay r = {.socket = socket,
		.stream = stream,
		.in = in,
		.out = out,
		.stop_fd = stop_fd,
		.pending = memory_take(RELAY_MESSAGE_BYTES_MAX)};
	sigemptyset(&broken_pipe);
	sigaddset(&broken_pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);
	pass_messages(&r); // what came behind the handshake
	while (!r.is_over)
		relay_turn(&r);
	say_farewell(&r);
	free(r.pending);
}
