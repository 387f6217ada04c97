// The only randomness (xoshiro256**, Blackman and Vigna): seeded from the system in a program, from
// a number in a test. One thread per generator.
#pragma once
#include "state/base/uuid.h"
#include <stdint.h>

struct prng {
	uint64_t state[4];
};

void prng_seed(struct prng *, uint64_t seed);
// Seeds from getrandom(2); aborts when the kernel has none.
void prng_seed_from_system(struct prng *);
uint64_t prng_u64(struct prng *);
// Uniform in [0, bound); bound > 0.
uint64_t prng_below(struct prng *, uint64_t bound);
double prng_unit(struct prng *); // [0, 1)
// A random (version 4) UUID.
struct uuid prng_uuid(struct prng *);
