#include "tools/agent/container/container_output.h"
#include <errno.h>
#include <unistd.h>

void container_output_begin(struct container_output *o)
{
	o->skipped[0] = o->written[0];
	o->skipped[1] = o->written[1];
	o->frames = (struct container_frames){.is_raw = o->frames.is_raw};
}

static bool put_bytes(struct container_output *o, uint32_t which, const char *bytes, size_t size)
{
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

bool container_output_take(void *output, const char *bytes, size_t size)
{
	struct container_output *o = output;
	struct container_piece piece;
	do {
		if (!container_frames_next(&o->frames, &bytes, &size, &piece) ||
			!put_bytes(o, piece.which, piece.bytes, piece.size))
			return false;
	} while (piece.size > 0);
	return true;
}
