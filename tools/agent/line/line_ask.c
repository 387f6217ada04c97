#include "tools/agent/line/line_ask.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/line/line_private.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// One question on its way.
struct asking {
	struct line *line;
	struct dialled dialled;
	int stop_fd;
	uint64_t deadline_ns;
	char *text; // what is sent, then what came
	size_t size, room;
};

static int complain(int error, const char *why, char *message, uint32_t message_size)
{
	snprintf(message, message_size, "asking the controller: %s", why);
	return error;
}

// HTTP/1.0, so that the answer ends with the connection and comes in no chunks.
static void write_question(struct asking *a, const struct line_question *q)
{
	static const char form[] = "%s %s HTTP/1.0\r\nX-Berth-Task: %s/%s\r\n"
				   "Content-Length: %zu\r\n\r\n";
	char id[UUID_TEXT_BYTES];
	uuid_format(&q->allocation, id);
	a->room = sizeof form + strlen(q->method) + strlen(q->target) + sizeof id +
		  strlen(q->task) + 24 + q->body_size;
	a->text = memory_take(a->room);
	int size =
		snprintf(a->text, a->room, form, q->method, q->target, id, q->task, q->body_size);
	if (q->body_size)
		memcpy(a->text + size, q->body, q->body_size);
	a->size = (size_t)size + q->body_size;
}

static int await_session(const struct asking *a)
{
	bool writes = gnutls_record_get_direction(a->dialled.tls);
	return line_wait(
		a->line, a->dialled.fd, writes ? POLLOUT : POLLIN, a->stop_fd, a->deadline_ns);
}

static int send_question(struct asking *a)
{
	int error = 0;
	for (size_t at = 0; at < a->size && error == 0;) {
		ssize_t sent = gnutls_record_send(a->dialled.tls, a->text + at, a->size - at);
		if (sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED)
			error = await_session(a);
		else if (sent < 0)
			error = -EPIPE;
		else
			at += (size_t)sent;
	}
	return error;
}

// Makes room for a piece, and for a NUL.
static bool make_room_for_answer(struct asking *a)
{
	if (a->room - a->size > 4096)
		return true;
	if (a->room > LINE_ANSWER_BYTES_MAX)
		return false;
	a->room = 2 * a->room + 8192;
	a->text = memory_resize(a->text, a->room);
	return true;
}

// Up to the end, which a cut is not.
static int receive_to_the_end(struct asking *a)
{
	for (a->size = 0;;) {
		if (!make_room_for_answer(a))
			return -EMSGSIZE;
		ssize_t size = gnutls_record_recv(
			a->dialled.tls, a->text + a->size, a->room - a->size - 1);
		if (size == 0) {
			a->text[a->size] = '\0';
			return 0;
		}
		if (size > 0) {
			a->size += (size_t)size;
			continue;
		}
		int error = size == GNUTLS_E_AGAIN || size == GNUTLS_E_INTERRUPTED
				    ? await_session(a)
				    : -ECONNRESET;
		if (error < 0)
			return error;
	}
}

// A number of digits alone behind the name; or the value that is given.
static uint64_t header_number(const char *head, const char *name, uint64_t otherwise)
{
	const char *at = strcasestr(head, name);
	return at ? strtoull(at + strlen(name), NULL, 10) : otherwise;
}

bool line_answer_read(char *text, size_t size, struct line_answer *answer)
{
	char *end = size && !memchr(text, '\0', size) ? strstr(text, "\r\n\r\n") : NULL;
	// A body may hold anything; a head may not.
	if (!end)
		end = memmem(text, size, "\r\n\r\n", 4);
	if (!end || size < 12 || memcmp(text, "HTTP/1.", 7) != 0 ||
		memchr(text, '\0', (size_t)(end - text)))
		return false;
	end[2] = '\0';
	*answer = (struct line_answer){.status = (unsigned)strtoul(text + 9, NULL, 10),
		.index = header_number(text, "\nX-Nomad-Index:", 0),
		.body_size = size - (size_t)(end + 4 - text)};
	if (answer->status < 100 || answer->status > 999 ||
		header_number(text, "\nContent-Length:", answer->body_size) != answer->body_size)
		return false;
	answer->body = memory_take(answer->body_size + 1);
	memcpy(answer->body, end + 4, answer->body_size);
	return true;
}

static int ask_and_wait(struct asking *a, const struct line_question *q, struct line_answer *answer,
	char *message, uint32_t message_size)
{
	int error = line_dial(a->line, LINE_NODE_ASKS, a->stop_fd, a->deadline_ns, &a->dialled,
		message, message_size);
	if (error < 0)
		return error;
	write_question(a, q);
	error = send_question(a);
	if (error == 0)
		error = receive_to_the_end(a);
	dialled_close(&a->dialled);
	if (error == -EMSGSIZE)
		return complain(error, "the answer is too long", message, message_size);
	if (error == -ECONNRESET || error == -EPIPE)
		return complain(error, "the connection was cut; it may not know this node's key",
			message, message_size);
	if (error < 0)
		return complain(error, strerror(-error), message, message_size);
	if (!line_answer_read(a->text, a->size, answer))
		return complain(-EPROTO, "the answer is no HTTP", message, message_size);
	return 0;
}

static void count_answer(struct line *line)
{
	pthread_mutex_lock(&line->lock);
	line->counts.answered++;
	pthread_mutex_unlock(&line->lock);
}

int line_ask(struct line *line, const struct line_question *q, struct line_answer *answer,
	char *message, uint32_t message_size)
{
	uint32_t timeout_ms = q->timeout_ms ? q->timeout_ms : LINE_ASK_TIMEOUT_MS;
	struct asking a = {.line = line,
		.stop_fd = q->stop_fd,
		.deadline_ns = line_now_ns() + timeout_ms * NS_PER_MS};
	*answer = (struct line_answer){0};
	if (!line_enter(line))
		return complain(-ECANCELED, "the agent ends", message, message_size);
	int error = ask_and_wait(&a, q, answer, message, message_size);
	if (a.text)
		explicit_bzero(a.text, a.size);
	free(a.text);
	if (error == 0)
		count_answer(line);
	line_leave(line);
	return error;
}

void line_answer_free(struct line_answer *answer)
{
	if (answer->body)
		explicit_bzero(answer->body, answer->body_size);
	free(answer->body);
	*answer = (struct line_answer){0};
}
