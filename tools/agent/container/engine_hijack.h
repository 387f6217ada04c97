// Connections that an engine hands over to a command: behind the head of the answer come the command's bytes, both
// ways, and the end of the one direction is the end of its input.
#pragma once
#include "tools/agent/container/engine.h"

#define ENGINE_HEAD_BYTES_MAX 8192u

// Waits for the head of the answer, or until the time is over or the engine's signal_fd is readable. A connected socket
// that does not block, at the first byte behind the head, which the caller closes; or -1, and the reply says why. The
// request has no sink. Caller frees the reply.
int engine_hijack(const struct engine *, const struct engine_request *, struct engine_reply *);

// Of the head of an answer, with its empty line and a NUL: its status, and how many bytes it announces, 0 if it does
// not. False: it is no such head.
bool engine_head_read(const char *head, long *status, size_t *body_size);
