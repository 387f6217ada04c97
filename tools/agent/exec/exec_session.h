// A command inside a task and its client: what comes over the WebSocket goes to the command's input, what the command
// writes goes back, and its exit code last. A client that reads slowly holds the command up and costs no memory. When
// the client leaves, the command and all that belongs to it is ended.
#pragma once
#include "tools/agent/exec/exec_command.h"
#include "tools/web_socket/web_socket.h"

// How long a client may take for its first message where one was announced, and for its part of the farewell.
#define EXEC_HANDSHAKE_MS 10000
#define EXEC_FAREWELL_MS 2000

// Codes to close with, beside those of web_socket.h.
enum { EXEC_REFUSED = 1008, EXEC_FAILED = 1011 };

// Takes the client's first message. False: it left, or it was another one, which it was told; or stop_fd is readable.
bool exec_session_greet(struct web_socket *, const struct web_socket_stream *, int stop_fd);
// Talks until the command has ended, the client has left or stop_fd is readable; then says farewell. The command is the
// caller's to finish. Returns its exit code; -1: it had not ended. The thread has SIGPIPE blocked from then on.
int exec_session_run(
	struct web_socket *, const struct web_socket_stream *, struct exec_command *, int stop_fd);
// Closes with a reason, and waits a little for the client's farewell.
void exec_session_refuse(struct web_socket *, const struct web_socket_stream *, uint16_t code,
	const char *reason, int stop_fd);
