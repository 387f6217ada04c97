// Frames of a WebSocket (RFC 6455), byte by byte:
//
//	0x80 | opcode; size below 126, or 126 and 16 bits, or 127 and 64 bits, big endian; with 0x80 in the size's
//	byte: 4 bytes of mask before the payload. What a client sends is masked, what a server sends is not.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum web_socket_opcode {
	WEB_SOCKET_CONTINUATION = 0,
	WEB_SOCKET_TEXT = 1,
	WEB_SOCKET_BINARY = 2,
	WEB_SOCKET_CLOSE = 8,
	WEB_SOCKET_PING = 9,
	WEB_SOCKET_PONG = 10,
};

// Codes of frames that close.
enum web_socket_code {
	WEB_SOCKET_NORMAL = 1000,
	WEB_SOCKET_PROTOCOL = 1002,  // the peer broke the rules of frames
	WEB_SOCKET_NO_CODE = 1005,   // never sent: the peer named none
	WEB_SOCKET_TOO_LARGE = 1009, // a message that is longer than this side takes
};

#define WEB_SOCKET_CONTROL_BYTES \
	125u // the most bytes of a frame's payload that is about the connection
#define WEB_SOCKET_HEAD_BYTES 14u

// Writes what stands before the payload; mask NULL: a server's. Returns its size.
size_t web_socket_head(uint8_t head[static WEB_SOCKET_HEAD_BYTES], enum web_socket_opcode,
	size_t payload, const uint8_t mask[4]);
// Masks a payload, or takes the mask off: both are the same.
void web_socket_mask(uint8_t *payload, size_t size, const uint8_t mask[static 4]);

// A whole message, its fragments put together, or a frame about the connection. Views that the next call ends.
struct web_socket_message {
	enum web_socket_opcode opcode; // never WEB_SOCKET_CONTINUATION
	const uint8_t *data;
	size_t size;
};

// Finds the messages in bytes as they come. Memory: two messages at most.
struct web_socket_reader {
	bool is_masked;     // whether the peer is a client
	size_t message_max; // bytes
	uint16_t failure;   // the code to close with; 0: all is well. Nothing more is read then
	uint8_t *bytes;     // what came, of message_max and a head
	size_t begin, end;  // of what was not taken yet
	uint8_t *parts;     // of a message in fragments; NULL before the first one
	size_t parts_size;
	uint8_t parts_opcode; // 0: no fragmented message is under way
};

struct web_socket_reader web_socket_reader_make(bool is_masked, size_t message_max);
void web_socket_reader_free(struct web_socket_reader *);
// Where to put the next bytes; NULL: none are taken before messages are. *room is how many fit.
uint8_t *web_socket_reader_room(struct web_socket_reader *, size_t *room);
// So many were put there.
void web_socket_reader_add(struct web_socket_reader *, size_t size);
// False: no whole message is there, or it failed.
bool web_socket_reader_next(struct web_socket_reader *, struct web_socket_message *);

// The code and the reason of a frame that closes; the reason is printable. 0: the frame is malformed.
uint16_t web_socket_close_code(
	const struct web_socket_message *, char reason[static WEB_SOCKET_CONTROL_BYTES]);
