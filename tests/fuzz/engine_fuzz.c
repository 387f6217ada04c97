// What an engine sends over a connection of a command: the head of its answer, and frames of output, which are the same
// wherever they are cut. Each read is of memory of its own size.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/agent/container/container_frames.h"
#include "tools/agent/container/engine_hijack.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
	char *bytes[2];
	size_t sizes[2];
};

static bool hear_read(
	struct container_frames *frames, const uint8_t *data, size_t size, struct heard *heard)
{
	char *copy = memory_take(size);
	memcpy(copy, data, size);
	const char *bytes = copy;
	struct container_piece piece;
	bool is_good;
	while ((is_good = container_frames_next(frames, &bytes, &size, &piece)) && piece.size > 0) {
		CHECK(piece.bytes >= copy && piece.bytes + piece.size == bytes);
		memcpy(heard->bytes[piece.which] + heard->sizes[piece.which], piece.bytes,
			piece.size);
		heard->sizes[piece.which] += piece.size;
	}
	CHECK(!is_good || size == 0);
	free(copy);
	return is_good;
}

static bool hear_all(const uint8_t *data, size_t size, size_t step, struct heard *heard)
{
	struct container_frames frames = {0};
	bool is_good = true;
	for (int i = 0; i < 2; i++)
		heard->bytes[i] = memory_take(size + 1);
	for (size_t at = 0; at < size && is_good; at += step)
		is_good = hear_read(&frames, data + at, step < size - at ? step : size - at, heard);
	return is_good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heard whole = {0}, cut = {0};
	bool is_good = hear_all(data, size, size, &whole);
	CHECK(hear_all(data, size, size % 5 + 1, &cut) == is_good);
	for (int i = 0; i < 2; i++) {
		CHECK(whole.sizes[i] == cut.sizes[i]);
		CHECK(memcmp(whole.bytes[i], cut.bytes[i], whole.sizes[i]) == 0);
		free(whole.bytes[i]);
		free(cut.bytes[i]);
	}
	char *head = memory_take(size + 1);
	long status;
	size_t body_size;
	memcpy(head, data, size);
	head[size] = '\0';
	CHECK(!engine_head_read(head, &status, &body_size) || (status >= 100 && status <= 999));
	free(head);
	return 0;
}
