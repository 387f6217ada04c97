// What a node says of the health of allocations, when it stops them without a controller, and what it writes for
// dispatched jobs: mock tasks and a clock that stands still unless told.
#include "state/base/log.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/task/mock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000u // ms

static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
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

#define DEPLOYED "\"DeploymentID\":\"d1\","
#define RULE(check, healthy_s, deadline_s)                                           \
	"{\"HealthCheck\":\"" check "\",\"MinHealthyTime\":" #healthy_s "000000000," \
	"\"HealthyDeadline\":" #deadline_s "000000000},"
#define UPDATE "\"Update\":" RULE("task_states", 10, 60)
#define MIGRATE "\"Migrate\":" RULE("task_states", 5, 30)
#define FOREVER "{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{}}"

static struct alloc_run *run(const char *type, const char *further, const char *tasks)
{
	return stage_run(&id, type, further, tasks);
}

// The runner is stepped only when it asked to be: what is due must be told.
static void pass(uint32_t ms)
{
	uint64_t end_ns = manual.monotonic_ns + ms * 1000000ull;
	for (;;) {
		uint64_t due_ns = runner_step(&runner);
		if (due_ns > end_ns)
			break;
		if (due_ns > manual.monotonic_ns) {
			manual.wall_ns += due_ns - manual.monotonic_ns;
			manual.monotonic_ns = due_ns;
		}
	}
	manual.wall_ns += end_ns - manual.monotonic_ns;
	manual.monotonic_ns = end_ns;
}

static bool noted(const struct task *t, const char *type, const char *message)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0 &&
			strcmp(t->notes[i].message, message) == 0)
			return true;
	return false;
}

static void healthy_after_a_while(void **unused)
{
	struct alloc_run *a = run("service", DEPLOYED UPDATE MIGRATE, FOREVER);
	pass(9 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	uint32_t change = a->change;
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
	assert_true(a->change > change); // it is to be told
	change = a->change;
	pass(3600 * S);
	assert_int_equal(a->change, change);
}

static void a_migration_is_judged_by_its_own_rule(void **unused)
{
	struct alloc_run *a = run("service", UPDATE MIGRATE, FOREVER);
	pass(4 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
}

// Without a migrate strategy the usual one counts: ten seconds.
static void the_usual_rule(void **unused)
{
	struct alloc_run *a = run("service", "", FOREVER);
	pass(9 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
}

static void some_are_not_judged(void **unused)
{
	static const struct {
		const char *type, *further;
	} table[] = {{"batch", DEPLOYED UPDATE}, {"system", DEPLOYED UPDATE}, {"sysbatch", MIGRATE},
		{"service", DEPLOYED "\"Update\":" RULE("manual", 1, 2)},
		{"service", DEPLOYED MIGRATE}};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = run(table[i].type, table[i].further, FOREVER);
		pass(400 * S);
		assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

#define CRASHES(run_for, attempts)                                               \
	"{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"" run_for \
	"\",\"exit_code\":1},\"RestartPolicy\":{\"Attempts\":" attempts          \
	",\"Interval\":3600000000000,\"Delay\":1000000000,\"Mode\":\"fail\"}}"

static void a_failed_task_is_unhealthy_at_once(void **unused)
{
	struct alloc_run *a = run("service", DEPLOYED UPDATE,
		CRASHES("2s", "0") ","
				   "{\"Name\":\"b\",\"Driver\":\"mock\"}");
	pass(1 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_UNHEALTHY);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_true(noted(&a->tasks[0], "Alloc Unhealthy", "Unhealthy because of failed task"));
}

// Every start begins the while anew, until the deadline.
static void restarts_do_not_count(void **unused)
{
	struct alloc_run *a = run("service", DEPLOYED UPDATE, CRASHES("8s", "100"));
	pass(59 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	assert_true(a->tasks[0].restarts >= 4);
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_UNHEALTHY);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
}

static void too_late_is_unhealthy(void **unused)
{
	struct alloc_run *a =
		run("service", DEPLOYED "\"Update\":" RULE("checks", 90, 60), FOREVER);
	pass(61 * S);
	assert_int_equal(a->health.verdict, WIRE_UNHEALTHY);
	assert_true(noted(&a->tasks[0], "Alloc Unhealthy",
		"Task not running for min_healthy_time of 90s by healthy_deadline of 60s"));
}

#define HOOKED(name, hook, run_for)                                                     \
	"{\"Name\":\"" name "\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"" run_for \
	"\"},\"Lifecycle\":{\"Hook\":\"" hook "\",\"Sidecar\":false}}"

static void tasks_beside_may_end(void **unused)
{
	struct alloc_run *a = run("service", DEPLOYED UPDATE,
		HOOKED("init", "prestart", "3s") "," FOREVER "," HOOKED(
			"hello", "poststart", "4s") "," HOOKED("clean", "poststop", "1s"));
	pass(12 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
}

static void what_is_stopped_is_not_judged(void **unused)
{
	struct alloc_run *a = run("service", DEPLOYED UPDATE, FOREVER);
	runner_stop(&runner, a);
	pass(100 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
}

// A newer deployment takes it over where it is: judged again, and at once, because it has run for long.
static void another_deployment_asks_again(void **unused)
{
	struct alloc_run *a = run("service", DEPLOYED UPDATE, FOREVER);
	pass(20 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
	uint32_t change = a->change;
	runner_add(&runner, &id, 12, 8,
		stage_describe(&id, "service", "\"DeploymentID\":\"d2\"," UPDATE, FOREVER));
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	assert_int_equal(a->version, 8);
	runner_step(&runner);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
	assert_true(a->change > change);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_int_equal(a->tasks[0].restarts, 0);
	// One with other tasks is refused; what runs goes on.
	runner_add(&runner, &id, 13, 9,
		stage_describe(
			&id, "service", DEPLOYED UPDATE, "{\"Name\":\"z\",\"Driver\":\"mock\"}"));
	pass(1 * S);
	assert_string_equal(a->tasks[0].spec->name, "a");
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
}

static void a_restarted_agent_remembers(void **unused)
{
	struct alloc_run *a =
		run("service", DEPLOYED "\"Update\":" RULE("checks", 90, 60), FOREVER);
	pass(50 * S);
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_int_equal(a->version, 5);
	pass(9 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(2 * S);
	assert_int_equal(a->health.verdict, WIRE_UNHEALTHY); // the deadline did not begin anew
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_int_equal(a->health.verdict, WIRE_UNHEALTHY);
}

#define STOPS_AFTER_20S "\"StopAfterClientDisconnect\":20000000000,"

static void stops_without_the_controller(void **unused)
{
	runner_heard(&runner);
	struct alloc_run *a = run("service", STOPS_AFTER_20S, FOREVER);
	for (uint32_t i = 0; i < 10; i++) {
		pass(15 * S);
		runner_heard(&runner);
	}
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	pass(20 * S);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	pass(1 * S);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
}

static _Atomic uint32_t complaints;

static void note_complaint(const struct log_note *note)
{
	complaints += strcmp(note->event, "contact-not-kept") == 0;
}

// The next agent would not know when the controller was heard.
static void a_contact_that_cannot_be_kept_is_said(void **unused)
{
	char path[100];

	runner_close(&runner);
	snprintf(path, sizeof path, "%s/heard", stage_folder);
	(void)unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	stage_reopen();
	log_follow(LOG_ERROR, note_complaint);
	run("service", STOPS_AFTER_20S, FOREVER);
	runner_heard(&runner);
	log_follow(LOG_ERROR + 1, NULL);
	assert_true(complaints > 0);
}

static void others_go_on_without_it(void **unused)
{
	runner_heard(&runner);
	struct alloc_run *a = run("service", "", FOREVER);
	pass(36000 * S);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
}

static void away(uint32_t ms)
{
	runner_close(&runner);
	manual_time_advance_ms(&manual, ms);
	manual.monotonic_ns = 5000000000; // another boot
	stage_reopen();
}

static void a_restart_gains_no_time(void **unused)
{
	runner_heard(&runner);
	struct alloc_run *a = run("service", STOPS_AFTER_20S, FOREVER); // and heard nothing since
	away(15 * S);
	a = runner_find(&runner, &id);
	pass(4 * S);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	away(3 * S);
	a = runner_find(&runner, &id);
	pass(0);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE); // not begun again
}

static void grace_for_an_agent_that_heard_nothing_yet(void **unused)
{
	struct alloc_run *a = run("service", STOPS_AFTER_20S, FOREVER);
	pass(49 * S);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	pass(2 * S);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
}

static void a_damaged_memory_is_none(void **unused)
{
	static const char *const damaged[] = {"", "x", "00000000000000000000",
		"0000000000000000000z\n", "99999999999999999999\n", "-0000000000000000001\n"};
	char path[100];
	snprintf(path, sizeof path, "%s/heard", stage_folder);
	for (uint32_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
		struct contact c;
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		fputs(damaged[i], file);
		fclose(file);
		contact_open(&c, stage_folder, 1000);
		assert_int_equal(c.heard_ns, 0);
		contact_heard(&c, 2000);
		assert_int_equal(contact_keep(&c), 0);
		contact_close(&c);
		contact_open(&c, stage_folder, 1500); // the clock went back
		assert_int_equal(c.heard_ns, 1500);
		contact_close(&c);
	}
}

static const char *local_file(const char *name)
{
	static char text[64];
	char path[300], alloc[UUID_TEXT_BYTES];
	snprintf(path, sizeof path, "%s/alloc/%s/a/local/%s", stage_folder, uuid_format(&id, alloc),
		name);
	FILE *file = fopen(path, "re");
	if (!file)
		return "?";
	size_t size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	fclose(file);
	return text;
}

#define PAYLOAD_TO(file) \
	"{\"Name\":\"a\",\"Driver\":\"mock\",\"DispatchPayload\":{\"File\":\"" file "\"}}"

static void a_payload_is_written(void **unused)
{
	struct alloc_run *a =
		run("batch", "\"Payload\":\"aGVsbG8KAXdvcmxk\",", PAYLOAD_TO("in/config.txt"));
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	assert_string_equal(local_file("in/config.txt"), "hello\n\001world");
}

static void a_payload_that_is_none(void **unused)
{
	struct alloc_run *a = run("batch", "\"Payload\":\"a===\",", PAYLOAD_TO("x"));
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_true(a->tasks[0].note_count > 2);
	assert_string_equal(a->tasks[0].notes[1].type, "Task Setup");
	assert_string_equal(a->tasks[0].notes[2].type, "Setup Failure");
}

static void a_payload_stays_in_its_folder(void **unused)
{
	static const char *const bad[] = {"/etc/x", "../x", "a/../../x", "a/..", ".."};
	static const char *const good[] = {"..x", "a/..b/c", "x.."};
	char json[300], message[200];
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0] + sizeof good / sizeof good[0]; i++) {
		bool is_bad = i < sizeof bad / sizeof bad[0];
		snprintf(json, sizeof json,
			"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"Tasks\":[{\"Name\":"
			"\"a\",\"DispatchPayload\":{\"File\":\"%s\"}}]}",
			is_bad ? bad[i] : good[i - sizeof bad / sizeof bad[0]]);
		struct alloc_spec *spec =
			alloc_spec_read(json, strlen(json), &id, message, sizeof message);
		assert_true(is_bad == (spec == NULL));
		alloc_spec_free(spec);
	}
}

static void mock_rules(const char *task, const struct mock_rules *expected)
{
	struct alloc_spec *spec = stage_describe(&id, "batch", "", task);
	struct mock_rules rules = mock_rules_read(&spec->tasks[0]);
	assert_int_equal(rules.ends, expected->ends);
	assert_int_equal(rules.run_ns, expected->run_ns);
	assert_int_equal(rules.start_block_ns, expected->start_block_ns);
	assert_int_equal(rules.kill_after_ns, expected->kill_after_ns);
	assert_int_equal(rules.exit_code, expected->exit_code);
	assert_int_equal(rules.exit_signal, expected->exit_signal);
	assert_string_equal(rules.start_error, expected->start_error);
	assert_int_equal(rules.error_is_recoverable, expected->error_is_recoverable);
	alloc_spec_free(spec);
}

static void mocks_are_told_by_configuration_and_metadata(void **unused)
{
	mock_rules("{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{\"run_for\":\"2s\",\"exit_"
		   "code\":3,"
		   "\"start_block_for\":\"1s\",\"kill_after\":500000000,\"exit_signal\":9}}",
		&(struct mock_rules){true, 2000000000, 1000000000, 500000000, 3, 9, "", false});
	mock_rules("{\"Name\":\"a\",\"Driver\":\"raw_exec\",\"Meta\":{\"mock.run_for\":\"2s\","
		   "\"mock.exit_code\":\"4\",\"mock.start_error\":\"no\","
		   "\"mock.start_error_recoverable\":\"true\"}}",
		&(struct mock_rules){true, 2000000000, 0, 0, 4, 0, "no", true});
	mock_rules("{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{\"exit_code\":1},"
		   "\"Meta\":{\"mock.exit_code\":\"2\"}}",
		&(struct mock_rules){.exit_code = 1, .start_error = ""});
	mock_rules("{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":null}",
		&(struct mock_rules){.start_error = ""});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(healthy_after_a_while),
		TEST(a_migration_is_judged_by_its_own_rule),
		TEST(the_usual_rule),
		TEST(some_are_not_judged),
		TEST(a_failed_task_is_unhealthy_at_once),
		TEST(restarts_do_not_count),
		TEST(too_late_is_unhealthy),
		TEST(tasks_beside_may_end),
		TEST(what_is_stopped_is_not_judged),
		TEST(another_deployment_asks_again),
		TEST(a_restarted_agent_remembers),
		TEST(stops_without_the_controller),
		TEST(a_contact_that_cannot_be_kept_is_said),
		TEST(others_go_on_without_it),
		TEST(a_restart_gains_no_time),
		TEST(grace_for_an_agent_that_heard_nothing_yet),
		TEST(a_damaged_memory_is_none),
		TEST(a_payload_is_written),
		TEST(a_payload_that_is_none),
		TEST(a_payload_stays_in_its_folder),
		cmocka_unit_test(mocks_are_told_by_configuration_and_metadata),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
