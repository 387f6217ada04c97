// A node at the line of a real server: the agent's end of it, and in place of the agent's service what answers in known
// ways.
#pragma once
#include "tests/tools/api/server.h"
#include "tools/agent/line/line.h"
#include <stdatomic.h>

// Headers of a request for a WebSocket, and what accepts it.
#define STAGE_UPGRADE                                                                \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define STAGE_ACCEPTED "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define STAGE_FLOOD_BYTES (24u * 1024 * 1024)
#define STAGE_PIECE_BYTES 65536u

struct line_stage {
	struct line *line;
	struct uuid node, allocation; // of the job "web"
	char id[UUID_TEXT_BYTES];     // the allocation's
	_Atomic int answering;        // requests that the node is answering
	_Atomic uint64_t flooded;     // bytes that it could say of a flood
};
extern struct line_stage stage;

// The server has a line, and not yet a node or the job "web". By what a request has, the node answers it so:
// "follow=true": "line\n", every 20 ms, until the reader leaves; "task=flood": a WebSocket with one frame of
// STAGE_FLOOD_BYTES, which count (stage_is_flood), and then its end; "task=refused": 417; "task=silent": never;
// "/exec": a WebSocket that echoes bytes; "path=dies": half; else with the request itself, and goes on when it has
// "path=/".
void stage_begin(struct server *);
void stage_end(void);
// Until the node answers nothing any more, within a minute.
void stage_until_quiet(void);
// Until no call is on its way to the node any more; nobody waits for it.
void stage_until_called(void);
// Whether these are the bytes of a flood from the at-th on; both of whole words.
bool stage_is_flood(const void *bytes, size_t size, size_t at);

// False: the other side has ended.
bool stage_say(int fd, const void *data, size_t size);
bool stage_say_text(int fd, const char *text);
// Adds what comes to the text. False: nothing more, or not within a minute, or there is no room.
bool stage_hear(int fd, char *text, size_t room);
