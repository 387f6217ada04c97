// Where in its frames a WebSocket is, for who passes its bytes on and does not read them: between two of them something
// may be said in its place.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_walk {    // all zero: at the beginning
	uint64_t left; // of the payload
	uint8_t head[14];
	uint8_t head_size;
	bool has_closed; // a frame that closes has begun
};

void frame_walk_pass(struct frame_walk *, const void *data, size_t size);
// Whether the next byte begins a frame, and one may come.
bool frame_walk_may_speak(const struct frame_walk *);
