// Restarts that people ask for, with mock tasks and a clock that stands still unless told.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/task/task_wish.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct node_facts facts = {
	.name = "node-a", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	return stage_close();
}

#define TASK(name, config, further)                                                        \
	"{\"Name\":\"" name "\",\"Driver\":\"mock\",\"Config\":{" config                   \
	"},\"KillTimeout\":5000000000,\"RestartPolicy\":{\"Attempts\":0,\"Mode\":\"fail\"" \
	"}" further "}"
#define PRESTART ",\"Lifecycle\":{\"Hook\":\"prestart\",\"Sidecar\":false}"
#define SIDECAR ",\"Lifecycle\":{\"Hook\":\"prestart\",\"Sidecar\":true}"
#define POSTSTOP ",\"Lifecycle\":{\"Hook\":\"poststop\"}"

static int64_t now_ns(void)
{
	return (int64_t)manual.wall_ns;
}

// Its events, the oldest first, each with a blank.
static const char *events(const struct task *t)
{
	static char text[400];
	size_t size = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < t->note_count; i++)
		size += (size_t)snprintf(text + size, sizeof text - size, "%s, ", t->notes[i].type);
	return text;
}

static void one_task_begins_anew_whatever_its_policy(void **unused)
{
	struct alloc_run *a = stage_run(
		&id, "service", "", TASK("a", "\"kill_after\":\"1s\"", "") "," TASK("b", "", ""));
	struct task *t = &a->tasks[0];
	assert_int_equal(alloc_wish_restart(a, "a", now_ns()), WISH_DONE);
	runner_step(&runner);
	assert_int_equal(t->phase, PHASE_STOPPING);
	stage_pass_ms(1000);
	stage_pass_ms(1);
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_string_equal(events(t), "Received, Task Setup, Started, Restart Signaled, "
				       "Terminated, Restarting, Started, ");
	assert_string_equal(t->notes[3].message, "User requested task to restart");
	assert_string_equal(t->notes[5].message, "Task restarting in 0s");
	assert_int_equal(t->restarts, 1);
	assert_int_equal(t->attempts, 0);
	assert_int_equal(a->tasks[1].restarts, 0);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
}

static void what_does_not_end_is_killed_and_begins_anew(void **unused)
{
	struct alloc_run *a = stage_run(&id, "service", "", TASK("a", "\"kill_after\":\"1h\"", ""));
	assert_int_equal(alloc_wish_restart(a, NULL, now_ns()), WISH_DONE);
	runner_step(&runner);
	stage_pass_ms(5000);
	stage_pass_ms(1);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_int_equal(a->tasks[0].restarts, 1);
}

static void a_stop_comes_before_a_restart(void **unused)
{
	struct alloc_run *a = stage_run(&id, "service", "",
		TASK("a", "\"kill_after\":\"2s\"", "") "," TASK("b", "\"kill_after\":\"2s\"", ""));
	assert_int_equal(alloc_wish_restart_all(a, now_ns()), WISH_DONE);
	runner_step(&runner);
	runner_stop(&runner, a);
	runner_step(&runner);
	assert_int_equal(a->tasks[0].phase, PHASE_STOPPING); // its process is still there
	assert_int_equal(alloc_wish_restart(a, "a", now_ns()), WISH_ALLOC_IS_OVER);
	stage_pass_ms(2000);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_int_equal(a->tasks[0].restarts, 0);
	assert_int_equal(alloc_wish_restart_all(a, now_ns()), WISH_ALLOC_IS_OVER);
}

static void all_tasks_begin_anew_in_their_order(void **unused)
{
	struct alloc_run *a = stage_run(&id, "service", "",
		TASK("pre", "\"run_for\":\"1s\"", PRESTART) "," TASK("side", "", SIDECAR) "," TASK(
			"main", "\"kill_after\":\"2s\"", "") "," TASK("post", "", POSTSTOP));
	struct task *pre = &a->tasks[0], *side = &a->tasks[1], *main_task = &a->tasks[2];
	stage_pass_ms(1000);
	assert_int_equal(main_task->phase, PHASE_RUNNING);
	assert_int_equal(alloc_wish_restart_all(a, now_ns()), WISH_DONE);
	runner_step(&runner);
	// Nothing begins while something still runs.
	assert_int_equal(pre->phase, PHASE_WAITING);
	assert_int_equal(side->phase, PHASE_WAITING);
	assert_int_equal(main_task->phase, PHASE_STOPPING);
	stage_pass_ms(2000);
	assert_int_equal(pre->phase, PHASE_RUNNING);
	assert_int_equal(side->phase, PHASE_RUNNING);
	assert_int_equal(main_task->phase, PHASE_WAITING);
	stage_pass_ms(1000);
	assert_int_equal(main_task->phase, PHASE_RUNNING);
	assert_int_equal(a->tasks[3].phase, PHASE_WAITING);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	assert_string_equal(events(pre), "Received, Task Setup, Started, Terminated, "
					 "Restart Signaled, Restarting, Started, Terminated, ");
	assert_int_equal(a->tasks[3].note_count, 2);
	for (int i = 0; i < 3; i++)
		assert_int_equal(a->tasks[i].restarts, 1);
}

static void who_has_not_begun_is_left_alone(void **unused)
{
	struct alloc_run *a =
		stage_run(&id, "service", "", TASK("pre", "", PRESTART) "," TASK("main", "", ""));
	assert_int_equal(alloc_wish_restart(a, "main", now_ns()), WISH_NOT_RUNNING);
	assert_int_equal(alloc_wish_restart(a, "nosuch", now_ns()), WISH_NO_TASK);
	assert_int_equal(alloc_wish_restart_all(a, now_ns()), WISH_DONE);
	runner_step(&runner);
	assert_int_equal(a->tasks[1].restarts, 0);
	assert_int_equal(a->tasks[0].restarts, 1);
}

static void what_cleans_up_does_so_once(void **unused)
{
	struct alloc_run *a = stage_run(&id, "batch", "",
		TASK("main", "\"run_for\":\"1s\"", "") "," TASK("post", "", POSTSTOP));
	stage_pass_ms(1000);
	assert_int_equal(a->tasks[1].phase, PHASE_RUNNING);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	assert_int_equal(alloc_wish_restart_all(a, now_ns()), WISH_ALLOC_IS_OVER);
	assert_int_equal(alloc_wish_restart(a, NULL, now_ns()), WISH_ALLOC_IS_OVER);
	assert_int_equal(alloc_wish_restart(a, "post", now_ns()), WISH_ALLOC_IS_OVER);
}

static void a_wish_outlives_the_agent(void **unused)
{
	struct alloc_run *a = stage_run(&id, "service", "", TASK("a", "\"kill_after\":\"1s\"", ""));
	assert_int_equal(alloc_wish_restart(a, "a", now_ns()), WISH_DONE);
	runner_step(&runner);
	runner_close(&runner);
	stage_reopen();
	stage_pass_ms(1000);
	stage_pass_ms(1);
	a = runner_find(&runner, &id);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_int_equal(a->tasks[0].restarts, 1);
}

static void a_signal_is_noted(void **unused)
{
	struct alloc_run *a = stage_run(&id, "service", "", TASK("a", "", ""));
	assert_int_equal(task_wish_signal(&a->tasks[0], "SIGHUP", now_ns()), WISH_DONE);
	stage_pass_ms(1000);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_string_equal(events(&a->tasks[0]), "Received, Task Setup, Started, Signaling, ");
	runner_stop(&runner, a);
	stage_pass_ms(1);
	assert_int_equal(task_wish_signal(&a->tasks[0], "SIGHUP", now_ns()), WISH_NOT_RUNNING);
}

// Whose agent has not seen yet that it ended.
static void a_process_that_has_ended_gets_no_signal(void **unused)
{
	struct alloc_run *a = stage_run(&id, "service", "", TASK("a", "", ""));
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	a->tasks[0].process.task = child;
	uint32_t notes = a->tasks[0].note_count;
	assert_int_equal(task_wish_signal(&a->tasks[0], "SIGHUP", now_ns()), WISH_NOT_RUNNING);
	assert_int_equal(a->tasks[0].note_count, notes);
	a->tasks[0].process.task = 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_task_begins_anew_whatever_its_policy),
		TEST(what_does_not_end_is_killed_and_begins_anew),
		TEST(a_stop_comes_before_a_restart),
		TEST(all_tasks_begin_anew_in_their_order),
		TEST(who_has_not_begun_is_left_alone),
		TEST(what_cleans_up_does_so_once),
		TEST(a_wish_outlives_the_agent),
		TEST(a_signal_is_noted),
		TEST(a_process_that_has_ended_gets_no_signal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
