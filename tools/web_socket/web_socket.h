// One end of a WebSocket that is open: messages in and out over a stream that never blocks. It answers pings, and takes
// part in the farewell: whoever is told to close by the other end says so too. One thread at a time.
#pragma once
#include "tools/web_socket/frame.h"
#include <poll.h>
#include <sys/types.h>

// How bytes come and go. Both return how many they moved (more than 0), 0: the stream has ended, or a negative error,
// of which -EAGAIN means not now.
struct web_socket_stream {
	int fd; // to poll
	ssize_t (*read)(void *context, void *data, size_t size);
	ssize_t (*write)(void *context, const void *data, size_t size);
	void *context;
};

// A stream over a connected socket, which stays the caller's and becomes non-blocking.
struct web_socket_stream web_socket_stream_of(int *fd);

struct web_socket;

// The bytes in `first` came behind the handshake.
struct web_socket *web_socket_open(const struct web_socket_stream *, bool is_client,
	size_t message_max, const void *first, size_t first_size);
void web_socket_free(struct web_socket *); // NULL is allowed; the stream stays open

// Queues a message and sends what the stream takes. Control frames have at most WEB_SOCKET_CONTROL_BYTES.
void web_socket_send(struct web_socket *, enum web_socket_opcode, const void *data, size_t size);
// Says farewell, once; nothing is sent after it. A longer reason is cut.
void web_socket_close(struct web_socket *, uint16_t code, const char *reason);
// Bytes that wait for the stream: whoever sends much looks at it first.
size_t web_socket_waiting(const struct web_socket *);

// What to poll the stream for. wants: whether the caller takes messages now; that the other end is gone is noticed
// in any case. 0: nothing.
short web_socket_events(const struct web_socket *, bool wants);
// Moves bytes after a poll: revents may be 0, when there may be messages that came before.
void web_socket_turn(struct web_socket *, short revents);
// The next text or binary message, a view until the next call of anything here. False: none is there.
bool web_socket_receive(struct web_socket *, struct web_socket_message *);

// The other end has closed, or the stream has ended: no message comes any more.
bool web_socket_is_over(const struct web_socket *);
// Also nothing is left to send: the stream can be closed.
bool web_socket_is_through(const struct web_socket *);
// What the other end closed with; 0: it said nothing. *reason is "" without one.
uint16_t web_socket_closed_with(const struct web_socket *, const char **reason);
