// How a worker rests when its queue is empty: awake at first, then in naps of growing length, which become longer still
// when nothing came for long. Owned by its worker's thread.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define REST_TURNS_AWAKE 256u
#define REST_NAP_US_FIRST 8u
// When so many naps in a row found nothing, naps may become so many times as long.
#define REST_NAPS_QUIET 128u
#define REST_QUIET_TIMES 4u

struct rest {
	uint32_t longest_us; // nap, while packets come now and then
	// Since the newest packet.
	uint32_t idle_turns; // at most REST_TURNS_AWAKE
	uint32_t naps;       // at most REST_NAPS_QUIET
	uint32_t nap_us;     // of the last one; 0: none
};

// Packets came: the worker is awake.
void rest_ends(struct rest *);
// A turn found nothing. Returns true when the worker may leave its core.
bool rest_turn(struct rest *);
// Returns how long to nap now, in microseconds, unless something rouses the worker.
uint32_t rest_nap(struct rest *);
