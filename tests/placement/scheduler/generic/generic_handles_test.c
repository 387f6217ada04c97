// Row C51: handles of tasks that run away from their node go to the allocation that replaces theirs.
#include "state/base/memory.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/committed.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct task_state *task_state_of(struct allocation *a, const char *task)
{
	if (!a->report)
		a->report = alloc_report_create();
	return map_item(&a->report->task_states, sizeof(struct task_state), task);
}

// The allocation runs, and was restarted once.
static void runs(struct allocation *a, const char *task, const char *driver_state)
{
	struct task_state *state = task_state_of(a, task);
	state->state = TASK_RUNNING;
	state->restarts = 1;
	state->started_at_ns = 5;
	*(struct task_event *)array_append(&state->events, sizeof(struct task_event)) =
		(struct task_event){.time_ns = 5};
	if (!driver_state)
		return;
	state->handle = memory_take(sizeof *state->handle);
	state->handle->version = 3;
	set(&state->handle->driver_state, driver_state);
}

static struct allocation *newest(const struct fixture *f)
{
	struct world_allocation *a = f->world->allocations;
	while (a->next)
		a = a->next;
	return &a->record;
}

// Makes a job of two tasks, whose one instance runs on the first of two nodes.
static struct allocation *begin(struct fixture *f, struct job **job)
{
	*job = world_job(f->world, "service web");
	add_task(group_of(*job), "u");
	world_job_changed(*job);
	nodes(f, 2, "");
	struct allocation *a = world_allocate(f->world, *job, 0, 0, 0);
	runs(a, "t", "ZmFyIGF3YXk=");
	runs(a, "u", NULL);
	return a;
}

// Works off an evaluation; returns the instance that replaces `a`.
static const struct allocation *replace(struct fixture *f, struct job *job, struct allocation *a)
{
	assert_int_equal(run(f, job, TRIGGER_NODE_UPDATE), 0);
	const struct allocation *b = newest(f);
	assert_ptr_not_equal(a, b);
	assert_true(uuid_equal(&b->details->previous_allocation, &a->id));
	return b;
}

static void expect_handle(const struct allocation *b)
{
	assert_non_null(b->report);
	assert_int_equal(b->report->task_states.count, 1);
	const struct task_state *state = ARRAY_AT(&b->report->task_states, struct task_state, 0);
	assert_string_equal(state->task, "t");
	assert_int_equal(state->state, TASK_PENDING);
	assert_int_equal(state->restarts, 0);
	assert_int_equal(state->started_at_ns, 0);
	assert_int_equal(state->events.count, 0);
	assert_int_equal(state->handle->version, 3);
	assert_string_equal(state->handle->driver_state, "ZmFyIGF3YXk=");
}

static struct desired_transition *transition_of(struct allocation *a)
{
	if (!a->details)
		a->details = alloc_details_create();
	return &a->details->transition;
}

static void go_on_when_the_node_is_lost(void **state)
{
	struct fixture *f = *state;
	struct job *job;
	struct allocation *a = begin(f, &job);
	f->world->nodes[0]->status = NODE_DOWN;
	expect_handle(replace(f, job, a));
	assert_int_equal(a->client_status, ALLOC_LOST);
}

static void go_on_when_it_migrates(void **state)
{
	struct fixture *f = *state;
	struct job *job;
	struct allocation *a = begin(f, &job);
	f->world->nodes[0]->eligibility = NODE_INELIGIBLE;
	transition_of(a)->migrate = (struct optional_bool){true, true};
	expect_handle(replace(f, job, a));
	assert_int_equal(a->client_status, ALLOC_RUNNING);
}

static void of_a_task_that_is_no_more_are_dropped(void **state)
{
	struct fixture *f = *state;
	struct job *job;
	struct allocation *a = begin(f, &job);
	struct job *next = world_job_version(f->world, job);
	set(&task_of(next)->name, "v");
	world_job_changed(next);
	f->world->nodes[0]->status = NODE_DOWN;
	assert_null(replace(f, next, a)->report);
}

static void there_is_none_where_none_was(void **state)
{
	struct fixture *f = *state;
	struct job *job = world_job(f->world, "service web");
	nodes(f, 2, "");
	struct allocation *a = world_allocate(f->world, job, 0, 0, 0);
	runs(a, "t", NULL);
	f->world->nodes[0]->status = NODE_DOWN;
	assert_null(replace(f, job, a)->report);
}

static void stay_behind_when_it_failed(void **state)
{
	struct fixture *f = *state;
	struct job *job;
	struct allocation *a = begin(f, &job);
	struct reschedule_policy *policy = block(&reschedule_description);
	set(&policy->delay_function, "constant");
	policy->delay_ns = 0;
	policy->unlimited = (struct optional_bool){true, true};
	group_of(job)->reschedule = policy;
	a->client_status = ALLOC_FAILED;
	transition_of(a)->migrate = (struct optional_bool){true, true};
	assert_null(replace(f, job, a)->report);
}

static void stay_behind_when_it_is_updated(void **state)
{
	struct fixture *f = *state;
	struct job *job;
	struct allocation *a = begin(f, &job);
	struct job *next = world_job_version(f->world, job);
	set(&task_of(next)->user, "other");
	assert_null(replace(f, next, a)->report);
}

#define ROW(name) cmocka_unit_test_setup_teardown(name, committed_set_up, committed_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(go_on_when_the_node_is_lost),
		ROW(go_on_when_it_migrates),
		ROW(of_a_task_that_is_no_more_are_dropped),
		ROW(there_is_none_where_none_was),
		ROW(stay_behind_when_it_failed),
		ROW(stay_behind_when_it_is_updated),
	};
	return cmocka_run_group_tests_name("handles", tests, NULL, NULL);
}
