// The scheduler of service and batch jobs over a world into which its plans are committed: rows C18, C26, C31, C44 and
// everything around the reconciler, which has its own tests.
#include "state/base/error.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/committed.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

// Runs an evaluation that was blocked.
static int run_blocked(struct fixture *f, const struct job *job)
{
	struct evaluation *eval = evaluation_for(job, TRIGGER_QUEUED_ALLOCS);
	eval->status = EVAL_BLOCKED;
	int result = committer_run(&f->committer, eval);
	evaluation_free(eval);
	return result;
}

static const struct alloc_metrics *metrics_of(const struct evaluation *eval)
{
	assert_int_equal(eval->failed_groups.count, 1);
	return &ARRAY_AT(&eval->failed_groups, struct failed_group, 0)->metrics;
}

static const struct allocation *newest(const struct fixture *f)
{
	const struct world_allocation *a = f->world->allocations;
	while (a->next)
		a = a->next;
	return &a->record;
}

static struct alloc_details *details_of(struct allocation *a)
{
	if (!a->details)
		a->details = alloc_details_create();
	return a->details;
}

static void roll(struct job *job, int64_t max_parallel, int64_t canary)
{
	struct task_group *group = group_of(job);
	group->update = block(&update_description);
	group->update->max_parallel = max_parallel;
	group->update->canary = canary;
}

// Makes a version whose task differs, so that instances must be replaced.
static struct job *changed(struct fixture *f, const struct job *from)
{
	struct job *job = world_job_version(f->world, from);
	set(&task_of(job)->user, from->version % 2 ? "one" : "two");
	return job;
}

static struct deployment *deploy(struct fixture *f, const struct job *job, int status)
{
	struct deployment *d = deployment_create();
	d->id.bytes[0] = 0xd0;
	d->id.bytes[15] = (uint8_t)(1 + f->world->deployment_count);
	set(&d->namespace_name, job->namespace_name);
	set(&d->job_id, job->id);
	d->job_version = job->version;
	d->job_create_index = job->record.create_index;
	d->status = status;
	struct deployment_group *group = map_item(&d->groups, sizeof *group, "a");
	group->desired_total = group_of((struct job *)job)->count;
	world_deploy(f->world, d);
	return d;
}

static void missing_instances_are_placed(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=3");
	nodes(f, 2, "");
	nodes(f, 1, "dc=dc2");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(world_living(f->world, job), 3);
	assert_int_equal(count_get(&committer_end(&f->committer)->queued, "a"), 0);
	assert_true(uuid_is_zero(&committer_end(&f->committer)->blocked_eval));
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(f->committer.plans, 0);
}

static void what_finds_no_room_waits_in_one_blocked_evaluation(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=5 cpu=3000");
	constrain(&job->constraints, "${node.class}", "!=", "small");
	nodes(f, 2, "cpu=4000 class=large");
	nodes(f, 1, "cpu=9000 class=small");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	const struct alloc_metrics *m = metrics_of(committer_end(&f->committer));
	assert_int_equal(m->nodes_evaluated, 3);
	assert_int_equal(m->nodes_filtered, 1);
	assert_int_equal(count_get(&m->dimension_exhausted, "cpu"), 2);
	assert_int_equal(m->coalesced_failures, 2);
	assert_int_equal(count_get(&m->nodes_available, "dc1"), 3);
	assert_int_equal(count_get(&committer_end(&f->committer)->queued, "a"), 3);
	assert_int_equal(f->committer.created_count, 1);
	const struct evaluation *blocked = f->committer.created[0];
	assert_int_equal(blocked->status, EVAL_BLOCKED);
	assert_int_equal(blocked->triggered_by, TRIGGER_QUEUED_ALLOCS);
	assert_string_equal(blocked->status_description, "created to place remaining allocations");
	assert_int_equal(blocked->class_eligibility.count, 2);
	assert_false(blocked->escaped_computed_class);
	assert_int_equal(metrics_of(blocked)->nodes_evaluated, 3);
	assert_true(uuid_equal(&blocked->id, &committer_end(&f->committer)->blocked_eval));
}

static void millions_that_find_no_room_are_one_number(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=4000000 cpu=3000");
	nodes(f, 2, "cpu=4000");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	const struct evaluation *end = committer_end(&f->committer);
	assert_int_equal(metrics_of(end)->coalesced_failures, 3999997);
	assert_int_equal(count_get(&end->queued, "a"), 3999998);
	assert_int_equal(
		ARRAY_AT(&metrics_of(end)->resources_exhausted, struct exhausted_resources, 0)->cpu,
		3999998ll * 3000);
}

static void one_unique_constraint_escapes_the_classes(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	constrain(&job->constraints, "${attr.unique.hostname}", "=", "other");
	nodes(f, 1, "");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.created_count, 1);
	assert_true(f->committer.created[0]->escaped_computed_class);
	assert_int_equal(f->committer.created[0]->class_eligibility.count, 0);
}

static void what_is_blocked_is_put_back_until_all_is_placed(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=2 cpu=3000");
	nodes(f, 1, "cpu=4000");
	assert_int_equal(run_blocked(f, job), 0);
	assert_int_equal(world_living(f->world, job), 1);
	assert_int_equal(f->committer.created_count, 0);
	assert_int_equal(f->committer.reblocked_count, 1);
	const struct evaluation *again = f->committer.reblocked[0];
	assert_int_equal(again->status, EVAL_BLOCKED);
	assert_int_equal(again->class_eligibility.count, 1);
	assert_int_equal(count_get(&again->queued, "a"), 1);
	assert_int_equal(metrics_of(again)->nodes_exhausted, 1);
	nodes(f, 1, "cpu=4000");
	assert_int_equal(run_blocked(f, job), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(world_living(f->world, job), 2);
}

static void victims_are_taken_where_the_configuration_allows(void **state)
{
	struct fixture *f = *state;
	struct job *low = world_job(f->world, "service low priority=20 cpu=3000");
	struct job *job = world_job(f->world, "service web priority=70 cpu=3000");
	nodes(f, 1, "cpu=4000");
	world_allocate(f->world, low, 0, 0, 0);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(world_living(f->world, job), 0);
	f->world->config.preemption.service = true;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.preemptions, 1);
	assert_int_equal(world_living(f->world, low), 0);
	assert_int_equal(newest(f)->details->preempted.count, 1);
}

static void every_victim_is_annotated(void **state)
{
	struct fixture *f = *state;
	struct job *low = world_job(f->world, "service low priority=20 cpu=1900");
	struct job *job = world_job(f->world, "service web priority=70 cpu=3500");
	nodes(f, 1, "cpu=4000");
	world_allocate(f->world, low, 0, 0, 0);
	world_allocate(f->world, low, 0, 0, 1);
	f->world->config.preemption.service = true;
	struct evaluation *eval = evaluation_for(job, TRIGGER_JOB_REGISTER);
	eval->annotate_plan = true;
	assert_int_equal(committer_run(&f->committer, eval), 0);
	evaluation_free(eval);
	assert_int_equal(f->committer.preemptions, 2);
	assert_int_equal(f->committer.annotations.count, 1);
	const struct desired_updates *desired =
		ARRAY_AT(&f->committer.annotations, struct desired_updates, 0);
	assert_int_equal(desired->place, 1);
	assert_int_equal(desired->preemptions, 2);
}

static void conflicts_end_in_a_blocked_evaluation(void **state)
{
	static const struct {
		const char *job, *description;
	} rows[] = {{"service web", "maximum attempts reached (5)"},
		{"batch sum", "maximum attempts reached (2)"}};
	struct fixture *f = *state;
	nodes(f, 1, "");
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct job *job = world_job(f->world, rows[i].job);
		f->committer.rejections = 100;
		f->committer.refreshes = true;
		assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
		expect_end(f, EVAL_FAILED, rows[i].description);
		assert_int_equal(f->committer.plans, i == 0 ? 5 : 2);
		assert_int_equal(f->committer.created_count, 1);
		const struct evaluation *later = f->committer.created[0];
		assert_int_equal(later->triggered_by, TRIGGER_MAX_PLAN_ATTEMPTS);
		assert_string_equal(
			later->status_description, "created due to placement conflicts");
		assert_int_equal(later->class_eligibility.count, 1);
	}
}

static void progress_gives_new_attempts(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "batch sum count=2 cpu=3000");
	nodes(f, 2, "cpu=4000");
	f->committer.rejected_slot = 1;
	f->committer.rejections = 2;
	f->committer.refreshes = true;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(f->committer.plans, 3);
	assert_int_equal(world_living(f->world, job), 2);
}

static void a_partial_commit_without_anything_newer_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	nodes(f, 1, "");
	f->committer.rejections = 1;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -ERROR_NO_REFRESH);
	assert_string_equal(
		error_text(-ERROR_NO_REFRESH), "missing state refresh after partial commit");
}

static void unknown_triggers_are_refused(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	nodes(f, 1, "");
	assert_int_equal(run(f, job, TRIGGER_SCHEDULED), 0);
	expect_end(f, EVAL_FAILED, "scheduler cannot handle 'scheduled' evaluation reason");
	assert_int_equal(world_living(f->world, job), 0);
}

static void a_job_of_another_type_by_now_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 1, "");
	struct evaluation *eval = evaluation_for(job, TRIGGER_JOB_DEREGISTER);
	eval->type = EVAL_SERVICE;
	assert_int_equal(committer_run(&f->committer, eval), 0);
	evaluation_free(eval);
	assert_int_equal(f->committer.plans, 0);
}

// Stopping a job makes an evaluation of type service, which may find the job registered again.
static void what_is_over_is_told_by_the_job(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "batch web");
	nodes(f, 1, "");
	world_allocate(f->world, job, 0, 0, 0)->client_status = ALLOC_COMPLETE;
	struct evaluation *eval = evaluation_for(job, TRIGGER_JOB_DEREGISTER);
	eval->type = EVAL_SERVICE;
	assert_int_equal(committer_run(&f->committer, eval), 0);
	evaluation_free(eval);
	assert_int_equal(f->committer.plans, 0);
}

static void a_replacement_and_its_stop_go_together(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=2 cpu=3000");
	nodes(f, 2, "cpu=4000");
	run(f, job, TRIGGER_JOB_REGISTER);
	struct job *wider = changed(f, job);
	task_of(wider)->resources.cpu = 5000;
	world_job_changed(wider);
	assert_int_equal(run(f, wider, TRIGGER_JOB_REGISTER), 0);
	// No node has room for the new version, so the old one runs on.
	assert_int_equal(of_version(f->world, job), 2);
	assert_int_equal(f->committer.plans, 0);
	assert_int_equal(f->committer.created_count, 1);
	struct job *right = changed(f, wider);
	task_of(right)->resources.cpu = 3500;
	world_job_changed(right);
	assert_int_equal(run(f, right, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(of_version(f->world, right), 2);
	assert_int_equal(world_living(f->world, job), 2);
}

static void what_need_not_be_replaced_joins_the_deployment(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=2");
	roll(job, 1, 0);
	nodes(f, 2, "");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->world->deployment_count, 1);
	struct deployment *first = f->world->deployments[0];
	assert_true(uuid_equal(&committer_end(&f->committer)->deployment_id, &first->id));
	assert_true(uuid_equal(&newest(f)->details->deployment_id, &first->id));
	first->status = DEPLOYMENT_SUCCESSFUL;
	for (struct world_allocation *a = f->world->allocations; a; a = a->next) {
		struct alloc_details *details = details_of(&a->record);
		details->deployment_status = memory_take(sizeof *details->deployment_status);
		details->deployment_status->healthy = (struct optional_bool){true, true};
	}
	struct job *next = world_job_version(f->world, job);
	group_of(next)->restart = block(&restart_description);
	assert_int_equal(run(f, next, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(of_version(f->world, next), 2);
	assert_int_equal(f->world->deployment_count, 2);
	const struct deployment *second = f->world->deployments[1];
	assert_true(uuid_equal(&newest(f)->details->deployment_id, &second->id));
	assert_null(newest(f)->details->deployment_status);
	assert_int_equal(f->committer.updates, 2);
	assert_int_equal(f->committer.placements, 0);
}

static void what_has_ended_is_not_changed(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	nodes(f, 1, "");
	world_allocate(f->world, job, 0, 0, 0)->client_status = ALLOC_FAILED;
	struct job *next = world_job_version(f->world, job);
	group_of(next)->restart = block(&restart_description);
	assert_int_equal(run(f, next, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.plans, 0);
}

// An instance is lost while canaries of a newer version run: its replacement has its version and its deployment.
static void what_is_lost_meanwhile_keeps_its_version(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=2");
	constrain(&job->constraints, "", "distinct_hosts", "");
	roll(job, 2, 1);
	nodes(f, 4, "");
	struct deployment *before = deploy(f, job, DEPLOYMENT_SUCCESSFUL);
	for (uint32_t i = 0; i < 2; i++)
		details_of(world_allocate(f->world, job, 0, i, i))->deployment_id = before->id;
	struct job *next = changed(f, job);
	assert_int_equal(run(f, next, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(of_version(f->world, next), 1);
	assert_true(newest(f)->details->deployment_status->canary);
	f->world->nodes[0]->status = NODE_DOWN;
	assert_int_equal(run(f, next, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(of_version(f->world, next), 1);
	assert_int_equal(of_version(f->world, job), 2);
	assert_ptr_equal(newest(f)->job, job);
	assert_true(uuid_equal(&newest(f)->details->deployment_id, &before->id));
}

// A canary of a newer version finds room; an instance of the older version is lost and finds none. Returns the blocked
// evaluation.
static const struct evaluation *block_two_versions(struct fixture *f, bool older_escapes)
{
	struct job *job = world_job(f->world, "service web count=2 cpu=3000");
	roll(job, 2, 1);
	nodes(f, 3, "cpu=4000");
	struct deployment *before = deploy(f, job, DEPLOYMENT_SUCCESSFUL);
	for (uint32_t i = 0; i < 2; i++)
		details_of(world_allocate(f->world, job, 0, i, i))->deployment_id = before->id;
	struct job *next = changed(f, job);
	if (older_escapes) {
		constrain(&job->constraints, "${attr.unique.hostname}", "=", "other");
		world_job_changed(job);
	}
	f->world->nodes[0]->status = NODE_DOWN;
	assert_int_equal(run(f, next, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(of_version(f->world, next), 1);
	assert_int_equal(f->committer.created_count, 1);
	return f->committer.created[0];
}

static void classes_of_two_versions_are_kept(void **state)
{
	const struct evaluation *blocked = block_two_versions(*state, false);
	assert_false(blocked->escaped_computed_class);
	assert_int_equal(blocked->class_eligibility.count, 1);
}

// Results for the classes of one version do not matter when the other may go anywhere.
static void one_version_that_escapes_frees_the_other(void **state)
{
	const struct evaluation *blocked = block_two_versions(*state, true);
	assert_true(blocked->escaped_computed_class);
	assert_int_equal(blocked->class_eligibility.count, 0);
}

// Makes three versions: the first ones are done, the third runs canaries. Then a node is lost that runs an instance of
// one of them. Returns the third.
static struct job *lose_one(struct fixture *f, struct job *of, struct job *second)
{
	roll(second, 2, 1);
	world_job_changed(second);
	for (uint32_t i = 0; i < 2; i++)
		world_allocate(f->world, of, 0, i, i);
	struct job *third = changed(f, second);
	assert_int_equal(run(f, third, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(of_version(f->world, third), 1);
	f->world->nodes[0]->status = NODE_DOWN;
	assert_int_equal(run(f, third, TRIGGER_NODE_UPDATE), 0);
	return third;
}

static struct job *spread_out(struct fixture *f)
{
	struct job *job = world_job(f->world, "service web count=2");
	constrain(&job->constraints, "", "distinct_hosts", "");
	nodes(f, 4, "");
	return job;
}

static void the_newest_version_that_was_tried_is_taken(void **state)
{
	struct fixture *f = *state;
	struct job *first = spread_out(f), *second = changed(f, first);
	struct deployment *of_second = deploy(f, second, DEPLOYMENT_SUCCESSFUL);
	deploy(f, first, DEPLOYMENT_SUCCESSFUL); // the order of versions counts, not this one
	lose_one(f, first, second);
	assert_ptr_equal(newest(f)->job, second);
	assert_true(uuid_equal(&newest(f)->details->deployment_id, &of_second->id));
}

static void nothing_goes_back_behind_what_it_was(void **state)
{
	struct fixture *f = *state;
	struct job *first = spread_out(f), *second = changed(f, first);
	deploy(f, first, DEPLOYMENT_SUCCESSFUL);
	lose_one(f, second, second);
	assert_ptr_equal(newest(f)->job, second);
	assert_true(uuid_is_zero(&newest(f)->details->deployment_id));
	assert_int_equal(of_version(f->world, first), 0);
}

// No deployment of the version is left, although it has an update block.
static void the_own_version_stands_in_for_forgotten_deployments(void **state)
{
	struct fixture *f = *state;
	struct job *first = spread_out(f);
	lose_one(f, first, first);
	assert_ptr_equal(newest(f)->job, first);
	assert_true(uuid_is_zero(&newest(f)->details->deployment_id));
}

static void a_failed_deployment_says_nothing_for_its_version(void **state)
{
	struct fixture *f = *state;
	struct job *first = spread_out(f), *second = changed(f, first);
	roll(first, 2, 1);
	struct deployment *failed = deploy(f, second, DEPLOYMENT_FAILED);
	ARRAY_AT(&failed->groups, struct deployment_group, 0)->desired_canaries = 1;
	lose_one(f, first, second);
	assert_ptr_equal(newest(f)->job, first);
}

static void the_tried_out_version_is_taken_when_no_other_is_stored(void **state)
{
	struct fixture *f = *state;
	struct job *first = spread_out(f), *second = changed(f, first);
	world_allocate(f->world, second, 0, 0, 0);
	world_allocate(f->world, second, 0, 1, 1);
	f->world->forgotten_version = second->version;
	struct job *third = changed(f, second);
	roll(third, 2, 1);
	assert_int_equal(run(f, third, TRIGGER_JOB_REGISTER), 0);
	f->world->nodes[0]->status = NODE_DOWN;
	assert_int_equal(run(f, third, TRIGGER_NODE_UPDATE), 0);
	assert_ptr_equal(newest(f)->job, third);
	assert_int_equal(of_version(f->world, first), 0);
}

static void a_version_without_deployments_counts_also_after_one_with(void **state)
{
	struct fixture *f = *state;
	struct job *first = spread_out(f), *second = changed(f, first);
	deploy(f, first, DEPLOYMENT_SUCCESSFUL);
	for (uint32_t i = 0; i < 2; i++)
		world_allocate(f->world, second, 0, i, i);
	struct job *third = changed(f, second);
	roll(third, 2, 1);
	assert_int_equal(run(f, third, TRIGGER_JOB_REGISTER), 0);
	f->world->nodes[0]->status = NODE_DOWN;
	assert_int_equal(run(f, third, TRIGGER_NODE_UPDATE), 0);
	assert_ptr_equal(newest(f)->job, second);
	assert_true(uuid_is_zero(&newest(f)->details->deployment_id));
}

static void a_version_without_deployments_is_the_one_before(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web count=2");
	constrain(&job->constraints, "", "distinct_hosts", "");
	nodes(f, 4, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	struct job *next = changed(f, job);
	roll(next, 1, 1);
	assert_int_equal(run(f, next, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(of_version(f->world, next), 1);
	struct allocation *first = &f->world->allocations->record;
	f->world->nodes[first->node_slot]->status = NODE_DOWN;
	assert_int_equal(run(f, next, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(of_version(f->world, job), 2);
	assert_true(uuid_is_zero(&newest(f)->details->deployment_id) || newest(f)->job == next);
}

static struct job *job_that_reschedules(struct fixture *f, int64_t delay_ns)
{
	struct job *job = world_job(f->world, "service web");
	struct reschedule_policy *policy = block(&reschedule_description);
	set(&policy->delay_function, "constant");
	policy->delay_ns = delay_ns;
	policy->unlimited = (struct optional_bool){true, true};
	group_of(job)->reschedule = policy;
	return job;
}

static void a_failed_instance_goes_elsewhere_and_remembers(void **state)
{
	struct fixture *f = *state;
	struct job *job = job_that_reschedules(f, 0);
	nodes(f, 2, "");
	struct allocation *failed = world_allocate(f->world, job, 0, 0, 0);
	failed->client_status = ALLOC_FAILED;
	assert_int_equal(run(f, job, TRIGGER_ALLOC_FAILURE), 0);
	assert_int_equal(failed->desired, ALLOC_STOP);
	assert_int_equal(newest(f)->node_slot, 1);
	assert_int_equal(newest(f)->index, 0);
	assert_true(uuid_equal(&newest(f)->details->previous_allocation, &failed->id));
	assert_int_equal(newest(f)->details->reschedule_events.count, 1);
	const struct reschedule_event *event =
		ARRAY_AT(&newest(f)->details->reschedule_events, struct reschedule_event, 0);
	assert_true(uuid_equal(&event->previous_node, &f->world->nodes[0]->id));
	assert_int_equal(event->reschedule_time_ns, NS_PER_S);
	assert_int_equal(f->committer.reschedules, 1);
	assert_int_equal(f->committer.wait_until_ns, 0);
}

static void one_that_waits_has_a_follow_up_and_no_blocked_evaluation(void **state)
{
	struct fixture *f = *state;
	struct job *job = job_that_reschedules(f, 30 * NS_PER_S);
	group_of(job)->count = 2;
	task_of(job)->resources.cpu = 3000;
	world_job_changed(job);
	nodes(f, 1, "cpu=4000");
	struct allocation *failed = world_allocate(f->world, job, 0, 0, 0);
	world_allocate(f->world, world_job(f->world, "service other cpu=3000"), 0, 0, 0);
	failed->client_status = ALLOC_FAILED;
	failed->modify_time_ns = NS_PER_S;
	assert_int_equal(run(f, job, TRIGGER_ALLOC_FAILURE), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(committer_end(&f->committer)->failed_groups.count, 1);
	assert_int_equal(f->committer.created_count, 1);
	const struct evaluation *later = f->committer.created[0];
	assert_int_equal(later->status, EVAL_PENDING);
	assert_int_equal(later->triggered_by, TRIGGER_ALLOC_FAILURE);
	assert_int_equal(later->wait_until_ns, 31 * NS_PER_S);
	assert_true(uuid_equal(&failed->details->followup_eval, &later->id));
	assert_int_equal(failed->desired, ALLOC_RUN);
	assert_int_equal(f->committer.reschedules, 1);
	assert_int_equal(f->committer.wait_until_ns, 31 * NS_PER_S);
}

// A newer version would replace what failed: without room for it the follow-up is what looks at the job again.
// What cannot be stored ends the work before its plan.
static void no_plan_goes_without_the_evaluations_that_it_leaves(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	f->committer.create_error = -ERROR_STOPPING;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -ERROR_STOPPING); // one that is blocked
	job = job_that_reschedules(f, 30 * NS_PER_S);
	nodes(f, 1, "cpu=4000");
	struct allocation *failed = world_allocate(f->world, job, 0, 0, 0);
	failed->client_status = ALLOC_FAILED;
	failed->modify_time_ns = NS_PER_S;
	assert_int_equal(run(f, job, TRIGGER_ALLOC_FAILURE), -ERROR_STOPPING); // a follow-up
	assert_int_equal(f->committer.plans, 0);
}

static void a_change_without_room_leaves_the_follow_up(void **state)
{
	struct fixture *f = *state;
	struct job *job = job_that_reschedules(f, 30 * NS_PER_S);
	nodes(f, 1, "cpu=4000");
	struct allocation *failed = world_allocate(f->world, job, 0, 0, 0);
	failed->client_status = ALLOC_FAILED;
	failed->modify_time_ns = NS_PER_S;
	struct job *wide = changed(f, job);
	task_of(wide)->resources.cpu = 5000;
	world_job_changed(wide);
	assert_int_equal(run(f, wide, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(committer_end(&f->committer)->failed_groups.count, 1);
	assert_int_equal(f->committer.created_count, 1);
	const struct evaluation *later = f->committer.created[0];
	assert_int_equal(later->wait_until_ns, 31 * NS_PER_S);
	assert_true(uuid_equal(&failed->details->followup_eval, &later->id));
	assert_int_equal(failed->desired, ALLOC_RUN);
	// The next evaluation makes no other follow-up, so it blocks.
	assert_int_equal(run(f, wide, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.created_count, 1);
	assert_int_equal(f->committer.created[0]->status, EVAL_BLOCKED);
}

static void attempts_are_told_with_their_limit(void **state)
{
	struct fixture *f = *state;
	struct job *job = job_that_reschedules(f, 0);
	struct reschedule_policy *policy = group_of(job)->reschedule;
	policy->unlimited.value = false;
	policy->attempts = 3;
	policy->interval_ns = 10 * NS_PER_S;
	nodes(f, 2, "");
	struct allocation *failed = world_allocate(f->world, job, 0, 0, 0);
	failed->client_status = ALLOC_FAILED;
	failed->modify_time_ns = 30 * NS_PER_S;
	for (int64_t at = 19; at <= 22; at += 3)
		*(struct reschedule_event *)array_append(
			&details_of(failed)->reschedule_events, sizeof(struct reschedule_event)) =
			(struct reschedule_event){.reschedule_time_ns = at * NS_PER_S};
	details_of(failed)->transition.force_reschedule = (struct optional_bool){true, true};
	assert_int_equal(run(f, job, TRIGGER_ALLOC_FAILURE), 0);
	assert_int_equal(f->committer.reschedules, 1);
	assert_int_equal(f->committer.attempted, 1);
	assert_int_equal(f->committer.limit, 3);
}

// An evaluation that was itself delayed makes no other, and blocks instead.
static void one_that_waited_blocks(void **state)
{
	struct fixture *f = *state;
	struct job *job = job_that_reschedules(f, 30 * NS_PER_S);
	group_of(job)->count = 2;
	task_of(job)->resources.cpu = 9000;
	world_job_changed(job);
	nodes(f, 1, "cpu=4000");
	struct allocation *failed = world_allocate(f->world, job, 0, 0, 0);
	failed->client_status = ALLOC_FAILED;
	failed->modify_time_ns = NS_PER_S;
	failed->resources.cpu_mhz = 0;
	struct evaluation *eval = evaluation_for(job, TRIGGER_ALLOC_FAILURE);
	eval->wait_until_ns = NS_PER_S;
	assert_int_equal(committer_run(&f->committer, eval), 0);
	evaluation_free(eval);
	assert_int_equal(f->committer.created_count, 1);
	assert_int_equal(f->committer.created[0]->status, EVAL_BLOCKED);
	assert_true(!failed->details || uuid_is_zero(&failed->details->followup_eval));
}

static void a_lost_connection_is_outlived(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	group_of(job)->max_client_disconnect_ns = (struct optional_i64){true, 60 * NS_PER_S};
	nodes(f, 2, "");
	struct allocation *first = world_allocate(f->world, job, 0, 0, 0);
	f->world->nodes[0]->status = NODE_DISCONNECTED;
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(first->client_status, ALLOC_UNKNOWN);
	assert_int_equal(first->desired, ALLOC_RUN);
	assert_int_equal(f->committer.created_count, 1);
	assert_int_equal(f->committer.created[0]->triggered_by, TRIGGER_MAX_DISCONNECT_TIMEOUT);
	assert_int_equal(f->committer.created[0]->wait_until_ns, 61 * NS_PER_S);
	assert_true(uuid_equal(&first->details->followup_eval, &f->committer.created[0]->id));
	f->world->nodes[0]->status = NODE_READY;
	first->client_status = ALLOC_RUNNING;
	assert_int_equal(run(f, job, TRIGGER_RECONNECT), 0);
	assert_int_equal(world_living(f->world, job), 1);
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(f->committer.plans, 0);
}

static void what_is_away_is_not_changed(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	group_of(job)->max_client_disconnect_ns = (struct optional_i64){true, 60 * NS_PER_S};
	nodes(f, 1, "");
	struct allocation *first = world_allocate(f->world, job, 0, 0, 0);
	f->world->nodes[0]->status = NODE_DISCONNECTED;
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(first->client_status, ALLOC_UNKNOWN);
	struct job *next = world_job_version(f->world, job);
	group_of(next)->restart = block(&restart_description);
	assert_int_equal(run(f, next, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.plans, 0);
	assert_ptr_equal(first->job, job);
}

static void the_disk_draws_its_instance_back(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	group_of(job)->disk.sticky = true;
	nodes(f, 1, "cpu=9000");
	nodes(f, 1, "");
	world_allocate(f->world, world_job(f->world, "service other cpu=2000"), 0, 1, 0);
	world_allocate(f->world, job, 0, 0, 0);
	struct job *next = changed(f, job);
	assert_int_equal(run(f, next, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(newest(f)->node_slot, 0);
	group_of(next)->disk.sticky = false;
	struct job *last = changed(f, next);
	assert_int_equal(run(f, last, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(newest(f)->node_slot, 1);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, committed_set_up, committed_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(missing_instances_are_placed),
		ROW(what_finds_no_room_waits_in_one_blocked_evaluation),
		ROW(millions_that_find_no_room_are_one_number),
		ROW(one_unique_constraint_escapes_the_classes),
		ROW(what_is_blocked_is_put_back_until_all_is_placed),
		ROW(victims_are_taken_where_the_configuration_allows),
		ROW(every_victim_is_annotated),
		ROW(conflicts_end_in_a_blocked_evaluation),
		ROW(progress_gives_new_attempts),
		ROW(a_partial_commit_without_anything_newer_is_an_error),
		ROW(no_plan_goes_without_the_evaluations_that_it_leaves),
		ROW(unknown_triggers_are_refused),
		ROW(a_job_of_another_type_by_now_is_left_alone),
		ROW(what_is_over_is_told_by_the_job),
		ROW(a_replacement_and_its_stop_go_together),
		ROW(what_need_not_be_replaced_joins_the_deployment),
		ROW(what_has_ended_is_not_changed),
		ROW(what_is_lost_meanwhile_keeps_its_version),
		ROW(classes_of_two_versions_are_kept),
		ROW(one_version_that_escapes_frees_the_other),
		ROW(the_newest_version_that_was_tried_is_taken),
		ROW(nothing_goes_back_behind_what_it_was),
		ROW(the_own_version_stands_in_for_forgotten_deployments),
		ROW(a_failed_deployment_says_nothing_for_its_version),
		ROW(the_tried_out_version_is_taken_when_no_other_is_stored),
		ROW(a_version_without_deployments_counts_also_after_one_with),
		ROW(a_version_without_deployments_is_the_one_before),
		ROW(a_failed_instance_goes_elsewhere_and_remembers),
		ROW(one_that_waits_has_a_follow_up_and_no_blocked_evaluation),
		ROW(a_change_without_room_leaves_the_follow_up),
		ROW(attempts_are_told_with_their_limit),
		ROW(one_that_waited_blocks),
		ROW(a_lost_connection_is_outlived),
		ROW(what_is_away_is_not_changed),
		ROW(the_disk_draws_its_instance_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
