// What a client says over the WebSocket of a command inside a task: whatever it is, it is understood or means nothing.
#include "state/base/base64.h"
#include "state/base/check.h"
#include "tools/agent/exec/exec_frame.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exec_input in;
	uint8_t *bytes = malloc(BASE64_DECODED_MAX(size) + 1);
	CHECK(bytes);
	bool is_frame = exec_input_read(data, size, bytes, &in);
	CHECK(in.size <= BASE64_DECODED_MAX(size));
	CHECK(is_frame || in.size == 0);
	free(bytes);
	return 0;
}
