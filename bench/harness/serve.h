// A loop that only takes turns at what has come, as a packet worker does, and how much it gets done.
#pragma once
#include <stdint.h>

// Handles what has come, at once. Returns how many packets that was.
typedef uint32_t serve_turn(void *context);

struct served {
	uint64_t packets;
	double seconds;
	double busy_seconds; // of the turns that had packets
};

// Takes turns for so long.
struct served serve(serve_turn *, void *context, uint64_t ns);
