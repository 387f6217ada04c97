// The table of metrics: names, units and help as scrapers want them.
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "tools/metrics/families.h"
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool ends_in(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);
	return size > end_size && strcmp(text + size - end_size, end) == 0;
}

static const struct metric_description *described(const char *name)
{
	for (uint32_t i = 0; i < METRIC_FAMILIES_COUNT; i++)
		if (strcmp(metric_descriptions[i].name, name) == 0)
			return &metric_descriptions[i];
	return NULL;
}

// The name of the family in OpenMetrics, if it is a counter.
static void name_without_total(const struct metric_description *d, char base[static 128])
{
	snprintf(base, 128, "%s", d->name);
	if (ends_in(base, "_total"))
		base[strlen(base) - strlen("_total")] = '\0';
}

static void names_are_valid_and_stand_once(void **unused)
{
	for (uint32_t i = 0; i < METRIC_FAMILIES_COUNT; i++) {
		const struct metric_description *d = &metric_descriptions[i];
		assert_true(isalpha((unsigned char)d->name[0]));
		for (const char *c = d->name; *c; c++)
			if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.')
				fail_msg("%s", d->name);
		if (described(d->name) != d)
			fail_msg("%s stands twice", d->name);
	}
}

static void help_is_a_sentence(void **unused)
{
	for (uint32_t i = 0; i < METRIC_FAMILIES_COUNT; i++) {
		const char *help = metric_descriptions[i].help;
		size_t size = strlen(help);
		bool fits = size >= 5 && strcspn(help, "\\\"\n") == size;
		bool ends = fits && help[size - 1] == '.';
		bool begins = isupper((unsigned char)help[0]) || help[0] == '1';
		if (!ends || !begins)
			fail_msg("%s: %s", metric_descriptions[i].name, help);
	}
}

static void units_are_those_of_the_names(void **unused)
{
	static const char *const units[] = {
		"milliseconds", "seconds", "bytes", "ms", "cycles", "entries"};
	for (uint32_t i = 0; i < METRIC_FAMILIES_COUNT; i++) {
		const struct metric_description *d = &metric_descriptions[i];
		const char *unit = "";
		char base[128], end[32];
		name_without_total(d, base);
		for (size_t u = 0; u < sizeof units / sizeof units[0] && !*unit; u++) {
			snprintf(end, sizeof end, "_%s", units[u]);
			unit = ends_in(base, end) ? units[u] : "";
		}
		if (strcmp(d->unit, unit) != 0)
			fail_msg("%s has unit \"%s\", not \"%s\"", d->name, d->unit, unit);
	}
}

// OpenMetrics calls a counter by its name without _total; no other family may have that name.
static void counters_have_names_of_counters_or_stay_as_they_are(void **unused)
{
	uint32_t as_they_are = 0;
	for (uint32_t i = 0; i < METRIC_FAMILIES_COUNT; i++) {
		const struct metric_description *d = &metric_descriptions[i];
		char base[128];
		name_without_total(d, base);
		bool fits = ends_in(d->name, "_total") && !described(base);
		bool is_as_it_is = d->type == METRIC_TYPE_COUNTER_AS_IS;
		bool counts = is_as_it_is || d->type == METRIC_TYPE_COUNTER;
		if (counts ? fits == is_as_it_is : ends_in(d->name, "_total"))
			fail_msg("%s is of another type", d->name);
		if (d->type == METRIC_TYPE_INFO ? !ends_in(d->name, "_info")
						: ends_in(d->name, "_info"))
			fail_msg("%s is of another type", d->name);
		as_they_are += is_as_it_is;
	}
	assert_int_equal(as_they_are, 2);
}

static void expect_row(
	enum metric_family family, const char *before, const char *word, const char *after)
{
	char name[96];
	snprintf(name, sizeof name, "%s%s%s", before, word, after);
	assert_string_equal(metric_descriptions[family].name, name);
}

static void families_of_types_stand_in_their_order(void **unused)
{
	for (uint32_t t = 0; t < EVAL_TYPES; t++) {
		const char *type = eval_type_names[t];
		expect_row(METRIC_BROKER_SERVICE_READY + t, "nomad.nomad.broker.", type, ".ready");
		expect_row(
			METRIC_BROKER_SERVICE_UNACKED + t, "nomad.nomad.broker.", type, ".unacked");
		expect_row(METRIC_WORKER_INVOKE_SCHEDULER_SERVICE + t,
			"nomad.nomad.worker.invoke_scheduler.", type, "");
	}
	for (uint32_t s = 0; s <= JOB_DEAD; s++)
		expect_row(METRIC_JOB_STATUS_PENDING + s, "nomad.nomad.job_status.",
			job_status_names[s], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_valid_and_stand_once),
		cmocka_unit_test(help_is_a_sentence),
		cmocka_unit_test(units_are_those_of_the_names),
		cmocka_unit_test(counters_have_names_of_counters_or_stay_as_they_are),
		cmocka_unit_test(families_of_types_stand_in_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
