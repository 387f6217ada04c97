// Groups that ask something else of nodes have keys of their own, those that ask the same have one.
#include "placement/scheduler/node/stack_state.h"
#include "placement/scheduler/stack/class_key.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void nothing(struct job *job)
{
}
static void more_memory(struct job *job)
{
	task_of(job)->resources.memory_mb += 1;
}
static void a_constraint(struct job *job)
{
	constrain(&group_of(job)->constraints, "${node.class}", "=", "a");
}
static void the_same_of_the_job(struct job *job)
{
	constrain(&job->constraints, "${node.class}", "=", "a");
}
static void a_snapshot(struct job *job)
{
	set(&group_of(job)->snapshot, "s1");
}
static void another_snapshot(struct job *job)
{
	set(&group_of(job)->snapshot, "s2");
}
static void a_core(struct job *job)
{
	task_of(job)->resources.cores = 1;
}
static void two_cores(struct job *job)
{
	task_of(job)->resources.cores = 2;
}
static void a_core_and_another_task(struct job *job)
{
	a_core(job);
	add_task(group_of(job), "u")->resources.cpu = 0;
}
static void a_device(struct job *job)
{
	(void)ask_device(job, "gpu", 1);
}
static void a_device_that_is_liked(struct job *job)
{
	struct affinity *a = prefer(&ask_device(job, "gpu", 1)->affinities);
	set(&a->l_target, "${device.model}");
	set(&a->r_target, "t4");
	a->weight = 50;
}
static void a_volume(struct job *job)
{
	struct volume_ask *ask = array_append(&group_of(job)->volumes, sizeof *ask);
	set(&ask->source, "data");
}
static void a_volume_each(struct job *job)
{
	a_volume(job);
	ARRAY_AT(&group_of(job)->volumes, struct volume_ask, 0)->per_alloc = true;
}
static void a_spread(struct job *job)
{
	spread_over(&group_of(job)->spreads, "${meta.rack}")->weight = 50;
}
static void a_port(struct job *job)
{
	(void)ask_port(&ask_network(job, NULL)->reserved_ports, "http", 8080, 0);
}
static void another_port(struct job *job)
{
	(void)ask_port(&ask_network(job, NULL)->reserved_ports, "http", 8081, 0);
}

static void many_constraints(struct job *job)
{
	for (uint32_t i = 0; i < 100; i++)
		constrain(&job->constraints, "${attr.arch}", "!=", "arm64");
}

static void many_other_constraints(struct job *job)
{
	many_constraints(job);
	constrain(&job->constraints, "${attr.arch}", "!=", "arm32");
}

typedef void job_change(struct job *);

static struct class_key key_of(job_change *change, uint32_t name_index, const int64_t *priority)
{
	struct asking b;
	struct class_key key;

	asking_setup(&b);
	struct job *job = world_job(b.world, "service web cpu=100 memory=100");
	change(job);
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	const struct group_rules *g = stack_group(b.stack, 0);
	class_key_make(&key, g, &b.stack->job_rules, name_index);
	if (priority)
		class_key_add_victims(&key, g, *priority);
	asking_teardown(&b);
	return key;
}

static bool have_one_key(struct class_key a, struct class_key b)
{
	bool are_same =
		a.size == b.size && memcmp(class_key_bytes(&a), class_key_bytes(&b), a.size) == 0;

	class_key_release(&a);
	class_key_release(&b);
	return are_same;
}

static void what_nodes_see_tells_groups_apart(void **state)
{
	static job_change *const changes[] = {nothing, more_memory, a_constraint,
		the_same_of_the_job, a_snapshot, another_snapshot, a_core, two_cores,
		a_core_and_another_task, a_device, a_device_that_is_liked, a_volume, a_volume_each,
		a_spread, a_port, many_constraints, many_other_constraints};
	uint32_t count = sizeof changes / sizeof changes[0];

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			assert_int_equal(have_one_key(key_of(changes[i], 0, NULL),
						 key_of(changes[j], 0, NULL)),
				i == j);
}

static void instances_differ_by_volumes_of_their_own(void **state)
{
	assert_false(have_one_key(key_of(a_volume_each, 0, NULL), key_of(a_volume_each, 1, NULL)));
	assert_true(have_one_key(key_of(a_volume, 0, NULL), key_of(a_volume, 1, NULL)));
}

// Which ports is noticed when a node is tried, unless those who hold them may be evicted.
static void ports_differ_with_victims(void **state)
{
	const int64_t priority = 40, other = 30;

	assert_true(have_one_key(key_of(a_port, 0, NULL), key_of(another_port, 0, NULL)));
	assert_false(
		have_one_key(key_of(a_port, 0, &priority), key_of(another_port, 0, &priority)));
	assert_false(have_one_key(key_of(nothing, 0, &priority), key_of(nothing, 0, &other)));
	assert_false(have_one_key(key_of(nothing, 0, &priority), key_of(nothing, 0, NULL)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nodes_see_tells_groups_apart),
		cmocka_unit_test(instances_differ_by_volumes_of_their_own),
		cmocka_unit_test(ports_differ_with_victims),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
