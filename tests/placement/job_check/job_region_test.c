// A region's settings go into the job.
#include "placement/job_check/job_check.h"
#include "placement/job_check/job_region.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct job_region *add_region(struct job *job, const char *name)
{
	struct job_region *r = array_append(&job->multiregion->regions, sizeof *r);

	r->name = text_copy(text_of(name));
	return r;
}

static void add_meta(struct array *meta, const char *name, const char *value)
{
	struct string_pair *pair = map_item(meta, sizeof *pair, name);

	free(pair->value);
	pair->value = text_copy(text_of(value));
}

static struct job *of_two_regions(void)
{
	struct job *job = job_of(JOB_SERVICE);

	job->multiregion = block(&multiregion_description);
	add_region(job, "east");
	struct job_region *west = add_region(job, "west");
	west->count = 7;
	west->node_pool = text_copy(TEXT("gpu"));
	*(char **)array_append(&west->datacenters, sizeof(char *)) = text_copy(TEXT("w1"));
	*(char **)array_append(&west->datacenters, sizeof(char *)) = text_copy(TEXT("w2"));
	add_meta(&west->meta, "b", "west");
	add_meta(&west->meta, "c", "west");
	add_meta(&job->meta, "a", "job");
	add_meta(&job->meta, "b", "job");
	return job;
}

static void a_region_has_its_say(void **state)
{
	struct job *job = of_two_regions();

	group_of(job)->count = 0;
	job_canonicalize(job);
	// A second time changes nothing.
	for (int i = 0; i < 2; i++) {
		assert_true(job_take_region(job, "west"));
		assert_int_equal(group_of(job)->count, 7);
		assert_string_equal(job->region, "west");
		assert_string_equal(job->node_pool, "gpu");
		assert_int_equal(job->datacenters.count, 2);
		assert_string_equal(*ARRAY_AT(&job->datacenters, char *, 1), "w2");
		assert_int_equal(job->meta.count, 3);
		assert_string_equal(map_get(&job->meta, "a"), "job");
		assert_string_equal(map_get(&job->meta, "b"), "west");
		assert_string_equal(map_get(&job->meta, "c"), "west");
	}
	job_free(job);
}

static void what_a_region_leaves_open_is_the_jobs(void **state)
{
	struct job *job = of_two_regions();

	group_of(job)->count = 2;
	job_canonicalize(job);
	assert_true(job_take_region(job, "east"));
	assert_int_equal(group_of(job)->count, 2);
	assert_string_equal(job->region, "east");
	assert_string_equal(job->node_pool, "default");
	assert_string_equal(*ARRAY_AT(&job->datacenters, char *, 0), "*");
	assert_int_equal(job->meta.count, 2);
	assert_string_equal(map_get(&job->meta, "b"), "job");
	job_free(job);
}

static void no_other_region_may(void **state)
{
	struct job *job = of_two_regions(), *single = job_of(JOB_SERVICE);

	assert_int_equal(job_region_index(job, "east"), 0);
	assert_int_equal(job_region_index(job, "west"), 1);
	assert_int_equal(job_region_index(job, "north"), -1);
	assert_int_equal(job_region_index(single, "east"), -1);
	assert_false(job_take_region(job, "north"));
	assert_false(job_take_region(single, "east"));
	job_free(job);
	job_free(single);
}

static void count_mistake(const char *text, void *context)
{
	++*(uint32_t *)context;
}

static uint32_t mistakes_of(struct job *job)
{
	uint32_t mistakes = 0;

	job_canonicalize(job);
	job_check(job, count_mistake, &mistakes);
	job_free(job);
	return mistakes;
}

static void regions_are_checked(void **state)
{
	struct job *job = of_two_regions();
	uint32_t usual = mistakes_of(job_of(JOB_SERVICE));

	assert_int_equal(mistakes_of(job), usual);
	job = of_two_regions();
	add_region(job, "east"); // already in the list
	assert_int_equal(mistakes_of(job), usual + 1);
	job = of_two_regions();
	add_region(job, "");
	assert_int_equal(mistakes_of(job), usual + 1);
	job = of_two_regions();
	add_region(job, "north")->count = -1;
	assert_int_equal(mistakes_of(job), usual + 1);
	job = of_two_regions();
	job->multiregion->strategy = calloc(1, sizeof *job->multiregion->strategy);
	job->multiregion->strategy->max_parallel = -1;
	job->multiregion->strategy->on_failure = text_copy(TEXT("fail_some"));
	assert_int_equal(mistakes_of(job), usual + 2);
	job = job_of(JOB_SERVICE);
	job->multiregion = block(&multiregion_description);
	assert_int_equal(mistakes_of(job), usual + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_region_has_its_say),
		cmocka_unit_test(what_a_region_leaves_open_is_the_jobs),
		cmocka_unit_test(no_other_region_may),
		cmocka_unit_test(regions_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
