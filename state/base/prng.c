#include "state/base/prng.h"
#include "state/base/check.h"
#include <errno.h>
#include <sys/random.h>

static uint64_t rotate_left(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

// splitmix64 spreads a small seed over the whole state, which must not be all zeros.
void prng_seed(struct prng *p, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ull;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
		p->state[i] = z ^ z >> 31;
	}
}

void prng_seed_from_system(struct prng *p)
{
	ssize_t got;
	do {
		got = getrandom(p->state, sizeof p->state, 0);
	} while (got < 0 && errno == EINTR);
	CHECK(got == (ssize_t)sizeof p->state);
	CHECK(p->state[0] | p->state[1] | p->state[2] | p->state[3]);
}

uint64_t prng_u64(struct prng *p)
{
	uint64_t *s = p->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

// Multiplication maps 64 bits onto the bound; the few products that would favour some numbers are
// drawn again (Lemire).
uint64_t prng_below(struct prng *p, uint64_t bound)
{
	CHECK(bound > 0);
	unsigned __int128 product = (unsigned __int128)prng_u64(p) * bound;
	if ((uint64_t)product < bound) {
		uint64_t uneven = -bound % bound;
		while ((uint64_t)product < uneven)
			product = (unsigned __int128)prng_u64(p) * bound;
	}
	return (uint64_t)(product >> 64);
}

double prng_unit(struct prng *p)
{
	return (double)(prng_u64(p) >> 11) * 0x1p-53;
}

struct uuid prng_uuid(struct prng *p)
{
	struct uuid id;
	uint64_t words[2] = {prng_u64(p), prng_u64(p)};
	memcpy(id.bytes, words, sizeof id.bytes);
	id.bytes[6] = (uint8_t)((id.bytes[6] & 0x0f) | 0x40);
	id.bytes[8] = (uint8_t)((id.bytes[8] & 0x3f) | 0x80);
	return id;
}
