#include "tools/agent/vm/qmp.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_BYTES_MAX 65536u
// A machine that tells of events without end holds up nobody who looks for an answer.
#define READS_AT_ONCE_MAX 2u

struct qmp {
	int fd;
	uint32_t size; // of bytes that came and were not taken
	char bytes[LINE_BYTES_MAX];
};

// The folder's path may be longer than a socket's address can hold.
static int connect_in(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -1;
	int fd = CAN_FAIL(QMP_OPEN, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", at, QMP_SOCKET);
	if (fd >= 0 && CAN_FAIL(QMP_CONNECT,
			       connect(fd, (struct sockaddr *)&address, sizeof address)) < 0) {
		close(fd);
		fd = -1;
	}
	close(at);
	return fd;
}

struct qmp *qmp_open(const char *folder)
{
	int fd = connect_in(folder);
	if (fd < 0)
		return NULL;
	struct qmp *q = memory_take(sizeof *q);
	q->fd = fd;
	return q;
}

void qmp_close(struct qmp *q)
{
	if (!q)
		return;
	close(q->fd);
	free(q);
}

int qmp_fd(const struct qmp *q)
{
	return q->fd;
}

bool qmp_send(struct qmp *q, json_t *command, int fd)
{
	char *text = json_dumps(command, JSON_COMPACT);
	json_decref(command);
	if (!text)
		return false;
	size_t size = strlen(text);
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec piece = {text, size};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(header), &fd, sizeof fd);
	}
	// A command is short and the one before is answered: it fits, or nobody reads.
	bool is_sent = CAN_FAIL(QMP_SEND, sendmsg(q->fd, &message, MSG_NOSIGNAL)) == (ssize_t)size;
	free(text);
	return is_sent;
}

// NULL: no whole line has come. A line that is no object counts as an empty object.
static json_t *take_line(struct qmp *q)
{
	char *end = memchr(q->bytes, '\n', q->size);
	if (!end)
		return NULL;
	json_t *object = json_loadb(q->bytes, (size_t)(end - q->bytes), 0, NULL);
	if (!json_is_object(object)) {
		json_decref(object);
		object = json_object();
	}
	q->size -= (uint32_t)(end + 1 - q->bytes);
	memmove(q->bytes, end + 1, q->size);
	return object;
}

// Of the lines that have come, the first that is no event; NULL: none.
static json_t *take_answer_line(struct qmp *q)
{
	json_t *object;
	while ((object = take_line(q)) && json_object_get(object, "event"))
		json_decref(object);
	return object;
}

json_t *qmp_receive(struct qmp *q, bool *is_over)
{
	*is_over = false;
	for (uint32_t reads = 0;;) {
		json_t *object = take_answer_line(q);
		if (object || reads == READS_AT_ONCE_MAX)
			return object;
		ssize_t n = q->size == sizeof q->bytes
				    ? 0
				    : CAN_FAIL(QMP_RECEIVE, recv(q->fd, q->bytes + q->size,
								    sizeof q->bytes - q->size, 0));
		if (n < 0 && errno == EINTR)
			continue;
		*is_over = n == 0 || (n < 0 && errno != EAGAIN);
		if (n <= 0)
			return NULL;
		q->size += (uint32_t)n;
		reads++;
	}
}
