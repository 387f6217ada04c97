// Where a node's allocations would go: the schedulers decide it, and nothing is stored.
#include "placement/watch/what_if/altered_view.h"
#include "placement/watch/what_if/what_if.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/evaluation.h"
#include "tests/state/plans.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void add_node(struct controller *c, uint32_t number)
{
	struct node_registration *node = memory_take(sizeof *node);

	c->time.wall_ns += 1000000;
	build_node(node, number, (uint64_t)controller_now_ms(c));
	node->datacenter = TEXT("dc1");
	node->pairs[node->pair_count++] = (struct node_pair){PAIR_DRIVER, TEXT("exec"), TEXT("1")};
	assert_int_equal(core_join(&c->core, node), OUTCOME_DONE);
	free(node);
}

static void open_controller(struct controller *c, uint32_t nodes)
{
	controller_init(c, (struct state_limits){0});
	controller_open(c);
	for (uint32_t i = 1; i <= nodes; i++)
		add_node(c, i);
}

static void close_controller(struct controller *c)
{
	controller_verify(c);
	controller_free(c);
}

struct ask {
	const char *id;
	enum job_type type;
	int64_t count, cpu, priority;
};

static void add_job(struct controller *c, struct ask ask)
{
	struct job *job = build_scheduled_job(ask.id, ask.type);
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);

	group->count = ask.count;
	struct task *task = ARRAY_AT(&group->tasks, struct task, 0);
	task->resources.cpu = ask.cpu;
	task->driver = text_copy(TEXT("exec"));
	if (ask.priority)
		job->priority = ask.priority;
	assert_true(job_derive(job));
	assert_int_equal(register_job(c, job, NULL), OUTCOME_DONE);
}

static bool take_evaluation(const struct evaluation *e, void *context)
{
	*(struct uuid *)context = e->id;
	return false;
}

static void place(struct controller *c, const char *id, uint32_t allocation, uint32_t number)
{
	struct plan *plan = plan_create();
	struct uuid node_id = number_uuid(number);

	plan->namespace_name = text_copy(TEXT("default"));
	plan->job_id = text_copy(text_of(id));
	state_read_begin();
	const struct job *job = state_job(c->state, TEXT("default"), text_of(id));
	plan->job_version = job->record.modify_index;
	state_job_evaluations(
		c->state, TEXT("default"), text_of(id), take_evaluation, &plan->eval_id);
	const struct node *node = state_node_by_id(c->state, &node_id);
	struct plan_placement *p = plan_place(plan, allocation, number, node->slot);
	p->generation = node->generation;
	p->resources = ARRAY_AT(&job->asks, struct group_ask, 0)->resources;
	p->name_index = allocation % 10;
	state_read_end();
	commit_plan(c, plan);
}

// Asks in its own read section, which done() ends.
static void ask(struct controller *c, uint32_t number, enum what_if_kind kind, struct what_if *out)
{
	struct uuid id = number_uuid(number);
	struct prng prng;

	prng_seed(&prng, 1);
	struct scheduler_view view = state_view_begin(c->state);
	const struct node *node = state_node_by_id(c->state, &id);
	what_if(&view, node, kind, &prng, controller_now_ms(c) * 1000000, out);
}

static void done(struct what_if *out)
{
	what_if_release(out);
	state_view_end();
}

static const struct what_if_item *item_of(const struct what_if *out, uint32_t allocation)
{
	struct uuid id = number_uuid(allocation);

	for (uint32_t i = 0; i < out->items.count; i++) {
		const struct what_if_item *item = ARRAY_AT(&out->items, struct what_if_item, i);
		if (uuid_equal(&item->allocation->id, &id))
			return item;
	}
	fail_msg("allocation %u is not spoken of", allocation);
	return NULL;
}

static void expect_item(
	const struct what_if *out, uint32_t allocation, enum what_if_outcome outcome, uint32_t to)
{
	const struct what_if_item *item = item_of(out, allocation);
	struct uuid node = number_uuid(to);

	assert_string_equal(what_if_outcome_names[item->outcome], what_if_outcome_names[outcome]);
	if (to)
		assert_true(item->to && uuid_equal(&item->to->id, &node));
	else
		assert_null(item->to);
}

static uint32_t count_outcome(const struct what_if *out, enum what_if_outcome outcome)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < out->items.count; i++)
		count += ARRAY_AT(&out->items, struct what_if_item, i)->outcome == outcome;
	return count;
}

static void goes_where_there_is_room(void **state)
{
	struct controller c;
	struct what_if out;

	open_controller(&c, 3);
	add_job(&c, (struct ask){"web", JOB_SERVICE, 2, 1500, 0});
	add_job(&c, (struct ask){"full", JOB_SERVICE, 1, 3500, 0});
	place(&c, "web", 1, 1);
	place(&c, "web", 2, 1);
	place(&c, "full", 3, 2);
	for (enum what_if_kind kind = WHAT_IF_DRAIN; kind <= WHAT_IF_DOWN; kind++) {
		uint64_t index = state_index(c.state);
		ask(&c, 1, kind, &out);
		assert_int_equal(out.items.count, 2);
		expect_item(&out, 1, WHAT_IF_MOVES, 3);
		expect_item(&out, 2, WHAT_IF_MOVES, 3);
		assert_int_equal(count_outcome(&out, WHAT_IF_MOVES), 2);
		assert_false(item_of(&out, 1)->finishes);
		done(&out);
		assert_int_equal(state_index(c.state), index);
	}
	close_controller(&c);
}

// What one job takes the next one does not get: the job of higher priority comes first.
static void jobs_share_what_is_left(void **state)
{
	struct controller c;
	struct what_if out;

	open_controller(&c, 2);
	add_job(&c, (struct ask){"low", JOB_SERVICE, 1, 2500, 20});
	add_job(&c, (struct ask){"high", JOB_SERVICE, 1, 1500, 80});
	place(&c, "low", 1, 1);
	place(&c, "high", 2, 1);
	ask(&c, 1, WHAT_IF_DRAIN, &out);
	expect_item(&out, 2, WHAT_IF_MOVES, 2);
	expect_item(&out, 1, WHAT_IF_MOVES, 2);
	done(&out);

	add_job(&c, (struct ask){"high", JOB_SERVICE, 1, 1600, 80});
	ask(&c, 1, WHAT_IF_DRAIN, &out);
	expect_item(&out, 2, WHAT_IF_MOVES, 2);
	expect_item(&out, 1, WHAT_IF_NO_ROOM, 0);
	assert_int_equal(out.failures.count, 1);
	const struct what_if_failure *failure = ARRAY_AT(&out.failures, struct what_if_failure, 0);
	assert_string_equal(failure->job->id, "low");
	assert_string_equal(ARRAY_AT(&failure->groups, struct failed_group, 0)->group, "g0");
	assert_int_equal(
		ARRAY_AT(&failure->groups, struct failed_group, 0)->metrics.nodes_exhausted, 1);
	done(&out);
	close_controller(&c);
}

static void some_of_a_job_fit(void **state)
{
	struct controller c;
	struct what_if out;

	open_controller(&c, 2);
	add_job(&c, (struct ask){"web", JOB_SERVICE, 3, 1300, 0});
	add_job(&c, (struct ask){"other", JOB_SERVICE, 1, 1000, 0});
	for (uint32_t i = 1; i <= 3; i++)
		place(&c, "web", i, 1);
	place(&c, "other", 4, 2);
	ask(&c, 1, WHAT_IF_DOWN, &out);
	assert_int_equal(count_outcome(&out, WHAT_IF_MOVES), 2);
	assert_int_equal(count_outcome(&out, WHAT_IF_NO_ROOM), 1);
	done(&out);
	close_controller(&c);
}

static void what_is_no_service(void **state)
{
	static const struct resources small = {100, 100, 10};
	struct command_place placed;
	struct controller c;
	struct what_if out;

	open_controller(&c, 1);
	assert_int_equal(controller_job(&c, build_job("direct", &small, 1)), OUTCOME_DONE);
	assert_int_equal(controller_place(&c, "client", "direct", 1, 1, &placed), OUTCOME_DONE);
	add_node(&c, 2);
	add_job(&c, (struct ask){"batch", JOB_BATCH, 1, 100, 0});
	add_job(&c, (struct ask){"system", JOB_SYSTEM, 1, 100, 0});
	place(&c, "batch", 1, 1);
	place(&c, "system", 2, 1);
	ask(&c, 1, WHAT_IF_DRAIN, &out);
	expect_item(&out, 1, WHAT_IF_MOVES, 2);
	assert_true(item_of(&out, 1)->finishes);
	expect_item(&out, 2, WHAT_IF_STOPS, 0);
	assert_int_equal(count_outcome(&out, WHAT_IF_STAYS), 1);
	done(&out);
	ask(&c, 1, WHAT_IF_DOWN, &out);
	expect_item(&out, 1, WHAT_IF_MOVES, 2);
	expect_item(&out, 2, WHAT_IF_STOPS, 0);
	assert_int_equal(count_outcome(&out, WHAT_IF_STOPS), 2);
	done(&out);
	close_controller(&c);
}

static void an_empty_node(void **state)
{
	struct controller c;
	struct what_if out;

	open_controller(&c, 1);
	ask(&c, 1, WHAT_IF_DRAIN, &out);
	assert_int_equal(out.items.count, 0);
	done(&out);
	close_controller(&c);
}

// A placement has its first report, like a committed one: its tasks' handles go on to the next.
static void a_placement_begins_with_its_report(void **state)
{
	struct controller c;
	struct altered_view altered;
	struct plan *plan = plan_create();

	open_controller(&c, 1);
	add_job(&c, (struct ask){"web", JOB_SERVICE, 1, 100});
	struct plan_placement *p = array_append(&plan->placements, sizeof *p);
	*p = (struct plan_placement){.id = number_uuid(77), .report = alloc_report_create()};
	struct task_state *task = array_append(&p->report->task_states, sizeof *task);
	task->task = text_copy(TEXT("t"));
	struct scheduler_view below = state_view_begin(c.state);
	altered_view_init(&altered, &below, NULL);
	altered_view_apply(&altered, plan, state_job(c.state, TEXT("default"), TEXT("web")));
	plan_free(plan);
	struct scheduler_view view = altered_view_of(&altered);
	struct uuid id = number_uuid(77);
	const struct allocation *a = view.allocation(view.context, &id);
	assert_non_null(a->report);
	assert_string_equal(ARRAY_AT(&a->report->task_states, struct task_state, 0)->task, "t");
	altered_view_release(&altered);
	state_view_end();
	close_controller(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_where_there_is_room),
		cmocka_unit_test(jobs_share_what_is_left),
		cmocka_unit_test(some_of_a_job_fit),
		cmocka_unit_test(what_is_no_service),
		cmocka_unit_test(an_empty_node),
		cmocka_unit_test(a_placement_begins_with_its_report),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
