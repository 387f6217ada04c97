// Defaults for what a submitted job leaves out, by type.
#include "placement/job_check/job_check.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct update_strategy *update(struct job *j)
{
	return group_of(j)->update = block(&update_description);
}

static void a_service_takes_what_its_job_says_and_the_rest_from_its_type(void **unused)
{
	struct job *job = job_of(JOB_SERVICE);
	job->update = block(&update_description);
	job->update->min_healthy_time_ns = 0;
	job->update->max_parallel = 3;
	job->update->auto_revert = (struct optional_bool){true, true};
	update(job)->canary = 2;
	job_canonicalize(job);
	const struct update_strategy *u = group_of(job)->update;
	assert_int_equal(u->canary, 2);
	assert_int_equal(u->max_parallel, 3);
	assert_int_equal(u->min_healthy_time_ns, 0);
	assert_true(u->auto_revert.set && u->auto_revert.value);
	assert_true(u->auto_promote.set && !u->auto_promote.value);
	assert_int_equal(u->stagger_ns, 30 * NS_PER_S);
	assert_int_equal(u->healthy_deadline_ns, 300 * NS_PER_S);
	assert_int_equal(u->progress_deadline_ns, 600 * NS_PER_S);
	assert_string_equal(u->health_check, "checks");
	assert_int_equal(job->update->max_parallel, 3);
	assert_int_equal(job->update->stagger_ns, 30 * NS_PER_S);
	assert_int_equal(job->update->healthy_deadline_ns, 0);
	const struct reschedule_policy *r = group_of(job)->reschedule;
	assert_true(r->unlimited.set && r->unlimited.value);
	assert_int_equal(r->delay_ns, 30 * NS_PER_S);
	assert_int_equal(r->max_delay_ns, 3600 * NS_PER_S);
	assert_string_equal(r->delay_function, "exponential");
	assert_int_equal(group_of(job)->migrate->max_parallel, 1);
	assert_int_equal(task_of(job)->restart->attempts, 2);
	assert_int_equal(task_of(job)->restart->interval_ns, 1800 * NS_PER_S);
	assert_int_equal(task_of(job)->resources.cpu, 100);
	assert_string_equal(job->name, "web");
	assert_string_equal(job->namespace_name, "default");
	assert_string_equal(job->node_pool, "default");
	assert_string_equal(*ARRAY_AT(&job->datacenters, char *, 0), "*");
	job_free(job);
}

static void other_types_have_their_own_defaults(void **unused)
{
	struct job *batch = job_of(JOB_BATCH), *direct = job_of(JOB_DIRECT);
	task_of(batch)->resources.cores = 1;
	job_canonicalize(batch);
	job_canonicalize(direct);
	assert_null(group_of(batch)->update);
	assert_null(group_of(batch)->migrate);
	assert_int_equal(group_of(batch)->restart->attempts, 3);
	assert_int_equal(group_of(batch)->reschedule->attempts, 1);
	assert_int_equal(group_of(batch)->reschedule->interval_ns, 24 * 3600 * NS_PER_S);
	assert_false(group_of(batch)->reschedule->unlimited.value);
	assert_int_equal(task_of(batch)->resources.cpu, 0); // it asks for whole cores
	assert_null(group_of(direct)->restart);
	assert_null(group_of(direct)->reschedule);
	job_free(batch);
	job_free(direct);
}

static void a_canonical_job_stays_as_it_is(void **unused)
{
	for (enum job_type type = 0; type < JOB_TYPES; type++) {
		struct job *job = job_of(type);
		job->update = block(&update_description);
		update(job);
		struct network_ask *network =
			array_append(&group_of(job)->networks, sizeof *network);
		array_append(&network->dynamic_ports, sizeof(struct port));
		job->periodic = memory_take(sizeof *job->periodic);
		job_canonicalize(job);
		struct job *again = job_copy(job);
		job_canonicalize(again);
		assert_true(record_equal(&job_type_description, job, again));
		job_free(again);
		job_free(job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_service_takes_what_its_job_says_and_the_rest_from_its_type),
		cmocka_unit_test(other_types_have_their_own_defaults),
		cmocka_unit_test(a_canonical_job_stays_as_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
