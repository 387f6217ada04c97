// Counts of refused nodes against sums that are made anew each time.
#include "placement/scheduler/stack/refusal_counts.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define REASONS 40u
#define CLASSES 5u
#define ROUNDS 3000u
static const enum stack_outcome outcomes[] = {STACK_FILTERED, STACK_EXHAUSTED};

struct naive {
	int64_t counts[2][REASONS][CLASSES];
	bool is_changed[2][REASONS];
};

static char reasons[REASONS][16], classes[CLASSES][16]; // the first class has no name

static void change(struct refusal_counts *t, struct naive *n, struct prng *random)
{
	uint32_t outcome = (uint32_t)prng_below(random, 2);
	uint32_t reason = (uint32_t)prng_below(random, REASONS);
	uint32_t of_class = (uint32_t)prng_below(random, CLASSES);
	int64_t *count = &n->counts[outcome][reason][of_class];
	int64_t by = (int64_t)prng_below(random, 4) - (*count < 3 ? *count : 3);

	refusal_counts_add(t, reasons[reason], classes[of_class], outcomes[outcome], by);
	*count += by;
	n->is_changed[outcome][reason] |= by != 0;
}

static int64_t of_reason(const struct naive *n, uint32_t outcome, uint32_t reason)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < CLASSES; i++)
		sum += n->counts[outcome][reason][i];
	return sum;
}

static int64_t of_class(const struct naive *n, uint32_t outcome, uint32_t which)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < REASONS; i++)
		sum += n->counts[outcome][i][which];
	return sum;
}

static void check_classes(const struct naive *n, const struct naive *beside, uint32_t outcome,
	int64_t total, const struct array *named)
{
	for (uint32_t i = 0; i < CLASSES; i++) {
		int64_t sum = of_class(n, outcome, i) + (beside ? of_class(beside, outcome, i) : 0);
		assert_int_equal(count_get(named, classes[i]), i == 0 ? 0 : sum);
		total -= sum;
	}
	assert_int_equal(total, 0);
}

static void check_all(const struct refusal_counts *t, const struct naive *n)
{
	struct arena arena = {0};
	struct alloc_metrics m = {0};

	refusal_counts_report(t, &m, &arena);
	check_classes(n, NULL, 0, m.nodes_filtered, &m.class_filtered);
	check_classes(n, NULL, 1, m.nodes_exhausted, &m.class_exhausted);
	for (uint32_t i = 0; i < REASONS; i++) {
		assert_int_equal(count_get(&m.constraint_filtered, reasons[i]), of_reason(n, 0, i));
		assert_int_equal(count_get(&m.dimension_exhausted, reasons[i]), of_reason(n, 1, i));
	}
	arena_release(&arena);
}

// A reason that did not change is not named, also when the counts beside have it.
static void check_changes(const struct refusal_counts *t, const struct naive *n,
	const struct refusal_counts *other, const struct naive *beside)
{
	struct arena arena = {0};
	struct alloc_metrics m = {0};

	refusal_counts_report_changes(t, other, &m, &arena);
	check_classes(n, beside, 0, m.nodes_filtered, &m.class_filtered);
	check_classes(n, beside, 1, m.nodes_exhausted, &m.class_exhausted);
	for (uint32_t i = 0; i < REASONS; i++) {
		int64_t filtered = of_reason(n, 0, i) + of_reason(beside, 0, i);
		assert_int_equal(count_get(&m.constraint_filtered, reasons[i]),
			n->is_changed[0][i] ? filtered : 0);
		assert_int_equal(count_get(&m.dimension_exhausted, reasons[i]),
			of_reason(n, 1, i) + of_reason(beside, 1, i));
	}
	arena_release(&arena);
}

static void counts_are_those_that_were_added(void **state)
{
	static struct naive naive[2];
	struct arena arena = {0};
	struct refusal_counts counts[2] = {{.arena = &arena}, {.arena = &arena}};
	struct prng random;

	prng_seed(&random, 31);
	for (uint32_t i = 0; i < REASONS; i++)
		snprintf(reasons[i], sizeof reasons[i], "reason %u", i * 7 % REASONS);
	for (uint32_t i = 1; i < CLASSES; i++)
		snprintf(classes[i], sizeof classes[i], "class %u", i);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		change(&counts[i % 2], &naive[i % 2], &random);
		check_all(&counts[i % 2], &naive[i % 2]);
		check_changes(&counts[0], &naive[0], &counts[1], &naive[1]);
		if (prng_below(&random, 20) > 0)
			continue;
		refusal_counts_forget_changes(&counts[0]);
		for (uint32_t reason = 0; reason < REASONS; reason++)
			naive[0].is_changed[0][reason] = false;
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_that_were_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
