// Checks of services against real listeners and scripts, on a clock that stands still unless told.
#include "tests/tools/agent/check/listener.h"
#include "tests/tools/agent/task/stage.h"
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000u // ms
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define LIMITED "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 4\r\n\r\nslow"
#define BROKEN                                                                \
	"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nno\xff" \
	"\nx"

static const struct node_facts facts = {
	.name = "n", .datacenter = "dc1", .class_name = "", .pool = "default"};
static const struct uuid id = {{0xa1}};
static struct listener listener;

static int set_up(void **unused)
{
	listener_open(&listener, OK);
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	listener_close(&listener);
	return stage_close();
}

#define DEPLOYED "\"DeploymentID\":\"d1\","
#define UPDATE(check)                                                               \
	"\"Update\":{\"HealthCheck\":\"" check "\",\"MinHealthyTime\":10000000000," \
	"\"HealthyDeadline\":60000000000},"
#define FOREVER                                                                \
	"{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{},\"RestartPolicy\":" \
	"{\"Attempts\":5,\"Interval\":3600000000000,\"Delay\":1000000000,\"Mode\":\"fail\"}}"

// An allocation whose group has one service with these checks; @ stands for the listener's port.
static struct alloc_run *run_checks(const char *further, const char *checks)
{
	char text[3000];
	size_t size = (size_t)snprintf(
		text, 1000, "%s\"Services\":[{\"Name\":\"web\",\"Checks\":[", further);
	for (; *checks; checks++)
		size += *checks == '@'
				? (size_t)snprintf(
					  text + size, sizeof text - size, "%u", listener.port)
				: (size_t)snprintf(text + size, sizeof text - size, "%c", *checks);
	snprintf(text + size, sizeof text - size, "]}],");
	return stage_run(&id, "service", text, FOREVER);
}
#define TIMES(interval, timeout) \
	"\"Interval\":" #interval "000000000,\"Timeout\":" #timeout "000000000"
#define HTTP "\"Type\":\"http\",\"Path\":\"/up\",\"PortLabel\":\"@\"," TIMES(5, 2)
#define TCP "\"Type\":\"tcp\",\"PortLabel\":\"@\"," TIMES(5, 2)

static json_t *shown(const char *name)
{
	static json_t *all;
	const char *key;
	json_t *one;
	json_decref(all);
	all = checks_json(runner_find(&runner, &id));
	json_object_foreach(all, key, one)
	{
		assert_string_equal(key, spec_text(one, "ID"));
		if (strcmp(spec_text(one, "Check"), name) == 0)
			return one;
	}
	fail_msg("no check %s", name);
	return NULL;
}

static const char *status(const char *name)
{
	return spec_text(shown(name), "Status");
}

// Whether something is said to the runner, for which it may take its time.
static bool is_woken(void)
{
	struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};
	return poll(&polled, 1, 20000) > 0;
}

static bool is_answer_due(void)
{
	return atomic_load(&listener.answer) && listener_awaited(checks_fd(runner.checks)) > 0;
}

// Steps the runner until all requests and connections are over that time does not end.
static void settle(void)
{
	do
		while (runner_step(&runner) <= manual.monotonic_ns)
			;
	while (is_answer_due() && is_woken());
}

static void pass(uint32_t ms)
{
	manual_time_advance_ms(&manual, ms);
	settle();
}

static bool noted(const struct task *t, const char *type, const char *message)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0 &&
			strcmp(t->notes[i].message, message) == 0)
			return true;
	return false;
}

static void what_passes_is_shown(void **unused)
{
	run_checks("", "{\"Name\":\"h\"," HTTP "},{" TCP ",\"OnUpdate\":\"ignore\"}");
	settle();
	json_t *http = shown("h");
	assert_string_equal(spec_text(http, "Status"), "success");
	assert_string_equal(spec_text(http, "Output"), "nomad: http ok");
	assert_string_equal(spec_text(http, "Group"), "j.g[0]");
	assert_string_equal(spec_text(http, "Service"), "web");
	assert_string_equal(spec_text(http, "Mode"), "healthiness");
	assert_int_equal(json_integer_value(json_object_get(http, "StatusCode")), 200);
	assert_int_equal(json_integer_value(json_object_get(http, "Timestamp")), 1700000000);
	assert_int_equal(strlen(spec_text(http, "ID")), 32);
	json_t *tcp = shown("service: \"web\" check");
	assert_string_equal(spec_text(tcp, "Output"), "nomad: tcp ok");
	assert_string_equal(spec_text(tcp, "Mode"), "readiness");
	assert_null(json_object_get(tcp, "StatusCode"));
}

static void what_fails_says_why(void **unused)
{
	char text[100];
	atomic_store(&listener.answer, BROKEN);
	run_checks("", "{\"Name\":\"h\"," HTTP "},{\"Name\":\"t\"," TCP "}");
	assert_string_equal(status("h"), "pending");
	assert_string_equal(spec_text(shown("h"), "Output"), "nomad: waiting to run");
	settle();
	assert_string_equal(status("h"), "failure");
	assert_string_equal(spec_text(shown("h"), "Output"), "no?\nx");
	assert_int_equal(json_integer_value(json_object_get(shown("h"), "StatusCode")), 503);
	assert_string_equal(status("t"), "success");
	listener_close(&listener);
	pass(5 * S);
	assert_string_equal(status("t"), "failure");
	snprintf(text, sizeof text, "cannot connect to 127.0.0.1:%u: Connection refused",
		listener.port);
	assert_string_equal(spec_text(shown("t"), "Output"), text);
	listener_open(&listener, OK); // for the tear-down
}

static void who_says_nothing_fails(void **unused)
{
	atomic_store(&listener.answer, NULL);
	run_checks("", "{\"Name\":\"h\"," HTTP "}");
	settle();
	assert_string_equal(status("h"), "pending");
	pass(1 * S);
	assert_string_equal(status("h"), "pending");
	pass(1 * S);
	assert_string_equal(status("h"), "failure");
	assert_string_equal(spec_text(shown("h"), "Output"), "no answer within 2s");
	atomic_store(&listener.answer, OK);
	pass(3 * S);
	assert_string_equal(status("h"), "success");
}

static void the_request_is_as_written(void **unused)
{
	run_checks("", "{\"Name\":\"h\",\"Method\":\"PUT\",\"Body\":\"hi ${NOMAD_GROUP_NAME}\","
		       "\"Header\":{\"X-A\":[\"1\",\"2\\r\\nX-B: 3\"]}," HTTP "}");
	settle();
	assert_non_null(strstr(listener.request, "PUT /up HTTP/1.1\r\n"));
	assert_non_null(strstr(listener.request, "\r\nX-A: 1\r\n"));
	assert_non_null(strstr(listener.request, "\r\nX-A: 2??X-B: 3\r\n"));
	assert_non_null(strstr(listener.request, "\r\n\r\nhi g"));
	assert_null(strstr(listener.request, "Content-Type"));
}

static void each_is_tried_in_its_interval(void **unused)
{
	run_checks("", "{\"Name\":\"h\"," HTTP "}");
	settle();
	assert_int_equal(atomic_load(&listener.requests), 1);
	pass(4 * S);
	assert_int_equal(atomic_load(&listener.requests), 1);
	pass(1 * S);
	assert_int_equal(atomic_load(&listener.requests), 2);
}

static void a_status_needs_some_in_a_row(void **unused)
{
	run_checks("", "{\"Name\":\"h\",\"SuccessBeforePassing\":2,\"FailuresBeforeCritical\":3,"
		       "\"InitialStatus\":\"critical\"," HTTP "}");
	assert_string_equal(status("h"), "failure");
	settle();
	assert_string_equal(status("h"), "failure");
	pass(5 * S);
	assert_string_equal(status("h"), "success");
	atomic_store(&listener.answer, BROKEN);
	pass(5 * S);
	pass(5 * S);
	assert_string_equal(status("h"), "success");
	pass(5 * S);
	assert_string_equal(status("h"), "failure");
}

static void health_waits_for_checks(void **unused)
{
	atomic_store(&listener.answer, BROKEN);
	struct alloc_run *a = run_checks(DEPLOYED UPDATE("checks"), "{\"Name\":\"h\"," HTTP "}");
	settle();
	pass(20 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	atomic_store(&listener.answer, OK);
	pass(5 * S);
	pass(9 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID); // not for long enough
	pass(1 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
}

static void a_failure_begins_the_while_anew(void **unused)
{
	struct alloc_run *a = run_checks(DEPLOYED UPDATE("checks"), "{\"Name\":\"h\"," HTTP "}");
	settle();
	atomic_store(&listener.answer, BROKEN);
	pass(5 * S);
	atomic_store(&listener.answer, OK);
	pass(5 * S);
	pass(9 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(1 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
}

// The check of one task passes all the while that another begins anew.
static void tasks_have_to_run_as_long(void **unused)
{
	char tasks[1500];
	snprintf(tasks, sizeof tasks,
		"{\"Name\":\"b\",\"Driver\":\"mock\",\"Services\":[{\"Name\":\"s\",\"Checks\":[{"
		"\"Name\":\"h\",\"Type\":\"tcp\",\"PortLabel\":\"%u\"}]}]}," FOREVER,
		listener.port);
	struct alloc_run *a = stage_run(&id, "service", DEPLOYED UPDATE("checks"), tasks);
	settle();
	pass(5 * S);
	task_restart(&a->tasks[1], (int64_t)manual.wall_ns, "because");
	for (uint32_t i = 0; i < 3; i++)
		pass(1 * S);
	assert_int_equal(a->tasks[1].phase, PHASE_RUNNING);
	pass(5 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(6 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTHY);
}

static void what_never_passes_is_unhealthy(void **unused)
{
	atomic_store(&listener.answer, BROKEN);
	struct alloc_run *a = run_checks(DEPLOYED UPDATE("checks"), "{\"Name\":\"h\"," HTTP "}");
	settle();
	pass(59 * S);
	assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
	pass(1 * S);
	assert_int_equal(a->health.verdict, WIRE_UNHEALTHY);
	assert_true(noted(&a->tasks[0], "Alloc Unhealthy", "Services not healthy by deadline"));
}

static void some_checks_have_no_say(void **unused)
{
	static const struct {
		const char *further, *checks, *answer;
		uint8_t verdict;
	} table[] = {
		{UPDATE("task_states"), "{" HTTP "}", BROKEN, WIRE_HEALTHY},
		{UPDATE("checks"), "{" HTTP ",\"OnUpdate\":\"ignore\"}", BROKEN, WIRE_HEALTHY},
		{UPDATE("checks"), "{" HTTP ",\"OnUpdate\":\"ignore_warnings\"}", LIMITED,
			WIRE_HEALTHY},
		{UPDATE("checks"), "{" HTTP ",\"OnUpdate\":\"ignore_warnings\"}", BROKEN,
			WIRE_HEALTH_UNSAID},
		{UPDATE("checks"), "{" HTTP ",\"OnUpdate\":\"require_healthy\"}", LIMITED,
			WIRE_HEALTH_UNSAID},
		{UPDATE("checks"), "{" TCP "},{" HTTP "}", BROKEN, WIRE_HEALTH_UNSAID},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char further[600];
		snprintf(further, sizeof further, DEPLOYED "%s", table[i].further);
		atomic_store(&listener.answer, table[i].answer);
		struct alloc_run *a = run_checks(further, table[i].checks);
		settle();
		pass(11 * S);
		if (a->health.verdict != table[i].verdict)
			fail_msg("row %u: %u", i, a->health.verdict);
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

#define RESTARTS(more) "\"CheckRestart\":{\"Limit\":3,\"Grace\":7000000000" more "}"

static void failures_restart_the_task(void **unused)
{
	atomic_store(&listener.answer, BROKEN);
	struct alloc_run *a = run_checks("", "{\"Name\":\"h\"," RESTARTS("") "," HTTP "}");
	const struct task *t = &a->tasks[0];
	settle();
	pass(5 * S); // within the grace
	pass(5 * S); // 1
	pass(5 * S); // 2
	assert_int_equal(t->restarts, 0);
	pass(5 * S); // 3
	assert_int_equal(t->restarts, 1);
	assert_true(noted(t, "Restart Signaled", "healthcheck: check \"h\" unhealthy"));
	assert_true(t->phase == PHASE_RESTARTING);
	pass(2 * S);
	assert_int_equal(t->phase, PHASE_RUNNING);
	// The grace begins anew with the task.
	pass(5 * S);
	pass(5 * S);
	pass(5 * S);
	assert_int_equal(t->restarts, 1);
	atomic_store(&listener.answer, OK);
	pass(5 * S); // one success, and it counts from the beginning
	atomic_store(&listener.answer, BROKEN);
	pass(5 * S);
	pass(5 * S);
	assert_int_equal(t->restarts, 1);
	pass(5 * S);
	assert_int_equal(t->restarts, 2);
}

static void warnings_restart_unless_ignored(void **unused)
{
	atomic_store(&listener.answer, LIMITED);
	struct alloc_run *a = run_checks("", "{\"Name\":\"w\"," RESTARTS("") "," HTTP "}");
	for (uint32_t i = 0; i < 5; i++)
		pass(5 * S);
	assert_int_equal(a->tasks[0].restarts, 1);
	runner_forget(&runner, a);
	runner_step(&runner);
	a = run_checks("", "{\"Name\":\"w\"," RESTARTS(",\"IgnoreWarnings\":true") "," HTTP "}");
	for (uint32_t i = 0; i < 8; i++)
		pass(5 * S);
	assert_string_equal(status("w"), "warning");
	assert_int_equal(a->tasks[0].restarts, 0);
}

// The label of a port stands for where the node offers it, or, within, where the task has it.
static void a_port_is_found_by_its_label(void **unused)
{
	char tasks[1500];
	snprintf(tasks, sizeof tasks,
		"{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{},\"Ports\":[{\"Label\":\"web\","
		"\"Value\":%u,\"To\":1,\"HostIP\":\"127.0.0.1\"},{\"Label\":\"in\",\"Value\":1,"
		"\"To\":%u,\"HostIP\":\"127.0.0.1\"}],\"Services\":[{\"Name\":\"s\",\"PortLabel\":"
		"\"web\",\"Checks\":[{\"Name\":\"outer\",\"Type\":\"tcp\"},{\"Name\":\"inner\","
		"\"Type\":\"tcp\",\"PortLabel\":\"in\",\"AddressMode\":\"alloc\"},{\"Name\":"
		"\"none\","
		"\"Type\":\"tcp\",\"PortLabel\":\"x\"}]}]}",
		listener.port, listener.port);
	stage_run(&id, "service", "", tasks);
	settle();
	assert_string_equal(status("outer"), "success");
	assert_string_equal(status("inner"), "success");
	assert_string_equal(status("none"), "failure");
	assert_string_equal(spec_text(shown("none"), "Output"), "there is no port \"x\"");
	assert_string_equal(spec_text(shown("outer"), "Task"), "a");
}

// Ports of the group are its tasks' too, but a task's own of the same label goes before.
static void a_port_may_be_the_groups(void **unused)
{
	char ports[200];
	snprintf(ports, sizeof ports,
		"\"Ports\":[{\"Label\":\"web\",\"Value\":%u,\"HostIP\":\"127.0.0.1\"},"
		"{\"Label\":\"own\",\"Value\":1,\"HostIP\":\"127.0.0.1\"}],",
		listener.port);
	char tasks[700];
	snprintf(tasks, sizeof tasks,
		"{\"Name\":\"a\",\"Driver\":\"mock\",\"Config\":{},\"Ports\":[{\"Label\":\"own\","
		"\"Value\":%u,\"HostIP\":\"127.0.0.1\"}],\"Services\":[{\"Name\":\"s\",\"Checks\":["
		"{\"Name\":\"shared\",\"Type\":\"tcp\",\"PortLabel\":\"web\"},"
		"{\"Name\":\"own\",\"Type\":\"tcp\",\"PortLabel\":\"own\"}]}]}",
		listener.port);
	stage_run(&id, "service", ports, tasks);
	settle();
	assert_string_equal(status("shared"), "success");
	assert_string_equal(status("own"), "success");
}

static void what_cannot_be_run_says_so(void **unused)
{
	static const struct {
		const char *check, *output;
	} table[] = {
		{"{\"Name\":\"c\",\"Type\":\"grpc\"}", "there are no checks of the type \"grpc\""},
		{"{\"Name\":\"c\",\"Type\":\"tcp\"}",
			"neither the check nor its service names a port"},
		{"{\"Name\":\"c\",\"Type\":\"http\",\"PortLabel\":\"1\",\"Protocol\":\"ftp\"}",
			"the protocol of a http check is http or https"},
		{"{\"Name\":\"c\",\"Type\":\"script\",\"Command\":\"true\"}",
			"a script of a group's service needs \"task\": where it runs"},
		{"{\"Name\":\"c\",\"Type\":\"script\",\"TaskName\":\"a\"}",
			"the check has no command"},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = run_checks(DEPLOYED UPDATE("checks"), table[i].check);
		pass(11 * S);
		assert_string_equal(spec_text(shown("c"), "Output"), table[i].output);
		assert_int_equal(a->health.verdict, WIRE_HEALTH_UNSAID);
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

// Waits for the process, whose end the runner learns by its descriptor.
static void await_status(const char *name, const char *expected)
{
	do
		settle();
	while (strcmp(status(name), expected) != 0 && is_woken());
	assert_string_equal(status(name), expected);
}

#define SCRIPT(text)                                                                      \
	"{\"Name\":\"s\",\"Type\":\"script\",\"Command\":\"sh\",\"Args\":[\"-c\",\"" text \
	"\"],\"TaskName\":\"a\"," TIMES(5, 2) "}"

static void scripts_run_as_their_task_does(void **unused)
{
	struct alloc_run *a = run_checks("", SCRIPT("echo $NOMAD_TASK_NAME; pwd; exit 0"));
	char expected[700];
	struct task_folders folders;
	await_status("s", "success");
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(expected, sizeof expected, "a\n%s\n", folders.task);
	assert_string_equal(spec_text(shown("s"), "Output"), expected);
}

static void how_a_script_ends_is_its_answer(void **unused)
{
	static const struct {
		const char *check, *status, *output;
	} table[] = {
		{SCRIPT("echo w; exit 1"), "warning", "w\n"},
		{SCRIPT("echo c >&2; exit 2"), "failure", "c\n"},
		{SCRIPT("kill -9 $$"), "failure", ""},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = run_checks("", table[i].check);
		await_status("s", table[i].status);
		assert_string_equal(spec_text(shown("s"), "Output"), table[i].output);
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

static void await_pid_file(void)
{
	struct task_folders folders;
	struct alloc_run *a = runner_find(&runner, &id);
	char path[600];
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(path, sizeof path, "%s/pid", folders.local);
	for (uint32_t i = 0; i < 2000 && access(path, F_OK) != 0; i++)
		poll(NULL, 0, 10);
}

static void a_script_that_hangs_is_killed(void **unused)
{
	run_checks("", SCRIPT("echo $$ > local/new; mv local/new local/pid; exec sleep 100"));
	await_pid_file();
	pass(2 * S);
	assert_string_equal(status("s"), "failure");
	assert_string_equal(spec_text(shown("s"), "Output"), "no answer within 2s");
	struct task_folders folders;
	struct alloc_run *a = runner_find(&runner, &id);
	char path[600];
	int pid = 0;
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(path, sizeof path, "%s/pid", folders.local);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	for (uint32_t i = 0; i < 2000 && kill(pid, 0) == 0; i++)
		poll(NULL, 0, 10);
	assert_int_equal(kill(pid, 0), -1);
}

static void a_new_description_has_its_own_checks(void **unused)
{
	char text[600];
	run_checks("", "{\"Name\":\"h\"," HTTP "}");
	settle();
	snprintf(text, sizeof text,
		"\"Services\":[{\"Name\":\"web\",\"Checks\":[{\"Name\":\"n\",\"Type\":\"tcp\","
		"\"PortLabel\":\"%u\"}]}],",
		listener.port);
	runner_add(&runner, &id, 12, 8, stage_describe(&id, "service", text, FOREVER));
	settle();
	assert_string_equal(status("n"), "success");
	json_t *all = checks_json(runner_find(&runner, &id));
	assert_int_equal(json_object_size(all), 1);
	json_decref(all);
}

static void a_stopped_allocation_is_not_checked(void **unused)
{
	struct alloc_run *a = run_checks("", "{\"Name\":\"h\"," HTTP "}");
	settle();
	runner_stop(&runner, a);
	pass(20 * S);
	assert_int_equal(atomic_load(&listener.requests), 1);
	assert_string_equal(status("h"), "pending");
}

static void a_restarted_agent_checks_again(void **unused)
{
	run_checks(DEPLOYED UPDATE("checks"), "{\"Name\":\"h\"," HTTP "}");
	settle();
	runner_close(&runner);
	stage_reopen();
	runner_step(&runner);
	assert_string_equal(status("h"), "pending");
	settle();
	assert_string_equal(status("h"), "success");
	pass(10 * S);
	assert_int_equal(runner_find(&runner, &id)->health.verdict, WIRE_HEALTHY);
}

#define MANY 200u

// More than may be under way at a time: all have their turn.
static void there_is_a_limit(void **unused)
{
	char name[16], message[200];
	json_t *checks = json_array();
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "c%u", i);
		json_array_append_new(
			checks, json_pack("{s:s s:s s:o}", "Name", name, "Type", "tcp", "PortLabel",
					json_sprintf("%u", listener.port)));
	}
	json_t *json = json_pack("{s:s s:s s:s s:[{s:s s:o}] s:[{s:s s:s}]}", "ID",
		"a1000000-0000-0000-0000-000000000000", "Name", "j.g[0]", "JobType", "service",
		"Services", "Name", "web", "Checks", checks, "Tasks", "Name", "a", "Driver",
		"mock");
	char *text = json_dumps(json, 0);
	struct alloc_spec *spec = alloc_spec_read(text, strlen(text), &id, message, sizeof message);
	assert_non_null(spec);
	runner_add(&runner, &id, 1, 1, spec);
	settle();
	for (uint32_t i = 0; i < MANY; i += 37) {
		snprintf(name, sizeof name, "c%u", i);
		assert_string_equal(status(name), "success");
	}
	free(text);
	json_decref(json);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(what_passes_is_shown),
		TEST(what_fails_says_why),
		TEST(who_says_nothing_fails),
		TEST(the_request_is_as_written),
		TEST(each_is_tried_in_its_interval),
		TEST(a_status_needs_some_in_a_row),
		TEST(health_waits_for_checks),
		TEST(a_failure_begins_the_while_anew),
		TEST(tasks_have_to_run_as_long),
		TEST(what_never_passes_is_unhealthy),
		TEST(some_checks_have_no_say),
		TEST(failures_restart_the_task),
		TEST(warnings_restart_unless_ignored),
		TEST(a_port_is_found_by_its_label),
		TEST(a_port_may_be_the_groups),
		TEST(what_cannot_be_run_says_so),
		TEST(scripts_run_as_their_task_does),
		TEST(how_a_script_ends_is_its_answer),
		TEST(a_script_that_hangs_is_killed),
		TEST(a_new_description_has_its_own_checks),
		TEST(a_stopped_allocation_is_not_checked),
		TEST(a_restarted_agent_checks_again),
		TEST(there_is_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
