#include "state/records/shared_strings.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

enum { NAMES = 1024 };

// Into how many of as many places as names they come.
static uint32_t places_of(const uint64_t *names, uint64_t hash(uint64_t, const void *, uint32_t))
{
	bool taken[NAMES] = {false};
	uint32_t count = 0;

	for (uint32_t i = 0; i < NAMES; i++) {
		uint64_t place = hash(0, &names[i], sizeof names[i]) % NAMES;
		assert_true(place == hash(0, &names[i], sizeof names[i]) % NAMES);
		count += !taken[place];
		taken[place] = true;
	}
	return count;
}

// By chance 63 of 100 places are taken.
static void names_that_are_made_to_meet_do_not(void **unused)
{
	uint64_t made[NAMES], alike[NAMES];

	for (uint64_t i = 0; i < NAMES; i++) {
		made[i] = colliding_name(i);
		alike[i] = i << 32; // but at their ends
	}
	assert_int_equal(places_of(made, hash_bytes), 1);
	assert_in_range(places_of(made, hash_keyed), NAMES / 2, NAMES);
	assert_in_range(places_of(alike, hash_keyed), NAMES / 2, NAMES);
}

#define TELL "tell-hash"

static uint64_t hash_of_one_name(void)
{
	return hash_keyed(0, TELL, sizeof TELL);
}

// As another process of this program has it.
static uint64_t hash_elsewhere(void)
{
	int told[2], status;
	uint64_t hash;

	assert_return_code(pipe(told), errno);
	pid_t child = fork();
	if (child == 0) {
		dup2(told[1], STDOUT_FILENO);
		execl("/proc/self/exe", "test", TELL, NULL);
		_exit(127);
	}
	assert_int_equal(read(told[0], &hash, sizeof hash), sizeof hash);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(told[0]);
	close(told[1]);
	return hash;
}

// Or who has one could make names for all.
static void each_process_has_a_key_of_its_own(void **unused)
{
	uint64_t first = hash_elsewhere();

	assert_true(first != hash_elsewhere());
	assert_true(first != hash_of_one_name());
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		uint64_t hash = hash_of_one_name();
		return write(STDOUT_FILENO, &hash, sizeof hash) != sizeof hash;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hash_of_bytes_is_always_the_same),
		cmocka_unit_test(names_that_are_made_to_meet_do_not),
		cmocka_unit_test(each_process_has_a_key_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
