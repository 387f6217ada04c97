// An engine on a socket that answers what it is told to, one connection after the other. One a program.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct engine_answer {
	const char *asked; // part of the request's first line
	const char *says;
	size_t size; // 0: to its NUL
	size_t step; // it says so many bytes at once; 0: all
	bool holds;  // until somebody ends the connection
	bool is_once;
};

#define ENGINE_ANSWERS_MAX 32u

#define ENGINE_JSON(status, text)                                                                 \
	"HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" text \
	"\n"

// The first answer that fits is given, unless it is given once and was; the last one fits all ("" is asked for). The
// caller keeps them.
void scripted_engine_start(const char *socket_path, const struct engine_answer *answers);
void scripted_engine_stop(void);
// First lines of requests, as long as there is room for them. Once the engine is stopped.
const char *scripted_engine_requests(void);
