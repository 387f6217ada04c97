// Whether an engine answers on its socket, and which it is: asked now and then, without waiting.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define ENGINE_WATCH_INTERVAL_MS 10000u
#define ENGINE_WATCH_TIMEOUT_MS 5000u
#define ENGINE_ANSWER_BYTES 16384u

struct engine_watch {
	const char *socket; // "": none
	bool is_seen;       // it has answered once
	bool is_healthy;    // its newest answer came
	char version[64];
	int fd;          // of the question under way; -1: none
	uint64_t due_ns; // monotonic: the next question, or when the answer is late
	uint32_t size;   // of the answer so far
	char answer[ENGINE_ANSWER_BYTES];
};

void engine_watch_open(struct engine_watch *, const char *socket);
void engine_watch_close(struct engine_watch *);
// Goes on with the question under way, or asks; a socket that it opens is added to the epoll set, with no data. True
// when what the engine is has changed.
bool engine_watch_step(struct engine_watch *, int epoll_fd, uint64_t now_ns);
// When to step next; UINT64_MAX: never.
uint64_t engine_watch_due_ns(const struct engine_watch *);
