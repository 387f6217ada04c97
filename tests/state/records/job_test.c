#include "state/base/error.h"
#include "state/records/job.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct task *add_task(struct task_group *group, int64_t cpu, int64_t memory_mb)
{
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("a"));
	task->resources.cpu = cpu;
	task->resources.memory_mb = memory_mb;
	return task;
}

static struct task *add_hook(
	struct task_group *group, int64_t cpu, int64_t memory_mb, const char *hook, bool sidecar)
{
	struct task *task = add_task(group, cpu, memory_mb);
	task->lifecycle = calloc(1, sizeof *task->lifecycle);
	*task->lifecycle = (struct task_lifecycle){text_copy(text_of(hook)), sidecar};
	return task;
}

static void add_device(struct task *task, const char *name, int64_t count)
{
	struct device_ask *ask = array_append(&task->resources.devices, sizeof *ask);
	record_init(&device_ask_description, ask);
	ask->name = text_copy(text_of(name));
	ask->count = count;
}

static struct task_group *add_group(struct job *job, const char *name)
{
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(text_of(name));
	return group;
}

static const struct group_ask *ask_of(const struct job *job, uint32_t group)
{
	return ARRAY_AT(&job->asks, struct group_ask, group);
}

static void defaults_are_those_of_the_specification(void **unused)
{
	struct job *job = job_create();
	struct task_group *group = add_group(job, "web");
	struct task *task = add_task(group, 1, 1);
	struct task fresh;
	record_init(&task_description, &fresh);
	assert_int_equal(job->priority, 50);
	assert_int_equal(job->type, JOB_SERVICE);
	assert_int_equal(group->count, 1);
	assert_int_equal(group->disk.size_mb, 300);
	assert_int_equal(task->kill_timeout_ns, 5000000000ll);
	assert_int_equal(fresh.resources.memory_mb, 300);
	assert_int_equal(fresh.resources.cpu, JOB_UNSET);
	job_free(job);
}

// Sidecars run all the time; of the other phases the largest counts.
static void footprint_is_that_of_the_largest_phase(void **unused)
{
	struct job *job = job_create();
	struct task_group *group = add_group(job, "web");
	add_task(group, 100, 50);
	add_hook(group, 20, 60, "poststart", false);
	add_hook(group, 90, 10, "prestart", false);
	add_hook(group, 80, 30, "prestart", false);
	add_hook(group, 7, 9, "prestart", true);
	add_hook(group, 10, 200, "poststop", false);
	assert_true(job_derive(job));
	assert_int_equal(ask_of(job, 0)->resources.cpu_mhz, 7 + (90 + 80));
	assert_int_equal(ask_of(job, 0)->resources.memory_mb, 9 + 200);
	assert_int_equal(ask_of(job, 0)->resources.disk_mb, 300);
	job_free(job);
}

// They are started after the main tasks and run as long as these, so that both count.
static void what_runs_after_the_start_runs_beside_the_main_tasks(void **unused)
{
	struct job *job = job_create();
	struct task_group *group = add_group(job, "web");
	add_task(group, 100, 50);
	add_hook(group, 20, 60, "poststart", false);
	add_hook(group, 30, 5, "poststart", true);
	add_hook(group, 110, 70, "prestart", false);
	add_hook(group, 120, 80, "poststop", false);
	add_hook(group, 7, 9, "prestart", true);
	assert_true(job_derive(job));
	assert_int_equal(ask_of(job, 0)->resources.cpu_mhz, 7 + (100 + 20 + 30));
	assert_int_equal(ask_of(job, 0)->resources.memory_mb, 9 + (50 + 60 + 5));
	job_free(job);
}

static void device_asks_of_a_group_are_summed(void **unused)
{
	struct job *job = job_create();
	add_task(add_group(job, "none"), 1, 1);
	struct task_group *group = add_group(job, "gpu");
	add_device(add_task(group, 1, 1), "nvidia/gpu", 2);
	struct task *task = add_task(group, 1, 1);
	add_device(task, "fpga", 1);
	struct task *third = add_task(group, 1, 1);
	add_device(third, "nvidia/gpu", 1);
	assert_true(job_derive(job));
	assert_int_equal(ask_of(job, 0)->device_count, 0);
	assert_int_equal(ask_of(job, 1)->device_count, 2);
	assert_string_equal(ask_of(job, 1)->devices[0].name, "nvidia/gpu");
	assert_int_equal(ask_of(job, 1)->devices[0].count, 3);
	assert_int_equal(ask_of(job, 1)->devices[1].count, 1);

	struct job *copy = job_copy(job);
	assert_ptr_not_equal(ask_of(copy, 1)->devices[0].name, ask_of(job, 1)->devices[0].name);
	job_free(job);
	assert_string_equal(ask_of(copy, 1)->devices[0].name, "nvidia/gpu");
	job_free(copy);
}

static void assert_underivable(struct job *job)
{
	assert_false(job_derive(job));
	assert_int_equal(job->asks.count, 0);
	job_free(job);
}

static void asks_out_of_bounds_are_not_derived(void **unused)
{
	struct job *job = job_create();
	struct task_group *group = add_group(job, "big");
	add_task(group, INT64_MAX, 1);
	add_task(group, INT64_MAX, 1); // the sum must not wrap around
	assert_underivable(job);

	job = job_create();
	add_task(add_group(job, "negative"), -1, 1);
	ARRAY_AT(&job->task_groups, struct task_group, 0)->disk.size_mb = -1;
	assert_underivable(job);

	job = job_create();
	struct task *task = add_task(add_group(job, "devices"), 1, 1);
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	for (int i = 0; i < 5; i++)
		add_device(task, names[i], 1);
	assert_underivable(job);
}

static void specification_ignores_what_the_applier_keeps(void **unused)
{
	struct job *job = job_create();
	job->id = text_copy(TEXT("web"));
	add_task(add_group(job, "web"), 1, 1);
	struct job *other = job_copy(job);
	other->status = JOB_RUNNING;
	other->version = 3;
	other->stable = true;
	other->job_modify_index = other->record.modify_index = other->record.create_index = 9;
	other->submit_time_ns = 1;
	assert_false(job_specification_differs(job, other));
	ARRAY_AT(&other->task_groups, struct task_group, 0)->count = 2;
	assert_true(job_specification_differs(job, other));
	ARRAY_AT(&other->task_groups, struct task_group, 0)->count = 1;
	other->stop = true;
	assert_true(job_specification_differs(job, other));
	job_free(job);
	job_free(other);
}

static void a_stored_job_is_the_same_job(void **unused)
{
	struct job *job = job_create();
	job->id = text_copy(TEXT("web"));
	job->type = JOB_DIRECT;
	job->record.create_index = 5;
	add_device(add_task(add_group(job, "web"), 500, 256), "gpu", 1);
	struct bytes_writer writer = bytes_writer_growing(64);
	record_encode(&job_type_description, job, &writer);
	struct job *read = calloc(1, sizeof *read);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(&job_type_description, read, &reader), 0);
	assert_int_equal(bytes_left(&reader), 0);
	assert_true(record_equal(&job_type_description, job, read));
	assert_int_equal(read->record.create_index, 5);
	bytes_writer_free(&writer);
	job_free(job);
	job_free(read);
}

static void groups_are_found_by_name(void **unused)
{
	struct job *job = job_create();
	add_group(job, "a");
	add_group(job, "b");
	assert_int_equal(job_group_index(job, TEXT("b")), 1);
	assert_int_equal(job_group_index(job, TEXT("bb")), -1);
	job_free(job);
}

static bool takes_pool(const char *wanted, const char *pool)
{
	struct job *job = job_create();
	free(job->node_pool);
	job->node_pool = wanted ? text_copy(text_of(wanted)) : NULL;
	bool takes = job_takes_pool(job, pool);
	job_free(job);
	return takes;
}

static void no_pool_is_the_default_pool(void **unused)
{
	static const char *const names[] = {NULL, "", "default"};
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t j = 0; j < 3; j++)
			assert_true(takes_pool(names[i], names[j]));
		assert_false(takes_pool(names[i], "gpu"));
		assert_false(takes_pool("gpu", names[i]));
		assert_true(takes_pool("all", names[i]));
	}
	assert_true(takes_pool("gpu", "gpu"));
	assert_true(takes_pool("all", "gpu"));
	assert_false(takes_pool("gpu", "all"));
}

static void datacenters_are_patterns_and_none_is_all(void **unused)
{
	struct job *job = job_create();
	assert_true(job_takes_datacenter(job, "dc1"));
	assert_true(job_takes_datacenter(job, NULL));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("a"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("dc*"));
	assert_true(job_takes_datacenter(job, "dc1"));
	assert_true(job_takes_datacenter(job, "a"));
	assert_false(job_takes_datacenter(job, "b"));
	assert_false(job_takes_datacenter(job, ""));
	assert_false(job_takes_datacenter(job, NULL));
	job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_specification),
		cmocka_unit_test(footprint_is_that_of_the_largest_phase),
		cmocka_unit_test(what_runs_after_the_start_runs_beside_the_main_tasks),
		cmocka_unit_test(device_asks_of_a_group_are_summed),
		cmocka_unit_test(asks_out_of_bounds_are_not_derived),
		cmocka_unit_test(specification_ignores_what_the_applier_keeps),
		cmocka_unit_test(a_stored_job_is_the_same_job),
		cmocka_unit_test(groups_are_found_by_name),
		cmocka_unit_test(no_pool_is_the_default_pool),
		cmocka_unit_test(datacenters_are_patterns_and_none_is_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
