#include "placement/direct/refusal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void every_node_has_one_category(void **state)
{
	static const struct device_ask two = {.count = 2};
	static struct device_need need = {.ask = &two};
	static const struct verdicts some = {.room = {100, 200, 300}};
	static const struct verdicts nothing = {0};
	static const struct verdicts gpu = {.of_group.devices = {&need, 1, 0}};
	static const uint8_t matches[] = {0x2};
	const struct {
		const struct verdicts *ask;
		struct fit_node node;
		uint8_t verdict, category;
	} rows[] = {
		{&some, {.place = FIT_ABSENT}, VERDICT_PASS, CATEGORY_ABSENT},
		{&some, {.place = FIT_NOT_READY}, VERDICT_POOL, CATEGORY_NOT_READY},
		{&some, {100, 200, 300}, VERDICT_PASS, CATEGORY_FITS},
		{&some, {100, 200, 300}, VERDICT_POOL, VERDICT_POOL},
		{&some, {0, 0, 0}, VERDICT_CONSTRAINT + 3, VERDICT_CONSTRAINT + 3},
		{&some, {99, 0, 0}, VERDICT_PASS, CATEGORY_CPU},
		{&some, {100, 199, 0}, VERDICT_PASS, CATEGORY_MEMORY},
		{&some, {100, 200, 299}, VERDICT_PASS, CATEGORY_DISK},
		// More is used than the node has: nothing fits, not even an ask for nothing.
		{&nothing, {.place = FIT_OVER | FIT_OVER_CPU}, VERDICT_PASS, CATEGORY_CPU},
		{&nothing, {.place = FIT_OVER | FIT_OVER_MEMORY}, VERDICT_PASS, CATEGORY_MEMORY},
		{&nothing, {.place = FIT_OVER | FIT_OVER_DISK}, VERDICT_PASS, CATEGORY_DISK},
		{&nothing, {.place = FIT_OVER | FIT_OVER_DISK | FIT_OVER_CPU}, VERDICT_PASS,
			CATEGORY_CPU},
		{&nothing, {0}, VERDICT_PASS, CATEGORY_FITS},
		{&gpu, {.devices_free = {8, 1}}, VERDICT_PASS, CATEGORY_DEVICE},
		{&gpu, {.devices_free = {0, 2}}, VERDICT_PASS, CATEGORY_FITS},
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (refusal_category(rows[i].ask, &rows[i].node, rows[i].verdict, matches) !=
			rows[i].category)
			fail_msg("row %u", i);
}

static void counts_become_a_refusal(void **state)
{
	uint32_t counts[CATEGORIES];
	for (uint32_t i = 0; i < CATEGORIES; i++)
		counts[i] = i + 1;
	struct place_refusal r;
	refusal_fill(counts, 3, &r);
	assert_int_equal(r.nodes_not_ready, CATEGORY_NOT_READY + 1);
	assert_int_equal(r.filtered_datacenter, VERDICT_DATACENTER + 1);
	assert_int_equal(r.filtered_class, VERDICT_POOL + 1);
	assert_int_equal(r.filtered_device, VERDICT_DEVICE + 1);
	assert_int_equal(r.exhausted_cpu, CATEGORY_CPU + 1);
	assert_int_equal(r.exhausted_memory, CATEGORY_MEMORY + 1);
	assert_int_equal(r.exhausted_disk, CATEGORY_DISK + 1);
	assert_int_equal(r.exhausted_device, CATEGORY_DEVICE + 1);
	assert_int_equal(r.constraint_count, 3);
	assert_int_equal(r.filtered_constraint[2], VERDICT_CONSTRAINT + 3);
	assert_int_equal(r.filtered_constraint[3], 0);
	// The refusal counts every node but absent ones.
	assert_int_equal(r.nodes_seen, CATEGORIES * (CATEGORIES + 1) / 2 - (CATEGORY_ABSENT + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_node_has_one_category),
		cmocka_unit_test(counts_become_a_refusal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
