#include "tools/web_socket/web_socket.h"
#include "state/base/bytes.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

// Nothing more is read while so much waits to be sent: a peer that asks and never listens costs no memory.
#define WAITING_BYTES_MAX (256u * 1024)

struct web_socket {
	struct web_socket_stream stream;
	struct web_socket_reader reader;
	struct bytes_writer out;
	size_t sent; // of out
	bool is_client;
	bool has_closed; // this end has said farewell
	bool is_over;    // the other end has, or the stream has ended
	bool is_broken;  // nothing can be sent
	uint16_t code;   // that the other end closed with
	char reason[WEB_SOCKET_CONTROL_BYTES];
};

static ssize_t read_socket(void *context, void *data, size_t size)
{
	ssize_t n = recv(*(int *)context, data, size, MSG_DONTWAIT);
	return n < 0 ? -(errno == EINTR ? EAGAIN : errno) : n;
}

static ssize_t write_socket(void *context, const void *data, size_t size)
{
	ssize_t n = send(*(int *)context, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	return n < 0 ? -(errno == EINTR ? EAGAIN : errno) : n;
}

struct web_socket_stream web_socket_stream_of(int *fd)
{
	return (struct web_socket_stream){*fd, read_socket, write_socket, fd};
}

struct web_socket *web_socket_open(const struct web_socket_stream *stream, bool is_client,
	size_t message_max, const void *first, size_t first_size)
{
	struct web_socket *s = memory_take(sizeof *s);
	size_t room;
	s->stream = *stream;
	s->is_client = is_client;
	s->reader = web_socket_reader_make(!is_client, message_max);
	s->out = bytes_writer_growing(8192);
	uint8_t *at = web_socket_reader_room(&s->reader, &room);
	if (first_size > room) {
		s->reader.failure = WEB_SOCKET_TOO_LARGE;
	} else if (first_size) {
		memcpy(at, first, first_size);
		web_socket_reader_add(&s->reader, first_size);
	}
	return s;
}

void web_socket_free(struct web_socket *s)
{
	if (!s)
		return;
	web_socket_reader_free(&s->reader);
	bytes_writer_free(&s->out);
	free(s);
}

size_t web_socket_waiting(const struct web_socket *s)
{
	return s->out.size - s->sent;
}

static void break_off(struct web_socket *s)
{
	s->is_over = s->is_broken = true;
	s->out.size = s->sent = 0;
}

// Else what is written behind would move the beginning on and on.
static void move_to_front(struct web_socket *s)
{
	size_t waiting = web_socket_waiting(s);
	memmove(s->out.data, s->out.data + s->sent, waiting);
	s->out.size = waiting;
	s->sent = 0;
}

static void send_waiting(struct web_socket *s)
{
	while (!s->is_broken && web_socket_waiting(s) > 0) {
		ssize_t n = s->stream.write(
			s->stream.context, s->out.data + s->sent, web_socket_waiting(s));
		if (n == -EAGAIN) {
			move_to_front(s);
			return;
		}
		if (n <= 0)
			break_off(s);
		else
			s->sent += (size_t)n;
	}
	bytes_writer_shrink(&s->out, 8192);
	s->sent = 0;
}

static void queue_frame(
	struct web_socket *s, enum web_socket_opcode opcode, const void *data, size_t size)
{
	uint8_t head[WEB_SOCKET_HEAD_BYTES], mask[4] = {0};
	if (s->is_broken || s->has_closed)
		return;
	// The mask keeps what is sent from being taken for something else by those between; it hides nothing.
	if (s->is_client && getrandom(mask, sizeof mask, 0) != sizeof mask)
		CHECK(!"no random bytes");
	bytes_put(&s->out, head, web_socket_head(head, opcode, size, s->is_client ? mask : NULL));
	size_t at = s->out.size;
	bytes_put(&s->out, data, size);
	if (s->is_client && size)
		web_socket_mask(s->out.data + at, size, mask);
	send_waiting(s);
}

void web_socket_send(
	struct web_socket *s, enum web_socket_opcode opcode, const void *data, size_t size)
{
	CHECK(opcode < WEB_SOCKET_CLOSE || size <= WEB_SOCKET_CONTROL_BYTES);
	queue_frame(s, opcode, data, size);
}

void web_socket_close(struct web_socket *s, uint16_t code, const char *reason)
{
	uint8_t payload[WEB_SOCKET_CONTROL_BYTES] = {(uint8_t)(code >> 8), (uint8_t)code};
	size_t size = strlen(reason);
	if (size > sizeof payload - 2)
		size = sizeof payload - 2;
	memcpy(payload + 2, reason, size);
	queue_frame(s, WEB_SOCKET_CLOSE, payload, code == WEB_SOCKET_NO_CODE ? 0 : 2 + size);
	s->has_closed = true;
}

short web_socket_events(const struct web_socket *s, bool wants)
{
	size_t waiting = web_socket_waiting(s);
	bool reads = wants && !s->is_over && !s->reader.failure && waiting < WAITING_BYTES_MAX;
	return (short)((reads ? POLLIN : 0) | (s->is_over ? 0 : POLLRDHUP) |
		       (waiting > 0 && !s->is_broken ? POLLOUT : 0));
}

static void read_some(struct web_socket *s, bool is_left)
{
	size_t room;
	uint8_t *at;
	ssize_t n = -EAGAIN;
	// A stream may have taken more from its descriptor than it gives at once, and no poll tells of that.
	while ((at = web_socket_reader_room(&s->reader, &room)) != NULL &&
		(n = s->stream.read(s->stream.context, at, room)) > 0)
		web_socket_reader_add(&s->reader, (size_t)n);
	if (n == 0 || (!at && is_left))
		s->is_over = true;
	if (n < 0 && n != -EAGAIN)
		break_off(s);
}

void web_socket_turn(struct web_socket *s, short revents)
{
	bool is_left = revents & (POLLRDHUP | POLLHUP | POLLERR);
	if (revents & (POLLOUT | POLLERR))
		send_waiting(s);
	if (!s->is_over && (revents & POLLIN))
		read_some(s, is_left);
	else if (is_left)
		s->is_over = true;
}

static void take_close(struct web_socket *s, const struct web_socket_message *m)
{
	s->code = web_socket_close_code(m, s->reason);
	s->is_over = true;
	web_socket_close(s, s->code ? s->code : WEB_SOCKET_PROTOCOL, "");
}

bool web_socket_receive(struct web_socket *s, struct web_socket_message *m)
{
	while (!s->code && web_socket_reader_next(&s->reader, m)) {
		if (m->opcode == WEB_SOCKET_CLOSE) {
			take_close(s, m);
			return false;
		}
		if (m->opcode == WEB_SOCKET_TEXT || m->opcode == WEB_SOCKET_BINARY)
			return true;
		if (m->opcode == WEB_SOCKET_PING && web_socket_waiting(s) < WAITING_BYTES_MAX)
			queue_frame(s, WEB_SOCKET_PONG, m->data, m->size);
	}
	if (s->reader.failure && !s->is_over) {
		web_socket_close(s, s->reader.failure, "");
		s->is_over = true;
	}
	return false;
}

bool web_socket_is_over(const struct web_socket *s)
{
	return s->is_over;
}

bool web_socket_is_through(const struct web_socket *s)
{
	return s->is_over && (s->is_broken || web_socket_waiting(s) == 0);
}

uint16_t web_socket_closed_with(const struct web_socket *s, const char **reason)
{
	*reason = s->reason;
	return s->code;
}
