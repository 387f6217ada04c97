// Heads of answers, line by line as libcurl hands them over, each line from memory of its own size: what is kept is
// bounded, and nothing of a connection is handed on.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "tools/api/forward/answer_head.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct answer_head *head)
{
	size_t bytes = 0;
	CHECK(head->count <= ANSWER_HEADERS_MAX);
	for (uint32_t i = 0; i < head->count; i++) {
		CHECK(*head->headers[i].name);
		CHECK(strcasecmp(head->headers[i].name, "Connection") != 0);
		CHECK(strcasecmp(head->headers[i].name, "Content-Length") != 0);
		bytes += strlen(head->headers[i].name) + strlen(head->headers[i].value);
	}
	CHECK(bytes <= ANSWER_HEAD_BYTES_MAX);
	CHECK(!head->is_whole || head->status >= 200);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer_head head = {0};
	bool is_fit = true;
	while (size && is_fit) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) + 1 : size;
		char *line = memory_take(length);
		memcpy(line, data, length);
		is_fit = answer_head_take(&head, line, length);
		free(line);
		data += length;
		size -= length;
	}
	look_at(&head);
	answer_head_clear(&head);
	return 0;
}
