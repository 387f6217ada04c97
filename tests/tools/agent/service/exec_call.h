// Requests for commands inside tasks, at the service of exec_agent.h.
#pragma once
#include "tests/tools/agent/exec/exec_client.h"

#define EXEC_CALL_BYTES (64u * 1024)
#define EXEC_CALL_UPGRADE                                                                  \
	"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: " \
	"13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// Of the last request: the head of the answer, and what came with it.
extern char exec_call_text[EXEC_CALL_BYTES];

// The query of a command, which is a list in JSON; more begins with "&", or is "".
void exec_call_query(
	const char *task, const char *command, const char *more, char query[static 2000]);
// Sends a request, and waits for the head of its answer. The count of bytes that follow it.
size_t exec_call_request(
	int fd, const char *alloc, const char *query, const char *headers, size_t *head);
// The same, and the answer is to be the WebSocket. Caller closes.
void exec_call_begin(struct exec_client *, const char *alloc, const char *query);
