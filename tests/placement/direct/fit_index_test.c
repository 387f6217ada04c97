// What the index notes as a change of a node; its trees and caches are tested against the fleet.
#include "placement/direct/fit_index.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SLOT 5u

static struct fit_input some_node(void)
{
	return (struct fit_input){.capacity = {1000, 1000, 1000},
		.node_class = 2,
		.class_hash = 17,
		.stamp = 3,
		.ready = true};
}

// Whether it is a change, and then whether one that describes the node anew.
enum noted { NOTHING, CHANGED, DESCRIBED };

static enum noted note(struct fit_index *x, const struct fit_input *in)
{
	uint64_t head = fit_index_head(x);
	fit_index_set(x, SLOT, in);
	if (fit_index_head(x) == head)
		return NOTHING;
	assert_int_equal(fit_index_head(x), head + 1);
	bool is_anew = fit_index_described(x, SLOT) == head + 1;
	assert_int_equal(fit_index_change(x, head)->slot, SLOT);
	assert_int_equal(fit_index_change(x, head)->described_anew, is_anew);
	return is_anew ? DESCRIBED : CHANGED;
}

static void a_node_is_described_anew_by_what_is_unique_to_it_and_by_its_class(void **state)
{
	struct fit_index *x = fit_index_create(PLACEMENT_BINPACK);
	struct fit_input in = some_node();
	assert_int_equal(note(x, NULL), NOTHING);
	assert_int_equal(fit_index_slots(x), 0);
	assert_int_equal(note(x, &in), DESCRIBED);
	assert_int_equal(note(x, &in), NOTHING);
	in.used.cpu_mhz = 10;
	assert_int_equal(note(x, &in), CHANGED);
	in.stamp++;
	assert_int_equal(note(x, &in), DESCRIBED);
	in.class_hash++; // its class came to mean another one
	assert_int_equal(note(x, &in), DESCRIBED);
	in.node_class++;
	assert_int_equal(note(x, &in), DESCRIBED);
	assert_int_equal(note(x, &in), NOTHING);
	in.ready = false;
	assert_int_equal(note(x, &in), CHANGED);
	assert_int_equal(note(x, NULL), DESCRIBED);
	assert_int_equal(note(x, NULL), NOTHING);
	fit_index_destroy(x);
}

// The note of a stamp is a bit shorter than a stamp.
static void a_stamp_of_all_its_bits_is_as_good_as_another(void **state)
{
	static const uint32_t stamps[] = {0, INT32_MAX, UINT32_MAX - 1, 0x80000003};
	struct fit_index *x = fit_index_create(PLACEMENT_SPREAD);
	struct fit_input in = some_node();
	for (uint32_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++) {
		in.stamp = stamps[i];
		assert_int_equal(note(x, &in), DESCRIBED);
		assert_int_equal(note(x, &in), NOTHING);
		in.used.memory_mb++;
		assert_int_equal(note(x, &in), CHANGED);
	}
	fit_index_destroy(x);
}

// What is on it may have changed although its sums are the same, also when the last of it went.
static void every_look_at_a_node_with_details_is_a_change(void **state)
{
	struct fit_index *x = fit_index_create(PLACEMENT_BINPACK);
	struct fit_input in = some_node();
	assert_int_equal(note(x, &in), DESCRIBED);
	in.has_details = true;
	assert_int_equal(note(x, &in), CHANGED);
	assert_int_equal(note(x, &in), CHANGED);
	in.has_details = false;
	assert_int_equal(note(x, &in), CHANGED);
	assert_int_equal(note(x, &in), NOTHING);
	fit_index_destroy(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_is_described_anew_by_what_is_unique_to_it_and_by_its_class),
		cmocka_unit_test(a_stamp_of_all_its_bits_is_as_good_as_another),
		cmocka_unit_test(every_look_at_a_node_with_details_is_a_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
