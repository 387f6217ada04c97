// What a job's summary counts, from placement to the end and beyond.
#include "tests/state/evaluations.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct world {
	struct controller c;
	struct node_registration node;
	struct uuid eval;
};

static void open_world(struct world *w, const char *job, enum job_type type)
{
	struct command_job_register result = {0};

	controller_init(&w->c, (struct state_limits){0});
	controller_open(&w->c);
	controller_register(&w->c, 1, &w->node);
	assert_int_equal(
		register_job(&w->c, build_scheduled_job(job, type), &result), OUTCOME_DONE);
	w->eval = result.made.id;
}

static void close_world(struct world *w)
{
	expect_restores(&w->c);
	controller_free(&w->c);
}

static struct task_group_summary summary(const struct world *w, const char *job)
{
	struct task_group_summary group = {0};
	uint32_t count = 1;

	state_read_begin();
	assert_true(state_job_summary(w->c.state, TEXT("default"), text_of(job), &group, &count));
	state_read_end();
	assert_int_equal(count, 1);
	group.group = NULL; // of the record
	return group;
}

static void expect(const struct world *w, const char *job, struct task_group_summary wanted)
{
	struct task_group_summary found = summary(w, job);
	assert_memory_equal(&found, &wanted, sizeof wanted);
}

static void queue(struct world *w, int64_t count)
{
	struct evaluation *e = published_evaluation(&w->c, &w->eval);
	struct named_count *item = map_item(&e->queued, sizeof *item, "g0");
	item->count = count;
	store_evaluation(&w->c, e);
}

static void collect_all(struct world *w)
{
	struct command command = {.type = COMMAND_GC, .gc = {.force = true}};
	uint32_t done = 0;

	controller_push(&w->c, &command, &done);
	while (!done)
		applier_step(w->c.applier);
}

static void placements_leave_the_queue(void **unused)
{
	struct world w;

	open_world(&w, "sys", JOB_SYSTEM);
	expect(&w, "sys", (struct task_group_summary){0});
	queue(&w, 2);
	expect(&w, "sys", (struct task_group_summary){.queued = 2});
	place_one(&w.c, &w.eval, "sys", &w.node, 1);
	expect(&w, "sys", (struct task_group_summary){.queued = 1, .starting = 1});
	place_one(&w.c, &w.eval, "sys", &w.node, 2);
	place_one(&w.c, &w.eval, "sys", &w.node, 3); // that nobody had counted
	expect(&w, "sys", (struct task_group_summary){.starting = 3});
	close_world(&w);
}

static void what_ended_stays_counted(void **unused)
{
	struct world w;

	open_world(&w, "once", JOB_SYSBATCH);
	for (uint32_t i = 1; i <= 4; i++)
		place_one(&w.c, &w.eval, "once", &w.node, i);
	for (uint32_t i = 1; i <= 3; i++)
		report_one(&w.c, &w.node, i, ALLOC_RUNNING);
	expect(&w, "once", (struct task_group_summary){.starting = 1, .running = 3});
	report_one(&w.c, &w.node, 1, ALLOC_COMPLETE);
	report_one(&w.c, &w.node, 2, ALLOC_FAILED);
	expect(&w, "once",
		(struct task_group_summary){
			.starting = 1, .running = 1, .complete = 1, .failed = 1});
	expect_restores(&w.c);

	// Ended without having run: it is not starting once it is gone.
	report_one(&w.c, &w.node, 3, ALLOC_COMPLETE);
	stop_one(&w.c, &w.eval, "once", 4, STOP_NOT_NEEDED);
	expect(&w, "once", (struct task_group_summary){.starting = 1, .complete = 2, .failed = 1});
	change_evaluation(&w.c, &w.eval, EVAL_COMPLETE);
	struct command_job_register result = {0};
	struct job *job = build_scheduled_job("once", JOB_SYSBATCH);
	job->priority = 70;
	register_job(&w.c, job, &result); // so that only its allocations go
	collect_all(&w);
	struct state_counts counts;
	state_counts(w.c.state, &counts);
	assert_int_equal(counts.allocations, 0);
	expect(&w, "once", (struct task_group_summary){.complete = 2, .failed = 1});
	close_world(&w);
}

// A job of the same name begins with what is there of the former one.
static void a_new_job_counts_what_it_finds(void **unused)
{
	struct world w;

	open_world(&w, "sys", JOB_SYSTEM);
	place_one(&w.c, &w.eval, "sys", &w.node, 1);
	place_one(&w.c, &w.eval, "sys", &w.node, 2);
	report_one(&w.c, &w.node, 1, ALLOC_RUNNING);
	controller_stop_job(&w.c, "sys", true);
	register_job(&w.c, build_scheduled_job("sys", JOB_SYSTEM), NULL);
	expect(&w, "sys", (struct task_group_summary){.starting = 1, .running = 1});
	report_one(&w.c, &w.node, 2, ALLOC_RUNNING);
	expect(&w, "sys", (struct task_group_summary){.running = 2});
	close_world(&w);
}

static void direct_jobs_have_one_too(void **unused)
{
	static const struct resources ask = {100, 100, 10};
	struct world w;
	struct command_place placed;

	open_world(&w, "sys", JOB_SYSTEM);
	controller_job(&w.c, build_job("web", &ask, 1));
	controller_place(&w.c, "ann", "web", 1, 3, &placed);
	expect(&w, "web", (struct task_group_summary){.starting = 3});
	controller_release(&w.c, &placed.items[0].allocation, 1, NULL);
	expect(&w, "web", (struct task_group_summary){.starting = 2, .complete = 1});
	controller_node(&w.c, COMMAND_NODE_EXPIRED, w.node.slot, w.node.generation);
	expect(&w, "web", (struct task_group_summary){.complete = 1, .lost = 2});
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(placements_leave_the_queue),
		cmocka_unit_test(what_ended_stays_counted),
		cmocka_unit_test(a_new_job_counts_what_it_finds),
		cmocka_unit_test(direct_jobs_have_one_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
