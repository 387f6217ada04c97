// The system scheduler over a world into which its plans are committed: rows A1 to A40, one by one.
#include "state/base/error.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/committed.h"
#include "tests/support/log_capture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int run_as(struct fixture *f, const struct job *job, enum eval_trigger trigger, int type)
{
	struct evaluation *eval = evaluation_for(job, trigger);
	eval->type = type;
	int result = committer_run(&f->committer, eval);
	evaluation_free(eval);
	return result;
}

static int run_annotated(struct fixture *f, const struct job *job)
{
	struct evaluation *eval = evaluation_for(job, TRIGGER_JOB_REGISTER);
	eval->annotate_plan = true;
	int result = committer_run(&f->committer, eval);
	evaluation_free(eval);
	return result;
}

static int64_t queued(struct fixture *f)
{
	return count_get(&committer_end(&f->committer)->queued, "a");
}

static const struct alloc_metrics *failed(struct fixture *f)
{
	const struct array *groups = &committer_end(&f->committer)->failed_groups;
	return groups->count ? &ARRAY_AT(groups, struct failed_group, 0)->metrics : NULL;
}

// Makes a version whose task differs, so that instances must be replaced.
static struct job *changed(struct fixture *f, struct job *from)
{
	struct job *job = world_job_version(f->world, from);
	set(&task_of(job)->user, from->version % 2 ? "one" : "two");
	return job;
}

static void every_usable_node_gets_one(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web dc=dc*");
	nodes(f, 3, "dc=dc2");
	nodes(f, 1, "status=down");
	nodes(f, 1, "ineligible");
	nodes(f, 1, "draining");
	nodes(f, 1, "dc=east");
	nodes(f, 1, "pool=gpu");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(world_living(f->world, job), 3);
	assert_int_equal(queued(f), 0);
	const struct allocation *a = &f->world->allocations->record;
	assert_int_equal(a->client_status, ALLOC_PENDING);
	assert_null(a->details);
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	assert_int_equal(f->committer.plans, 0);
}

static void triggers_are_accepted_or_refused_by_row_a2(void **state)
{
	static const struct {
		enum eval_trigger trigger;
		bool system, sysbatch;
	} rows[] = {{TRIGGER_JOB_REGISTER, true, true}, {TRIGGER_JOB_DEREGISTER, true, true},
		{TRIGGER_PERIODIC_JOB, false, true}, {TRIGGER_NODE_DRAIN, true, true},
		{TRIGGER_NODE_UPDATE, true, true}, {TRIGGER_ALLOC_STOP, true, true},
		{TRIGGER_SCHEDULED, false, false}, {TRIGGER_ROLLING_UPDATE, true, true},
		{TRIGGER_DEPLOYMENT_WATCHER, true, true}, {TRIGGER_FAILED_FOLLOW_UP, true, true},
		{TRIGGER_MAX_PLAN_ATTEMPTS, false, false}, {TRIGGER_ALLOC_FAILURE, false, false},
		{TRIGGER_QUEUED_ALLOCS, true, true}, {TRIGGER_PREEMPTION, true, true},
		{TRIGGER_JOB_SCALING, true, true}, {TRIGGER_MAX_DISCONNECT_TIMEOUT, false, false},
		{TRIGGER_RECONNECT, true, true}};
	struct fixture *f = *state;
	struct job *system = world_job(f->world, "system web");
	struct job *sysbatch = world_job(f->world, "sysbatch once");
	assert_int_equal(COUNT(rows), EVAL_TRIGGERS);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(run(f, system, rows[i].trigger), 0);
		assert_int_equal(
			committer_end(&f->committer)->status == EVAL_COMPLETE, rows[i].system);
		assert_int_equal(run(f, sysbatch, rows[i].trigger), 0);
		assert_int_equal(
			committer_end(&f->committer)->status == EVAL_COMPLETE, rows[i].sysbatch);
	}
}

static void a_refused_trigger_leaves_the_counts_alone(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	struct evaluation *eval = evaluation_for(job, TRIGGER_ALLOC_FAILURE);
	nodes(f, 1, "");
	count_add(&eval->queued, "a", 7);
	assert_int_equal(committer_run(&f->committer, eval), 0);
	evaluation_free(eval);
	expect_end(f, EVAL_FAILED, "scheduler cannot handle 'alloc-failure' evaluation reason");
	assert_int_equal(f->committer.views, 0);
	assert_int_equal(queued(f), 7);
}

static void conflicts_without_progress_end_it(void **state)
{
	struct fixture *f = *state;
	struct job *system = world_job(f->world, "system web");
	struct job *sysbatch = world_job(f->world, "sysbatch once");
	nodes(f, 1, "");
	f->committer.rejected_slot = 0;
	f->committer.rejections = 100;
	assert_int_equal(run(f, system, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_FAILED, "maximum attempts reached (5)");
	assert_int_equal(f->committer.plans, 5);
	assert_int_equal(f->committer.created_count, 0);
	assert_int_equal(queued(f), 1);
	assert_int_equal(run(f, sysbatch, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_FAILED, "maximum attempts reached (2)");
	assert_int_equal(f->committer.plans, 2);
}

// Every attempt places an instance of one of the two groups, so that the counter begins anew.
static void progress_gives_new_attempts(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 2, "");
	f->committer.rejected_slot = 1;
	f->committer.rejections = 5;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(f->committer.plans, 6);
	assert_int_equal(world_living(f->world, job), 2);
	assert_int_equal(queued(f), 0);
}

static void a_refresh_is_waited_for(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 2, "");
	f->committer.rejected_slot = 1;
	f->committer.rejections = 1;
	f->committer.refreshes = true;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.views, 2);
	assert_true(f->committer.asked_index > 0);
	assert_int_equal(world_living(f->world, job), 2);
}

static void errors_are_the_callers(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 1, "");
	f->committer.view_error = -ERROR_SYNC_TIMEOUT;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -ERROR_SYNC_TIMEOUT);
	f->committer.view_error = 0;
	f->committer.submit_error = -ERROR_TOKEN;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -ERROR_TOKEN);
	assert_int_equal(f->committer.updated_count, 0);
	f->committer.submit_error = 0;
	f->committer.update_error = -ERROR_STOPPING;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -ERROR_STOPPING);
}

static void types_without_a_scheduler_are_told(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	assert_int_equal(run_as(f, job, TRIGGER_JOB_REGISTER, EVAL_CORE), -ERROR_UNSUPPORTED);
	assert_int_equal(run_as(f, job, TRIGGER_JOB_REGISTER, EVAL_TYPES), -ERROR_UNSUPPORTED);
	// The job was registered with another type, and the evaluation has that type.
	nodes(f, 1, "");
	assert_int_equal(run_as(f, job, TRIGGER_JOB_REGISTER, EVAL_SYSTEM), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(f->committer.plans, 0);
}

static void a_stopped_job_stops_everywhere(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 3, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	job = world_job_version(f->world, job);
	job->stop = true;
	assert_int_equal(run(f, job, TRIGGER_JOB_DEREGISTER), 0);
	assert_int_equal(world_living(f->world, NULL), 0);
	assert_int_equal(committer_end(&f->committer)->queued.count, 0);
}

static void a_service_evaluation_stops_jobs_of_every_type(void **state)
{
	static const char *const types[] = {
		"system web", "sysbatch web", "service web", "batch web"};
	for (uint32_t i = 0; i < COUNT(types); i++) {
		struct fixture *f = *state;
		struct job *job = world_job(f->world, types[i]);
		world_node(f->world, "");
		world_node(f->world, "");
		uint32_t slot = f->world->node_count - 2;
		world_allocate(f->world, job, 0, slot, 0);
		struct allocation *lost = world_allocate(f->world, job, 0, slot + 1, 1);
		f->world->nodes[slot + 1]->status = NODE_DOWN;
		job->stop = true;
		assert_int_equal(run_as(f, job, TRIGGER_JOB_DEREGISTER, EVAL_SERVICE), 0);
		assert_int_equal(world_living(f->world, job), 0);
		assert_int_equal(lost->client_status, ALLOC_LOST);
		assert_int_equal(f->committer.stops, 2);
		assert_int_equal(run_as(f, job, TRIGGER_JOB_DEREGISTER, EVAL_BATCH), 0);
		assert_int_equal(f->committer.plans, 0);
	}
}

static void stopping_that_conflicts_too_often_is_tried_later(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 1, "");
	world_allocate(f->world, job, 0, 0, 0);
	job->stop = true;
	f->committer.rejections = 100;
	f->committer.refreshes = true;
	assert_int_equal(run_as(f, job, TRIGGER_JOB_DEREGISTER, EVAL_SERVICE), 0);
	expect_end(f, EVAL_FAILED, "maximum attempts reached (5)");
	assert_int_equal(f->committer.created_count, 1);
	const struct evaluation *later = f->committer.created[0];
	assert_int_equal(later->status, EVAL_BLOCKED);
	assert_int_equal(later->triggered_by, TRIGGER_MAX_PLAN_ATTEMPTS);
	assert_string_equal(later->status_description, "created due to placement conflicts");
	assert_true(uuid_equal(&later->id, &committer_end(&f->committer)->blocked_eval));
}

static struct log_capture capture;

static void a_rolling_update_goes_in_steps(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	job->update = block(&update_description);
	job->update->max_parallel = 3;
	job->update->stagger_ns = 30 * NS_PER_S;
	nodes(f, 7, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	job = changed(f, job);
	static const uint32_t done[] = {3, 6, 7};
	for (uint32_t i = 0; i < COUNT(done); i++) {
		bool last = i == COUNT(done) - 1;
		log_capture_begin(&capture);
		assert_int_equal(run(f, job, i ? TRIGGER_ROLLING_UPDATE : TRIGGER_JOB_REGISTER), 0);
		log_capture_end(&capture);
		assert_int_equal(
			log_capture_count(&capture, "event=rolling-update-limit-reached eval=",
				" job=web namespace=default next_eval="),
			!last);
		assert_int_equal(of_version(f->world, job), done[i]);
		assert_int_equal(world_living(f->world, job), 7);
		assert_int_equal(f->committer.created_count, !last);
		if (last)
			break;
		const struct evaluation *next = f->committer.created[0];
		assert_int_equal(next->triggered_by, TRIGGER_ROLLING_UPDATE);
		assert_int_equal(next->wait_ns, 30 * NS_PER_S);
		assert_int_equal(next->status, EVAL_PENDING);
		assert_int_equal(next->priority, job->priority + 3); // the evaluation's
		assert_true(uuid_equal(&committer_end(&f->committer)->next_eval, &next->id));
		assert_true(uuid_equal(&next->previous_eval, &committer_end(&f->committer)->id));
	}
	assert_true(uuid_is_zero(&committer_end(&f->committer)->next_eval));
}

static void one_follow_up_serves_all_attempts(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	job->update = block(&update_description);
	job->update->max_parallel = 1;
	job->update->stagger_ns = NS_PER_S;
	nodes(f, 4, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	job = changed(f, job);
	f->committer.rejected_slot = 0;
	f->committer.rejections = 2;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.plans, 3);
	assert_int_equal(f->committer.created_count, 1);
	f->committer.create_error = -ERROR_QUEUE_FULL;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), -ERROR_QUEUE_FULL);
}

static void without_a_limit_all_are_replaced_at_once(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "sysbatch web");
	nodes(f, 5, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	struct allocation *first = &f->world->allocations->record;
	job = changed(f, job);
	run(f, job, TRIGGER_JOB_REGISTER);
	assert_int_equal(of_version(f->world, job), 5);
	assert_int_equal(f->committer.created_count, 0);
	const struct world_allocation *a = f->world->allocations;
	while (allocation_is_terminal(&a->record) || a->record.node_slot != first->node_slot)
		a = a->next;
	assert_true(uuid_equal(&a->record.details->previous_allocation, &first->id));
}

static void what_need_not_be_replaced_is_changed_in_place(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web cpu=3000");
	struct network_ask *ask = array_append(&group_of(job)->networks, sizeof *ask);
	struct port *port = array_append(&ask->reserved_ports, sizeof *port);
	set(&port->label, "http");
	port->value = 8080;
	nodes(f, 2, "attr.arch=amd64");
	nodes(f, 1, "attr.arch=arm64");
	run(f, job, TRIGGER_JOB_REGISTER);
	job = world_job_version(f->world, job);
	constrain(&job->constraints, "${attr.arch}", "=", "amd64");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.updates, 2);
	assert_int_equal(f->committer.stops, 1); // it no longer meets the constraint
	assert_int_equal(f->committer.placements, 0);
	assert_int_equal(of_version(f->world, job), 2);
	assert_int_equal(f->world->allocations->record.details->ports.count, 1);
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
}

static void what_ended_is_not_changed_in_place(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "sysbatch web");
	nodes(f, 2, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	for (struct world_allocation *a = f->world->allocations; a; a = a->next)
		a->record.client_status = ALLOC_COMPLETE;
	job = world_job_version(f->world, job);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.plans, 0);
	job = changed(f, job);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.stops, 2);
	assert_int_equal(of_version(f->world, job), 2);
}

// Its node takes no more instances: a replaced instance waits for that node (row A31).
static void a_replaced_instance_waits_for_its_node(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 1, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	struct allocation *a = &f->world->allocations->record;
	group_of(job)->max_client_disconnect_ns = (struct optional_i64){true, 60 * NS_PER_S};
	a->client_status = ALLOC_RUNNING;
	a->details = alloc_details_create();
	struct alloc_state *seen = array_append(&a->details->states, sizeof *seen);
	set(&seen->field, "ClientStatus");
	set(&seen->value, "unknown");
	f->world->nodes[0]->eligibility = NODE_INELIGIBLE;
	job = changed(f, job);
	log_capture_begin(&capture);
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	log_capture_end(&capture);
	assert_int_equal(f->committer.stops, 1);
	assert_int_equal(f->committer.placements, 0);
	assert_int_equal(queued(f), 1);
	assert_int_equal(log_capture_count(&capture, " level=debug event=node-not-found eval=",
				 " job=web namespace=default node="),
		1);
	assert_int_equal(log_capture_count(&capture, " level=debug event=job-reconciled eval=",
				 " job=web namespace=default place="),
		1);
}

// What a plan placed of a group that the evaluation does not name is noted and changes no count (row A12).
static void what_was_placed_of_another_group_is_left_out(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 2, "");
	f->committer.other_group = "other";
	log_capture_begin(&capture);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	log_capture_end(&capture);
	assert_int_equal(queued(f), 0);
	assert_int_equal(committer_end(&f->committer)->queued.count, 1);
	assert_int_equal(log_capture_count(&capture, " level=debug event=group-not-queued eval=",
				 " job=web namespace=default task_group=other placed=7"),
		1);
}

// What a second attempt is for, and what goes on later, is said at level debug.
static void further_attempts_are_explained(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 2, "");
	f->committer.rejections = 1;
	f->committer.refreshes = true;
	log_capture_begin(&capture);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	log_capture_end(&capture);
	assert_int_equal(log_capture_count(&capture, " level=debug event=refresh-forced eval=",
				 " job=web namespace=default index="),
		1);
	assert_int_equal(
		log_capture_count(&capture, " level=debug event=plan-not-fully-committed eval=",
			" job=web namespace=default attempted=2 placed=1"),
		1);
}

static void instances_are_lost_with_their_node_and_come_back_with_it(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	nodes(f, 2, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	f->world->nodes[1]->status = NODE_DOWN;
	run(f, job, TRIGGER_NODE_UPDATE);
	assert_int_equal(world_living(f->world, job), 1);
	f->world->nodes[1]->status = NODE_READY;
	run(f, job, TRIGGER_NODE_UPDATE);
	assert_int_equal(world_living(f->world, job), 2);
	assert_int_equal(f->committer.placements, 1);
	f->world->nodes[0]->drain = &(struct drain_strategy){0};
	run(f, job, TRIGGER_NODE_DRAIN);
	assert_int_equal(f->committer.plans, 0);
	f->world->nodes[0]->drain = NULL;
	world_purge(f->world, 0);
	run(f, job, TRIGGER_NODE_UPDATE);
	assert_int_equal(f->committer.stops, 1);
	assert_int_equal(world_living(f->world, job), 1);
}

static void a_lost_connection_is_outlived(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	group_of(job)->max_client_disconnect_ns = (struct optional_i64){true, 60 * NS_PER_S};
	nodes(f, 1, "");
	run(f, job, TRIGGER_JOB_REGISTER);
	struct allocation *a = &f->world->allocations->record;
	a->client_status = ALLOC_RUNNING;
	f->world->nodes[0]->status = NODE_DISCONNECTED;
	run(f, job, TRIGGER_NODE_UPDATE);
	assert_int_equal(a->client_status, ALLOC_UNKNOWN);
	run(f, job, TRIGGER_NODE_UPDATE);
	assert_int_equal(f->committer.plans, 0);
	f->world->nodes[0]->status = NODE_READY;
	a->client_status = ALLOC_RUNNING;
	run(f, job, TRIGGER_RECONNECT);
	assert_int_equal(f->committer.updates, 1);
	assert_int_equal(a->details->states.count, 2);
	assert_string_equal(ARRAY_AT(&a->details->states, struct alloc_state, 1)->value, "running");
	run(f, job, TRIGGER_NODE_UPDATE);
	assert_int_equal(f->committer.plans, 0);
}

static void nodes_that_do_not_qualify_are_no_failure(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	constrain(&job->constraints, "${attr.arch}", "=", "amd64");
	nodes(f, 2, "attr.arch=arm64");
	nodes(f, 1, "attr.arch=amd64");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(world_living(f->world, job), 1);
	assert_null(failed(f));
	assert_int_equal(queued(f), 0);
	assert_int_equal(f->committer.created_count, 0);
}

static void a_group_that_no_node_qualifies_for_says_why(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web");
	constrain(&job->constraints, "${attr.arch}", "=", "riscv");
	nodes(f, 2, "attr.arch=arm64 class=small");
	nodes(f, 1, "attr.arch=amd64");
	assert_int_equal(run_annotated(f, job), 0);
	const struct alloc_metrics *m = failed(f);
	assert_non_null(m);
	assert_int_equal(m->nodes_evaluated, 3);
	assert_int_equal(m->nodes_filtered, 3);
	assert_int_equal(count_get(&m->class_filtered, "small"), 2);
	assert_int_equal(count_get(&m->constraint_filtered, "${attr.arch} = riscv") +
				 count_get(&m->constraint_filtered, "computed class ineligible"),
		3);
	assert_int_equal(count_get(&m->nodes_available, "dc1"), 3);
	assert_int_equal(queued(f), 0);
	assert_int_equal(f->committer.created_count, 0);
	assert_int_equal(ARRAY_AT(&f->committer.annotations, struct desired_updates, 0)->place, 0);
}

static void every_full_node_has_a_blocked_evaluation(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web cpu=3000");
	struct job *other = world_job(f->world, "service db cpu=2000 priority=60");
	set(&add_task(add_group(job, "b"), "t")->driver, "exec");
	task_of(job)->resources.memory_mb = 100;
	world_job_changed(job);
	nodes(f, 4, "class=large");
	for (uint32_t slot = 1; slot < 4; slot++)
		world_allocate(f->world, other, 0, slot, slot);
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	expect_end(f, EVAL_COMPLETE, "");
	assert_int_equal(queued(f), 3);
	const struct alloc_metrics *m = failed(f);
	assert_int_equal(m->nodes_evaluated, 1);
	assert_int_equal(m->nodes_exhausted, 1);
	assert_int_equal(m->coalesced_failures, 2);
	assert_int_equal(count_get(&m->dimension_exhausted, "cpu"), 1);
	const struct exhausted_resources *r =
		ARRAY_AT(&m->resources_exhausted, struct exhausted_resources, 0);
	assert_int_equal(r->cpu, 9000);
	assert_int_equal(r->memory_mb, 0);
	assert_int_equal(f->committer.created_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct evaluation *blocked = f->committer.created[i];
		assert_int_equal(blocked->status, EVAL_BLOCKED);
		assert_int_equal(blocked->triggered_by, TRIGGER_QUEUED_ALLOCS);
		assert_string_equal(
			blocked->status_description, "created to place remaining allocations");
		assert_true(uuid_equal(&blocked->node_id, &f->world->nodes[i + 1]->id));
		// What had failed when the node was looked at.
		assert_int_equal(blocked->failed_groups.count, 1);
		m = &ARRAY_AT(&blocked->failed_groups, struct failed_group, 0)->metrics;
		assert_int_equal(m->coalesced_failures, i);
		assert_int_equal(blocked->class_eligibility.count, 1);
		assert_false(blocked->escaped_computed_class);
	}
	assert_true(uuid_is_zero(&committer_end(&f->committer)->blocked_eval));
}

// The first group finds no room on the second node, the second one on neither.
static void a_blocked_evaluation_knows_what_had_failed_by_then(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web cpu=1500");
	set(&add_task(add_group(job, "b"), "t")->driver, "exec");
	ARRAY_AT(&ARRAY_AT(&job->task_groups, struct task_group, 1)->tasks, struct task, 0)
		->resources.cpu = 9000;
	world_job_changed(job);
	nodes(f, 1, "cpu=2000");
	nodes(f, 1, "cpu=1000");
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.created_count, 2);
	assert_int_equal(committer_end(&f->committer)->failed_groups.count, 2);
	const struct array *first = &f->committer.created[0]->failed_groups;
	assert_int_equal(first->count, 1);
	assert_string_equal(ARRAY_AT(first, struct failed_group, 0)->group, "b");
	assert_int_equal(f->committer.created[1]->failed_groups.count, 2);
}

static void a_node_is_blocked_once_whatever_the_attempts(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web cpu=3000");
	set(&add_task(add_group(job, "b"), "t")->driver, "exec");
	ARRAY_AT(&ARRAY_AT(&job->task_groups, struct task_group, 1)->tasks, struct task, 0)
		->resources.cpu = 3500;
	world_job_changed(job);
	nodes(f, 1, "cpu=2000");
	nodes(f, 1, "");
	f->committer.rejected_slot = 1;
	f->committer.rejections = 2;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.plans, 3);
	assert_int_equal(f->committer.created_count, 2);
	f->committer.create_error = -ERROR_QUEUE_FULL;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0); // gives up without a failure
	expect_end(f, EVAL_COMPLETE, "");
}

static void victims_are_taken_where_the_configuration_allows(void **state)
{
	struct fixture *f = *state;
	struct job *low = world_job(f->world, "service db cpu=3900 priority=10");
	struct job *sysbatch = world_job(f->world, "sysbatch once");
	struct job *job = world_job(f->world, "system web cpu=200");
	nodes(f, 1, "");
	struct allocation *victim = world_allocate(f->world, low, 0, 0, 0);
	run(f, sysbatch, TRIGGER_JOB_REGISTER);
	run(f, sysbatch, TRIGGER_JOB_REGISTER);
	assert_int_equal(world_living(f->world, low), 1);
	f->world->config.preemption.system = false;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.created_count, 1);
	f->world->config.preemption.system = true;
	assert_int_equal(run(f, job, TRIGGER_JOB_REGISTER), 0);
	assert_int_equal(f->committer.preemptions, 1);
	assert_int_equal(victim->desired, ALLOC_EVICT);
	const struct world_allocation *a = f->world->allocations;
	while (a->next)
		a = a->next;
	assert_int_equal(a->record.details->preempted.count, 1);
	assert_true(
		uuid_equal(ARRAY_AT(&a->record.details->preempted, struct uuid, 0), &victim->id));
}

static void a_dry_run_counts_what_it_would_do(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "system web cpu=200");
	struct job *low = world_job(f->world, "service db cpu=3900 priority=10");
	nodes(f, 3, "");
	world_allocate(f->world, job, 0, 0, 0);
	world_allocate(f->world, low, 0, 1, 0);
	job = changed(f, job);
	assert_int_equal(run_annotated(f, job), 0);
	assert_int_equal(f->committer.annotations.count, 1);
	const struct desired_updates *d =
		ARRAY_AT(&f->committer.annotations, struct desired_updates, 0);
	assert_string_equal(d->group, "a");
	assert_int_equal(d->place, 2);
	assert_int_equal(d->destructive_update, 1);
	assert_int_equal(d->preemptions, 1);
	assert_int_equal(world_living(f->world, job), 1);
	job = world_job_version(f->world, job);
	job->stop = true;
	assert_int_equal(run_annotated(f, job), 0);
	assert_int_equal(ARRAY_AT(&f->committer.annotations, struct desired_updates, 0)->stop, 1);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, committed_set_up, committed_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(every_usable_node_gets_one),
		ROW(triggers_are_accepted_or_refused_by_row_a2),
		ROW(a_refused_trigger_leaves_the_counts_alone),
		ROW(conflicts_without_progress_end_it),
		ROW(progress_gives_new_attempts),
		ROW(a_refresh_is_waited_for),
		ROW(errors_are_the_callers),
		ROW(types_without_a_scheduler_are_told),
		ROW(a_stopped_job_stops_everywhere),
		ROW(a_service_evaluation_stops_jobs_of_every_type),
		ROW(stopping_that_conflicts_too_often_is_tried_later),
		ROW(a_rolling_update_goes_in_steps),
		ROW(one_follow_up_serves_all_attempts),
		ROW(without_a_limit_all_are_replaced_at_once),
		ROW(what_need_not_be_replaced_is_changed_in_place),
		ROW(what_ended_is_not_changed_in_place),
		ROW(a_replaced_instance_waits_for_its_node),
		ROW(what_was_placed_of_another_group_is_left_out),
		ROW(further_attempts_are_explained),
		ROW(instances_are_lost_with_their_node_and_come_back_with_it),
		ROW(a_lost_connection_is_outlived),
		ROW(nodes_that_do_not_qualify_are_no_failure),
		ROW(a_group_that_no_node_qualifies_for_says_why),
		ROW(every_full_node_has_a_blocked_evaluation),
		ROW(a_blocked_evaluation_knows_what_had_failed_by_then),
		ROW(a_node_is_blocked_once_whatever_the_attempts),
		ROW(victims_are_taken_where_the_configuration_allows),
		ROW(a_dry_run_counts_what_it_would_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
