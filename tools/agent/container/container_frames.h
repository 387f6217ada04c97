// The stream that an engine makes of standard output and error: frames with a head of eight bytes each, or bytes as
// they are from a terminal. Cut anywhere, it is the same stream.
//
//	0    1 standard output (so is 0), 2 standard error
//	1    0 0 0
//	4    size of what follows, big-endian
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct container_frames {
	bool is_raw;
	uint8_t head[8];
	uint32_t head_size, left; // of the head so far; of the frame's bytes
};

struct container_piece {
	const char *bytes; // among those that were given
	size_t size;
	uint32_t which; // 0 standard output, 1 error
};

// Takes the next bytes of one frame off those that came, with the heads before them. A piece of no bytes: that was all
// of them. False: it is no such stream.
bool container_frames_next(
	struct container_frames *, const char **bytes, size_t *size, struct container_piece *);
