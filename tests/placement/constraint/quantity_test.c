#include "placement/constraint/quantity.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NEITHER 0

static void orders(void **state)
{
	static const struct {
		const char *left, *right;
		uint8_t order;
	} rows[] = {
		{"11264 MiB", "11 GiB", ORDER_EQUAL},
		{"11GiB", "11264MiB", ORDER_EQUAL},
		{"8 GB", "8 GiB", ORDER_LESS},
		{"1.5 GHz", "1400 MHz", ORDER_GREATER},
		{"16000 MB/s", "15 GiB/s", ORDER_LESS},
		{"250 W", "0.25 kW", ORDER_EQUAL},
		{"250 mW", "1 W", ORDER_LESS},
		{"9", "10", ORDER_LESS},
		{"9223372036854775807", "9223372036854775806", ORDER_GREATER},
		{"2.50", "2.5", ORDER_EQUAL},
		{"-1", "1", ORDER_LESS},
		{"8 GiB", "8", NEITHER},
		{"8 GiB", "8 GHz", NEITHER},
		{"8", "eight", NEITHER},
		{"true", "True", ORDER_EQUAL},
		{"true", "false", ORDER_GREATER},
		{"abc", "abd", ORDER_LESS},
		{"GiB", "MiB", ORDER_LESS}, // a unit alone is text
		{"", "", ORDER_EQUAL},
		{"nan", "1", NEITHER},
		{" 1", "1", NEITHER},
		{"1e400", "1", NEITHER},
	};
	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (quantity_order(rows[i].left, rows[i].right) != rows[i].order)
			fail_msg("\"%s\" and \"%s\": %u", rows[i].left, rows[i].right,
				quantity_order(rows[i].left, rows[i].right));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(orders)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
