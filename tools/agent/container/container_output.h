// What a container writes, as its engine sends it, goes to two descriptors.
#pragma once
#include "tools/agent/container/container_frames.h"

struct container_output {
	struct container_frames frames;
	int fds[2];          // where standard output and error go
	uint64_t written[2]; // so many bytes went there
	uint64_t skipped
		[2]; // of the present stream: so many bytes are left that were written before
};

// The stream begins again with the first byte: what was written is not written again.
void container_output_begin(struct container_output *);
// False: a descriptor takes nothing any more, or the stream is broken.
bool container_output_take(void *output, const char *bytes, size_t size);
