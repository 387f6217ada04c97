// Random changes of known inputs: small ones reach the edges of a format, splices reach its middle.
#pragma once
#include "state/base/prng.h"
#include <stddef.h>
#include <stdint.h>

struct fuzz_input {
	uint8_t *data;
	size_t size;
};

// Writes a changed copy of one of count > 0 inputs to out; returns its size, at most capacity.
// Every input must be at most capacity.
size_t fuzz_mutate(struct prng *, const struct fuzz_input *inputs, size_t count, uint8_t *out,
	size_t capacity);
