#include "tools/web_socket/frame_walk.h"
#include "tools/web_socket/frame.h"

// How long the head is, as far as its first two bytes tell.
static size_t head_bytes(const uint8_t *head)
{
	uint8_t size = head[1] & 0x7f;
	return 2u + (size == 126 ? 2u : size == 127 ? 8u : 0u) + (head[1] & 0x80 ? 4u : 0u);
}

static uint64_t payload_bytes(const uint8_t *head)
{
	uint8_t size = head[1] & 0x7f;
	uint64_t sum = 0;
	if (size < 126)
		return size;
	for (unsigned i = 0; i < (size == 126 ? 2u : 8u); i++)
		sum = sum << 8 | head[2 + i];
	return sum;
}

static void take_head(struct frame_walk *w, uint8_t byte)
{
	w->head[w->head_size++] = byte;
	if (w->head_size < 2 || w->head_size < head_bytes(w->head))
		return;
	w->left = payload_bytes(w->head);
	w->has_closed = w->has_closed || (w->head[0] & 0x0f) == WEB_SOCKET_CLOSE;
	w->head_size = 0;
}

void frame_walk_pass(struct frame_walk *w, const void *data, size_t size)
{
	const uint8_t *at = data;
	while (size) {
		size_t passed = 1;
		if (w->left) {
			passed = w->left < size ? (size_t)w->left : size;
			w->left -= passed;
		} else {
			take_head(w, *at);
		}
		at += passed;
		size -= passed;
	}
}

bool frame_walk_may_speak(const struct frame_walk *w)
{
	return !w->left && !w->head_size && !w->has_closed;
}
