// Frames of a WebSocket: whatever comes, however it is cut, messages have at most the agreed size, and what failed
// stays so. The first byte says who speaks, the second one into how large pieces the rest is cut.
#include "state/base/check.h"
#include "tools/web_socket/frame.h"
#include <string.h>

#define MESSAGE_MAX 300u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_message(const struct web_socket_message *m)
{
	char reason[WEB_SOCKET_CONTROL_BYTES];
	CHECK(m->size <= MESSAGE_MAX);
	CHECK(m->opcode == WEB_SOCKET_TEXT || m->opcode == WEB_SOCKET_BINARY ||
		m->size <= WEB_SOCKET_CONTROL_BYTES);
	volatile uint8_t sum = 0;
	for (size_t i = 0; i < m->size; i++)
		sum ^= m->data[i];
	(void)sum; // each byte can be read
	if (m->opcode == WEB_SOCKET_CLOSE)
		CHECK(web_socket_close_code(m, reason) || m->size == 1 || m->size > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct web_socket_reader r = web_socket_reader_make(data[0] & 1, MESSAGE_MAX);
	struct web_socket_message m;
	size_t piece = 1u + data[1], at = 2, room;
	uint8_t *to;
	while (at < size && (to = web_socket_reader_room(&r, &room)) != NULL) {
		size_t some = piece < size - at ? piece : size - at;
		some = some < room ? some : room;
		memcpy(to, data + at, some);
		web_socket_reader_add(&r, some);
		at += some;
		while (web_socket_reader_next(&r, &m))
			look_at_message(&m);
	}
	if (r.failure)
		CHECK(!web_socket_reader_next(&r, &m) && !web_socket_reader_room(&r, &room));
	web_socket_reader_free(&r);
	return 0;
}
