// What a container writes, as its engine sends it: frames of standard output and error, with a head of eight bytes
// each, or bytes as they are from a terminal.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct container_output {
	bool is_raw;
	int fds[2]; // where standard output and error go
	// Takes both in their place; NULL: nothing does.
	bool (*taker)(void *context, const char *bytes, size_t size);
	void *context;
	uint64_t written[2]; // so many bytes went there
	uint64_t skipped
		[2]; // of the present stream: so many bytes are left that were written before
	uint8_t head[8];
	uint32_t head_size, left; // of the head so far; of the frame's bytes
};

// The stream begins again with the first byte: what was written is not written again.
void container_output_begin(struct container_output *);
// False: a descriptor takes nothing any more, or the stream is broken.
bool container_output_take(void *output, const char *bytes, size_t size);
