#include "state/records/shared_strings.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// As it was first written: what was shown once of a class stays the same.
static uint64_t naive_hash(uint64_t seed, const uint8_t *bytes, uint32_t size)
{
	uint64_t hash = (seed ^ size) * 0x9e3779b97f4a7c15ull;

	for (uint32_t at = 0; at < size; at += 8) {
		uint64_t word = 0;
		for (uint32_t i = 0; i < 8 && at + i < size; i++)
			word |= (uint64_t)bytes[at + i] << 8 * i;
		hash = (hash ^ word) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
	}
	return hash;
}

static void a_hash_of_bytes_is_always_the_same(void **unused)
{
	uint8_t bytes[64];

	for (uint32_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 37 + 200);
	for (uint32_t size = 0; size < sizeof bytes; size++)
		assert_true(hash_bytes(size, bytes, size) == naive_hash(size, bytes, size));
}

// Names of eight bytes, made so that their hash_bytes all have the same low half: it can be computed backwards.
static uint64_t colliding_name(uint64_t number)
{
	uint64_t hash = number << 32, inverse = 1;
	for (uint32_t i = 0; i < 6; i++)
		inverse *= 2 - 0xff51afd7ed558ccdull * inverse;
	hash ^= hash >> 32;
	return hash * inverse ^ 8 * 0x9e3779b97f4a7c15ull;
}

static void names_that_are_made_to_meet_do_not(void **unused)
{
	enum { NAMES = 1024 };
	static bool known[NAMES], keyed[NAMES];
	uint32_t known_places = 0, keyed_places = 0;

	for (uint64_t i = 0; i < NAMES; i++) {
		uint64_t name = colliding_name(i);
		uint64_t place = hash_bytes(0, &name, sizeof name) % NAMES;
		known_places += !known[place];
		known[place] = true;
		place = hash_keyed(0, &name, sizeof name) % NAMES;
		assert_true(place == hash_keyed(0, &name, sizeof name) % NAMES);
		keyed_places += !keyed[place];
		keyed[place] = true;
	}
	assert_int_equal(known_places, 1);
	// Of as many places as names, 63 of 100 are taken by chance.
	assert_in_range(keyed_places, NAMES / 2, NAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hash_of_bytes_is_always_the_same),
		cmocka_unit_test(names_that_are_made_to_meet_do_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
