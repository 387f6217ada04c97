// Whose time of day is another than that of most.
#include "state/cluster/clocks.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HOUR_MS 3600000

struct seen {
	struct cluster_member members[CLUSTER_MEMBERS_MAX];
	uint32_t count;
};

// The first is this one. Told of a member that is gone: nothing.
static void see(struct seen *s, int64_t clock_ms, bool is_alive)
{
	struct cluster_member *m = &s->members[s->count];

	*m = (struct cluster_member){
		.is_self = s->count == 0, .is_alive = is_alive, .clock_ms = clock_ms};
	snprintf(m->id, sizeof m->id, "%u", s->count++);
}

static bool is_odd(struct seen *s, const struct seen *before)
{
	clocks_compare(s->members, s->count, before->members, before->count);
	return clock_is_odd(s->members, s->count);
}

static bool odd_among(const int64_t clocks_ms[], uint32_t count)
{
	struct seen s = {0}, nothing = {0};

	for (uint32_t i = 0; i < count; i++)
		see(&s, clocks_ms[i], true);
	return is_odd(&s, &nothing);
}

static void who_differs_from_more_than_agree_is_odd(void **unused)
{
	static const struct {
		int64_t clocks_ms[5];
		uint32_t count;
		bool is_odd;
	} cases[] = {
		{{HOUR_MS}, 1, false},
		{{HOUR_MS, HOUR_MS}, 2, false},
		{{HOUR_MS, 2 * HOUR_MS}, 2,
			false}, // nobody knows which is right, and one has to lead
		{{HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS}, 3, true},
		{{3 * HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS}, 3, true},
		{{HOUR_MS, HOUR_MS, 2 * HOUR_MS}, 3, false},
		{{HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS}, 3, false},
		{{HOUR_MS, HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS}, 4, false},
		{{HOUR_MS, HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS}, 5, true},
		{{HOUR_MS, HOUR_MS + CLOCK_APART_MS, HOUR_MS + CLOCK_APART_MS}, 3, false},
		{{HOUR_MS, HOUR_MS + CLOCK_APART_MS + 1, HOUR_MS + CLOCK_APART_MS + 1}, 3, true},
		{{HOUR_MS, HOUR_MS - CLOCK_APART_MS - 1, HOUR_MS - CLOCK_APART_MS - 1}, 3, true},
		{{HOUR_MS, 0, 0}, 3, false}, // who says nothing counts for nothing
		{{0, HOUR_MS, HOUR_MS}, 3, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (odd_among(cases[i].clocks_ms, cases[i].count) != cases[i].is_odd)
			fail_msg("case %zu", i);
}

// Who is gone still counts, by what was known of it, but does not lead: one that agrees with it has to be there.
static void who_is_gone_is_remembered(void **unused)
{
	struct seen before = {0}, now = {0}, alone = {0}, nothing = {0};

	see(&before, HOUR_MS, true);
	see(&before, 2 * HOUR_MS, true);
	see(&before, 2 * HOUR_MS, true);
	assert_true(is_odd(&before, &nothing));
	see(&now, 5 * HOUR_MS, true); // four hours later
	see(&now, 0, false);
	see(&now, 6 * HOUR_MS, true);
	assert_true(is_odd(&now, &before));
	assert_int_equal(now.members[1].clock_ahead_ms, HOUR_MS);
	see(&alone, 5 * HOUR_MS, true);
	see(&alone, 0, false);
	see(&alone, 0, false);
	assert_false(is_odd(&alone, &now));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_differs_from_more_than_agree_is_odd),
		cmocka_unit_test(who_is_gone_is_remembered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
