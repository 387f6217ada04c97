#include "tools/agent/container/container_output.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define STREAM_ERROR 2

void container_output_begin(struct container_output *o)
{
	o->skipped[0] = o->written[0];
	o->skipped[1] = o->written[1];
	o->head_size = o->left = 0;
}

static bool put_bytes(struct container_output *o, uint32_t which, const char *bytes, size_t size)
{
	if (o->taker)
		return o->taker(o->context, bytes, size);
	uint64_t known = size < o->skipped[which] ? size : o->skipped[which];
	o->skipped[which] -= known;
	for (size_t at = known; at < size;) {
		ssize_t n = write(o->fds[which], bytes + at, size - at);
		if (n < 0 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
		o->written[which] += n > 0 ? (uint64_t)n : 0;
	}
	return true;
}

static uint32_t frame_size(const uint8_t *head)
{
	return (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7];
}

bool container_output_take(void *output, const char *bytes, size_t size)
{
	struct container_output *o = output;
	if (o->is_raw)
		return put_bytes(o, 0, bytes, size);
	while (size > 0) {
		if (o->left > 0) {
			size_t share = size < o->left ? size : o->left;
			if (!put_bytes(o, o->head[0] == STREAM_ERROR, bytes, share))
				return false;
			o->left -= (uint32_t)share;
			bytes += share;
			size -= share;
			continue;
		}
		o->head[o->head_size++] = (uint8_t)*bytes++;
		size--;
		if (o->head_size < sizeof o->head)
			continue;
		if (o->head[0] > STREAM_ERROR || o->head[1] || o->head[2] || o->head[3])
			return false;
		o->head_size = 0;
		o->left = frame_size(o->head);
	}
	return true;
}
