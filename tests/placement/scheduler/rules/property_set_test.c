// Counts of a property's values, and their range, compared with a plain look at all of them.
#include "placement/scheduler/rules/property_set.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/base/text.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { VALUES = 12, STEPS = 20000 };

struct plain {
	int used, cleared;
	bool counted;
};

static struct property_range plain_range(const struct plain *values)
{
	struct property_range r = {0};
	for (uint32_t i = 0; i < VALUES; i++) {
		int64_t left = values[i].used - values[i].cleared;
		if (!values[i].counted)
			continue;
		left = left > 0 ? left : 0;
		r.least = !r.any || left < r.least ? left : r.least;
		r.most = !r.any || left > r.most ? left : r.most;
		r.any = true;
	}
	return r;
}

static void check_range(const struct property_set *s, const struct plain *values)
{
	struct property_range is = property_set_range(s), wanted = plain_range(values);

	assert_int_equal(is.any, wanted.any);
	assert_int_equal(is.least, wanted.least);
	assert_int_equal(is.most, wanted.most);
}

static void the_range_follows_each_change(void **unused)
{
	struct node nodes[VALUES];
	struct plain values[VALUES] = {0};
	struct property_set s;
	struct prng prng;

	prng_seed(&prng, 3);
	memset(nodes, 0, sizeof nodes);
	property_set_begin(&s, "${node.unique.id}", NULL);
	for (uint32_t i = 0; i < VALUES; i++)
		nodes[i].id.bytes[0] = (uint8_t)(i + 1);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t at = (uint32_t)prng_below(&prng, 1 + step * VALUES / STEPS);
		int by = prng_below(&prng, 3) ? 1 : -1;
		bool clears = prng_below(&prng, 3) == 0;
		(clears ? property_set_clear : property_set_use)(&s, &nodes[at], by);
		*(clears ? &values[at].cleared : &values[at].used) += by;
		values[at].counted = true;
		check_range(&s, values);
		if (prng_below(&prng, 2))
			property_set_settle(&s);
		check_range(&s, values);
	}
	property_set_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_range_follows_each_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
