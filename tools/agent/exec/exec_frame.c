#include "tools/agent/exec/exec_frame.h"
#include "state/base/base64.h"
#include "state/base/check.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const stream_names[] = {[EXEC_STDOUT] = "stdout", [EXEC_STDERR] = "stderr"};

static uint16_t read_length(const json_t *size, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(size, key));
	return value < 0 ? 0 : value > UINT16_MAX ? UINT16_MAX : (uint16_t)value;
}

bool exec_input_read(const void *text, size_t size, uint8_t *data, struct exec_input *in)
{
	json_t *root = json_loadb(text, size, 0, NULL);
	const json_t *input = json_object_get(root, "stdin");
	const json_t *terminal = json_object_get(root, "tty_size");
	const json_t *bytes = json_object_get(input, "data");
	*in = (struct exec_input){.version = json_integer_value(json_object_get(root, "version")),
		.data = data,
		.closes = json_is_true(json_object_get(input, "close")),
		.has_size = json_is_object(terminal),
		.rows = read_length(terminal, "height"),
		.columns = read_length(terminal, "width")};
	bool is_fine = json_is_object(root);
	if (is_fine && json_is_string(bytes))
		is_fine = base64_decode(
			json_string_value(bytes), json_string_length(bytes), data, &in->size);
	json_decref(root);
	return is_fine;
}

size_t exec_output_write(
	char text[static EXEC_FRAME_BYTES], enum exec_stream stream, const void *bytes, size_t size)
{
	CHECK(size <= EXEC_OUTPUT_BYTES);
	size_t at = (size_t)snprintf(
		text, EXEC_FRAME_BYTES, "{\"%s\":{\"data\":\"", stream_names[stream]);
	base64_write(text + at, bytes, size);
	at += BASE64_ENCODED(size);
	memcpy(text + at, "\"}}", 3);
	return at + 3;
}

size_t exec_output_close_write(char text[static EXEC_FRAME_BYTES], enum exec_stream stream)
{
	return (size_t)snprintf(
		text, EXEC_FRAME_BYTES, "{\"%s\":{\"close\":true}}", stream_names[stream]);
}

size_t exec_end_write(char text[static EXEC_FRAME_BYTES], int exit_code)
{
	if (exit_code == 0)
		return (size_t)snprintf(text, EXEC_FRAME_BYTES, "{\"exited\":true,\"result\":{}}");
	return (size_t)snprintf(text, EXEC_FRAME_BYTES,
		"{\"exited\":true,\"result\":{\"exit_code\":%d}}", exit_code);
}
