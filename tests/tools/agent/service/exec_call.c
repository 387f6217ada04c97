#include "tests/tools/agent/service/exec_call.h"
#include "tests/tools/agent/service/exec_agent.h"
#include "tools/http_client/http_client.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

char exec_call_text[EXEC_CALL_BYTES];

size_t exec_call_request(
	int fd, const char *alloc, const char *query, const char *headers, size_t *head)
{
	size_t size = 0;
	int length = snprintf(exec_call_text, sizeof exec_call_text,
		"GET /v1/client/allocation/%s/exec?%s HTTP/1.1\r\nHost: x\r\n%s\r\n", alloc, query,
		headers);
	assert_int_equal(send(fd, exec_call_text, (size_t)length, MSG_NOSIGNAL), length);
	exec_call_text[0] = '\0';
	while (!strstr(exec_call_text, "\r\n\r\n")) {
		struct pollfd polled[] = {{.fd = fd, .events = POLLIN},
			{.fd = ask_runner_fd(mailbox), .events = POLLIN}};
		assert_true(poll(polled, 2, 20000) > 0);
		if (polled[1].revents)
			exec_agent_serve();
		ssize_t n = polled[0].revents ? recv(fd, exec_call_text + size,
							sizeof exec_call_text - 1 - size, 0)
					      : 0;
		assert_true(n >= 0);
		size += (size_t)n;
		exec_call_text[size] = '\0';
	}
	*head = (size_t)(strstr(exec_call_text, "\r\n\r\n") + 4 - exec_call_text);
	return size - *head;
}

void exec_call_begin(struct exec_client *c, const char *alloc, const char *query)
{
	int ends[2];
	size_t head;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(agent_service_take(service, ends[1]), 0);
	size_t more = exec_call_request(ends[0], alloc, query, EXEC_CALL_UPGRADE, &head);
	assert_int_equal(strncmp(exec_call_text, "HTTP/1.1 101 ", 13), 0);
	assert_non_null(
		strstr(exec_call_text, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	exec_client_open(c, ends[0], exec_call_text + head, more);
	c->other_fd = ask_runner_fd(mailbox);
	c->do_other = exec_agent_serve;
}

void exec_call_query(
	const char *task, const char *command, const char *more, char query[static 2000])
{
	char escaped[1500];
	snprintf(query, 2000, "task=%s&command=%s%s", task,
		http_escape(command, escaped, sizeof escaped), more);
}
