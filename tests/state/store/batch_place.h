// Where the log keeps a batch, for tests that damage it.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct batch_place {
	char file[300];
	size_t at, bytes; // of its record
};

// The place of the newest batch that begins with this index in the log of a store directory; fails the test when there
// is none.
struct batch_place find_batch(const char *directory, uint64_t index);
