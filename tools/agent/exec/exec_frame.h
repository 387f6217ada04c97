// What is said over the WebSocket of a command inside a task: one JSON object a message.
//
//	from the client  {"version":1,"auth_token":"…"} first, where it was announced
//	                 {"stdin":{"data":"BASE64"}} {"stdin":{"close":true}} {"tty_size":{"height":24,"width":80}} {}
//	to the client    {"stdout":{"data":"BASE64"}} {"stdout":{"close":true}}, the same of stderr
//	                 {"exited":true,"result":{"exit_code":7}}, without an exit_code that is 0
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The most bytes of a client's message, and of an output in one of the agent's.
#define EXEC_MESSAGE_BYTES_MAX (256u * 1024)
#define EXEC_OUTPUT_BYTES 4096u

struct exec_input {
	int64_t version; // 0: the message has none
	uint8_t *data;   // for standard input; the caller's, of size characters at least
	size_t size;     // of data that came
	bool closes;     // standard input ends behind the data
	bool has_size;   // of the terminal
	uint16_t rows, columns;
};

// False: it is no such object, and means nothing. data is of BASE64_DECODED_MAX(size) bytes.
bool exec_input_read(const void *text, size_t size, uint8_t *data, struct exec_input *);

#define EXEC_FRAME_BYTES (EXEC_OUTPUT_BYTES * 4 / 3 + 64)
enum exec_stream { EXEC_STDOUT, EXEC_STDERR };
// Write a message, without a NUL, and return its size. bytes are at most EXEC_OUTPUT_BYTES.
size_t exec_output_write(
	char text[static EXEC_FRAME_BYTES], enum exec_stream, const void *bytes, size_t size);
size_t exec_output_close_write(char text[static EXEC_FRAME_BYTES], enum exec_stream);
size_t exec_end_write(char text[static EXEC_FRAME_BYTES], int exit_code);
