// The client of a command inside a task, over a connected socket.
#pragma once
#include "tools/web_socket/web_socket.h"
#include <jansson.h>

struct exec_client {
	int fd; // -1: closed
	struct web_socket_stream stream;
	struct web_socket *socket;
	json_t *heard;
	int other_fd; // what else is done while it waits; -1: nothing
	void (*do_other)(void);
};

// first: what came behind the handshake.
void exec_client_open(struct exec_client *, int fd, const void *first, size_t first_size);
void exec_client_close(struct exec_client *);
void exec_client_leave(struct exec_client *); // without a word
void exec_client_say(struct exec_client *, const char *text);
// The next message; NULL: the server has closed, or said nothing for so long. Lives until the next call.
const json_t *exec_client_hear(struct exec_client *, int timeout_ms);
// All outputs as one text, the closing of streams as "<stdout>" and "<stderr>", the end as "<CODE>"; and last the code
// and the reason of the farewell, unless it is 1000: "<1008 REASON>".
void exec_client_hear_all(struct exec_client *, char *text, size_t size);
