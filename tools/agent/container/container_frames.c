#include "tools/agent/container/container_frames.h"

#define STREAM_ERROR 2

static uint32_t frame_size(const uint8_t *head)
{
	return (uint32_t)head[4] << 24 | (uint32_t)head[5] << 16 | (uint32_t)head[6] << 8 | head[7];
}

// False: it is none.
static bool take_head(struct container_frames *f, const char **bytes, size_t *size)
{
	while (f->left == 0 && *size > 0) {
		f->head[f->head_size++] = (uint8_t) * (*bytes)++;
		(*size)--;
		if (f->head_size < sizeof f->head)
			continue;
		if (f->head[0] > STREAM_ERROR || f->head[1] || f->head[2] || f->head[3])
			return false;
		f->head_size = 0;
		f->left = frame_size(f->head);
	}
	return true;
}

bool container_frames_next(
	struct container_frames *f, const char **bytes, size_t *size, struct container_piece *piece)
{
	bool is_good = f->is_raw || take_head(f, bytes, size);
	size_t share = !is_good ? 0 : f->is_raw || *size < f->left ? *size : f->left;
	*piece = (struct container_piece){*bytes, share, !f->is_raw && f->head[0] == STREAM_ERROR};
	f->left -= f->is_raw ? 0 : (uint32_t)share;
	*bytes += share;
	*size -= share;
	return is_good;
}
