#include "state/base/prng.h"
#include "tools/client/description.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct wire_register whole, part;
static struct description_frames frames;
static char letters[ATTRIBUTE_VALUE_BYTES_MAX];
static const struct wire_key key = {{3, 4}};

static void fill(uint16_t pairs, struct prng *prng, uint32_t value_bytes_max)
{
	memset(letters, 'a', sizeof letters);
	whole = (struct wire_register){.node = {{1}},
		.cpu_mhz = 1,
		.name = TEXT("node"),
		.version = TEXT("1"),
		.device_group_count = 1,
		.device_groups = {{TEXT("nvidia"), TEXT("gpu"), TEXT("A10"), 2}},
		.pair_count = pairs};
	for (uint32_t i = 0; i < pairs; i++) {
		whole.pairs[i].kind = (uint8_t)(i % 3);
		whole.pairs[i].name = (struct text){letters, 1 + (uint32_t)prng_below(prng, 100)};
		whole.pairs[i].value =
			(struct text){letters, (uint32_t)prng_below(prng, value_bytes_max + 1)};
	}
}

// Joins the parts again and compares.
static void check_frames(void)
{
	uint32_t pairs = 0;
	for (uint32_t i = 0; i < frames.count; i++) {
		struct wire_header h;
		assert_int_equal(
			wire_header_decode(frames.frames[i], frames.lengths[i], &h), WIRE_OK);
		assert_true(wire_verify(&key, frames.frames[i], frames.lengths[i]));
		assert_true(wire_register_decode(frames.frames[i], &h, &part));
		assert_int_equal(h.sequence, 77);
		assert_int_equal(part.part, i);
		assert_int_equal(part.parts, frames.count);
		if (i == 0)
			assert_true(text_equal(part.name, whole.name));
		for (uint32_t p = 0; p < part.pair_count; p++, pairs++) {
			assert_int_equal(part.pairs[p].kind, whole.pairs[pairs].kind);
			assert_true(text_equal(part.pairs[p].name, whole.pairs[pairs].name));
			assert_true(text_equal(part.pairs[p].value, whole.pairs[pairs].value));
		}
	}
	assert_int_equal(pairs, whole.pair_count);
}

static void parts_join_to_the_whole(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 1);
	uint32_t most = 0;
	for (uint16_t pairs = 0; pairs <= 120; pairs++) {
		fill(pairs, &prng, 60);
		assert_true(description_encode(&whole, 77, 1, &key, &frames));
		check_frames();
		most = frames.count > most ? frames.count : most;
	}
	assert_true(most > 4);
	fill(5, &prng, ATTRIBUTE_VALUE_BYTES_MAX);
	assert_true(description_encode(&whole, 77, 1, &key, &frames));
	check_frames();
}

static void too_much_is_refused(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 2);
	fill(NODE_ATTRIBUTES_MAX, &prng, 200);
	assert_false(description_encode(&whole, 77, 1, &key, &frames));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_join_to_the_whole),
		cmocka_unit_test(too_much_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
