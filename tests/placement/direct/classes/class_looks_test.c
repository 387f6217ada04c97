// What is seen of classes: the same of those that nobody can tell apart by it, and of no others.
#include "placement/direct/classes/class_looks.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool are_alike(
	const char *look, const struct node_class *one, const struct node_class *other)
{
	struct look_bytes ordered = class_looks_order(&look, 1), a = {0}, b = {0};
	struct class_looks looks;

	class_looks_begin(&looks, &ordered);
	class_looks_see(&looks, one, &a);
	class_looks_see(&looks, other, &b);
	bool are = a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
	class_looks_release(&looks);
	free(ordered.bytes);
	free(a.bytes);
	free(b.bytes);
	return are;
}

static void check_order(const char **texts, uint32_t count, const char *wanted, uint32_t size)
{
	struct look_bytes ordered = class_looks_order(texts, count);

	assert_int_equal(ordered.size, size);
	assert_true(size == 0 || memcmp(ordered.bytes, wanted, size) == 0);
	free(ordered.bytes);
}

static void the_same_looks_are_the_same_bytes(void **state)
{
	const char *one[] = {"${meta.b}", "${attr.a}", "${meta.b}"};
	const char *other[] = {NULL, "${attr.a}", "a literal", "${meta.b}", "${meta.unique.c}",
		"${node.unique.name}", "${attr.unique.d}"};
	static const char wanted[] = "${attr.a}\0${meta.b}";

	check_order(one, 3, wanted, sizeof wanted);
	check_order(other, 7, wanted, sizeof wanted);
	check_order(other + 4, 0, NULL, 0);
}

static void a_class_is_its_place_and_its_name(void **state)
{
	const struct node_class one = {.datacenter = "dc1", .class_name = "a", .pool = "p"};
	struct node_class other = one;

	assert_true(are_alike("${node.datacenter}", &one, &other));
	other.datacenter = "dc2";
	assert_false(are_alike("${node.datacenter}", &one, &other));
	assert_true(are_alike("${node.class}", &one, &other));
	other.class_name = "";
	assert_false(are_alike("${node.class}", &one, &other));
	assert_true(are_alike("${node.pool}", &one, &other));
	other.pool = "q";
	assert_false(are_alike("${node.pool}", &one, &other));
}

static void only_what_is_looked_at_counts(void **state)
{
	const struct attribute a[] = {{"k", "1"}, {"l", "2"}}, b[] = {{"k", "1"}, {"l", "3"}},
			       empty[] = {{"k", ""}};
	const struct node_class one = {.attributes = a, .attribute_count = 2},
				other = {.attributes = b, .attribute_count = 2},
				of_empty = {.attributes = empty, .attribute_count = 1},
				of_none = {.attribute_count = 0},
				of_meta = {.meta = a, .meta_count = 2};

	assert_true(are_alike("${attr.k}", &one, &other));
	assert_false(are_alike("${attr.l}", &one, &other));
	assert_false(are_alike("${attr.k}", &of_empty, &of_none));
	assert_false(are_alike("${attr.k}", &one, &of_meta));
	assert_true(are_alike("${attr.none}", &one, &of_meta));
	assert_false(are_alike("${meta.k}", &one, &of_meta));
}

// One that is there but not healthy is not one that is missing.
static void drivers_are_looked_at_by_name(void **state)
{
	const struct attribute healthy[] = {{"a", "1"}, {"b", "1"}}, ill[] = {{"a", "0"}};
	const struct node_class one = {.drivers = healthy, .driver_count = 2},
				other = {.drivers = healthy, .driver_count = 1},
				of_ill = {.drivers = ill, .driver_count = 1},
				of_none = {.driver_count = 0};

	assert_true(are_alike(LOOK_AT_DRIVER "a", &one, &other));
	assert_false(are_alike(LOOK_AT_DRIVER "b", &one, &other));
	assert_false(are_alike(LOOK_AT_DRIVER "a", &one, &of_ill));
	assert_false(are_alike(LOOK_AT_DRIVER "a", &of_ill, &of_none));
	assert_true(are_alike("${attr.a}", &one, &of_none));
}

static void devices_are_looked_at_as_a_whole(void **state)
{
	const struct attribute small = {"memory", "8 GiB"}, large = {"memory", "16 GiB"};
	const struct device_group device = {.vendor = "v",
		.type = "gpu",
		.name = "t4",
		.instances = 2,
		.attribute_count = 1,
		.attributes = &small};
	struct device_group changed[5] = {device, device, device, device, device};
	const struct node_class one = {.devices = &device, .device_count = 1};

	changed[0].vendor = "w";
	changed[1].type = "fpga";
	changed[2].name = "t5";
	changed[3].instances = 3;
	changed[4].attributes = &large;
	for (uint32_t i = 0; i < 5; i++) {
		const struct node_class other = {.devices = &changed[i], .device_count = 1};
		assert_false(are_alike(LOOK_AT_DEVICES, &one, &other));
		assert_true(are_alike("${node.pool}", &one, &other));
	}
	const struct device_group twice[] = {device, device};
	assert_false(are_alike(
		LOOK_AT_DEVICES, &one, &(struct node_class){.devices = twice, .device_count = 2}));
	assert_true(are_alike(
		LOOK_AT_DEVICES, &one, &(struct node_class){.devices = twice, .device_count = 1}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_looks_are_the_same_bytes),
		cmocka_unit_test(a_class_is_its_place_and_its_name),
		cmocka_unit_test(only_what_is_looked_at_counts),
		cmocka_unit_test(drivers_are_looked_at_by_name),
		cmocka_unit_test(devices_are_looked_at_as_a_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
