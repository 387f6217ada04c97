// A delta is a list of runs: u8 bytes that are equal, u8 bytes that differ, and those.
#include "state/base/bytes_delta.h"
#include <stdbool.h>
#include <string.h>

#define RUN_MOST 255u
// A new run takes two bytes, so fewer equal bytes are written as if they differed.
#define EQUAL_LEAST 3u

// Returns the first place from `at` on where the bytes differ, or size.
static size_t next_difference(const uint8_t *from, const uint8_t *to, size_t at, size_t size)
{
	for (uint64_t a, b; at + sizeof a <= size; at += sizeof a) {
		memcpy(&a, from + at, sizeof a);
		memcpy(&b, to + at, sizeof b);
		if (a != b)
			break;
	}
	while (at < size && from[at] == to[at])
		at++;
	return at;
}

// Returns the end of the run of differing bytes that begins at `at`.
static size_t end_of_run(const uint8_t *from, const uint8_t *to, size_t at, size_t size)
{
	size_t end = at + 1, most = size - at < RUN_MOST ? size : at + RUN_MOST;

	for (size_t next = end; next < most && next - end < EQUAL_LEAST; next++)
		if (from[next] != to[next])
			end = next + 1;
	return end;
}

struct delta {
	uint8_t *bytes;
	size_t size, room;
};

static bool add_run(struct delta *d, size_t equal, const uint8_t *to, size_t differing)
{
	if (d->room - d->size < 2 + differing)
		return false;
	d->bytes[d->size] = (uint8_t)equal;
	d->bytes[d->size + 1] = (uint8_t)differing;
	memcpy(d->bytes + d->size + 2, to, differing);
	d->size += 2 + differing;
	return true;
}

size_t bytes_delta_make(
	const uint8_t *from, const uint8_t *to, size_t size, uint8_t *delta, size_t room)
{
	struct delta d = {delta, 0, room};
	size_t done = 0, at;

	while ((at = next_difference(from, to, done, size)) < size) {
		for (; at - done > RUN_MOST; done += RUN_MOST)
			if (!add_run(&d, RUN_MOST, to, 0))
				return BYTES_DELTA_NONE;
		size_t end = end_of_run(from, to, at, size);
		if (!add_run(&d, at - done, to + at, end - at))
			return BYTES_DELTA_NONE;
		done = end;
	}
	return d.size;
}

void bytes_delta_apply(uint8_t *bytes, const uint8_t *delta, size_t delta_size)
{
	for (const uint8_t *end = delta + delta_size; delta < end;) {
		size_t equal = delta[0], differing = delta[1];
		bytes += equal;
		memcpy(bytes, delta + 2, differing);
		bytes += differing;
		delta += 2 + differing;
	}
}
