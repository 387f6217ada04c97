// Allocations on a node with the mock driver and a clock that stands still unless told: the order of tasks,
// restarts, ends, and what is remembered.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/base/folders.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct wire_pair pairs[] = {{WIRE_PAIR_ATTRIBUTE, {"cpu.arch", 8}, {"amd64", 5}},
	{WIRE_PAIR_META, {"rack", 4}, {"r7", 2}}};
static const struct node_facts facts = {.id = {{7}},
	.name = "node-a",
	.datacenter = "dc1",
	.class_name = "big",
	.pool = "default",
	.pairs = pairs,
	.pair_count = 2};
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

// tasks: members of each task's JSON, without braces.
static struct alloc_run *add(const char *job_type, const char *const *tasks, uint32_t count)
{
	char list[3500] = "";
	size_t size = 0;
	for (uint32_t i = 0; i < count; i++)
		size += (size_t)snprintf(list + size, sizeof list - size,
			"%s{\"Driver\":\"mock\",%s}", i ? "," : "", tasks[i]);
	return stage_run(&id, job_type, "", list);
}
#define ADD(type, ...)                                \
	add(type, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static enum task_phase phase(const struct alloc_run *a, const char *name)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		if (strcmp(a->tasks[i].spec->name, name) == 0)
			return a->tasks[i].phase;
	fail_msg("no task %s", name);
	return PHASE_ENDED;
}

static bool noted(const struct task *t, const char *type, const char *part)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0 && strstr(t->notes[i].message, part))
			return true;
	return false;
}

#define FOREVER "\"Config\":{}"
#define FOR_1S "\"Config\":{\"run_for\":\"1s\"}"
#define FAILS_1S "\"Config\":{\"run_for\":\"1s\",\"exit_code\":2}"
#define HOOK(hook, sidecar) ",\"Lifecycle\":{\"Hook\":\"" hook "\",\"Sidecar\":" sidecar "}"

static void prestart_main_poststart_poststop(void **unused)
{
	struct alloc_run *a = ADD("batch", "\"Name\":\"init\"," FOR_1S HOOK("prestart", "false"),
		"\"Name\":\"log\"," FOREVER HOOK("prestart", "true"), "\"Name\":\"main\"," FOR_1S,
		"\"Name\":\"hello\"," FOR_1S HOOK("poststart", "false"),
		"\"Name\":\"clean\"," FOR_1S HOOK("poststop", "false"));
	assert_int_equal(phase(a, "init"), PHASE_RUNNING);
	assert_int_equal(phase(a, "log"), PHASE_RUNNING);
	assert_int_equal(phase(a, "main"), PHASE_WAITING);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	stage_pass_ms(1000);
	assert_int_equal(phase(a, "init"), PHASE_ENDED);
	assert_int_equal(phase(a, "main"), PHASE_RUNNING);
	assert_int_equal(phase(a, "hello"), PHASE_RUNNING);
	assert_int_equal(phase(a, "clean"), PHASE_WAITING);
	stage_pass_ms(1000);
	assert_int_equal(phase(a, "main"), PHASE_ENDED);
	assert_int_equal(phase(a, "log"), PHASE_ENDED); // stopped, no main task is left
	assert_int_equal(phase(a, "clean"), PHASE_RUNNING);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	stage_pass_ms(1000);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_string_equal(a->description, "All tasks have completed");
}

static void a_failed_task_takes_its_siblings_along(void **unused)
{
	struct alloc_run *a = ADD("service",
		"\"Name\":\"a\"," FAILS_1S ",\"RestartPolicy\":{\"Attempts\":0,\"Mode\":\"fail\"}",
		"\"Name\":\"b\"," FOREVER, "\"Name\":\"end\"," FOR_1S HOOK("poststop", "false"));
	stage_pass_ms(1000);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_true(noted(&a->tasks[0], "Not Restarting", "Policy allows no restarts"));
	assert_int_equal(phase(a, "b"), PHASE_ENDED);
	assert_false(a->tasks[1].failed);
	assert_true(noted(&a->tasks[1], "Sibling Task Failed", ""));
	assert_true(noted(&a->tasks[1], "Killed", ""));
	assert_int_equal(phase(a, "end"), PHASE_RUNNING);
	stage_pass_ms(1000);
	assert_true(alloc_run_is_over(a));
	assert_string_equal(a->description, "Failed tasks");
}

static void a_failed_prestart_task_starts_nothing(void **unused)
{
	struct alloc_run *a =
		ADD("service", "\"Name\":\"init\"," FAILS_1S HOOK("prestart", "false"),
			"\"Name\":\"main\"," FOREVER);
	stage_pass_ms(1000);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_false(a->tasks[1].has_run);
	assert_true(alloc_run_is_over(a));
}

static void the_leader_ends_first_and_ends_all(void **unused)
{
	struct alloc_run *a = ADD(
		"batch", "\"Name\":\"lead\"," FOR_1S ",\"Leader\":true", "\"Name\":\"b\"," FOREVER);
	stage_pass_ms(1000);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_true(noted(&a->tasks[1], "Leader Task Dead", ""));

	runner_forget(&runner, a);
	runner_step(&runner);
	assert_null(runner_find(&runner, &id));
	a = ADD("service",
		"\"Name\":\"lead\",\"Config\":{\"kill_after\":\"2s\"},\"KillTimeout\":5000000000,"
		"\"Leader\":true",
		"\"Name\":\"b\"," FOREVER);
	runner_stop(&runner, a);
	runner_step(&runner);
	assert_int_equal(phase(a, "lead"), PHASE_STOPPING);
	assert_int_equal(phase(a, "b"), PHASE_RUNNING);
	stage_pass_ms(2000);
	assert_int_equal(phase(a, "b"), PHASE_ENDED);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
}

static void what_does_not_listen_is_killed(void **unused)
{
	struct alloc_run *a = ADD("service",
		"\"Name\":\"a\",\"Config\":{\"kill_after\":\"1h\"},\"KillTimeout\":3000000000");
	runner_stop(&runner, a);
	runner_step(&runner);
	stage_pass_ms(2900);
	assert_int_equal(phase(a, "a"), PHASE_STOPPING);
	stage_pass_ms(200);
	assert_int_equal(phase(a, "a"), PHASE_ENDED);
	assert_true(noted(&a->tasks[0], "Terminated", "Signal: 9"));
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
}

#define POLICY(attempts, mode)                       \
	",\"RestartPolicy\":{\"Attempts\":" attempts \
	",\"Interval\":60000000000,\"Delay\":1000000000,\"Mode\":\"" mode "\"}"

static void restarts_are_counted_by_interval(void **unused)
{
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\"," FAILS_1S POLICY("2", "fail"));
	const struct task *t = &a->tasks[0];
	for (uint32_t i = 0; i < 2; i++) {
		stage_pass_ms(1000);
		assert_int_equal(t->phase, PHASE_RESTARTING);
		assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
		stage_pass_ms(1250); // the delay and its shake
		assert_int_equal(t->phase, PHASE_RUNNING);
		assert_int_equal(t->restarts, i + 1);
	}
	stage_pass_ms(1000);
	assert_int_equal(t->phase, PHASE_ENDED);
	assert_true(t->failed);
	assert_true(noted(t, "Not Restarting",
		"Exceeded allowed attempts 2 in interval 60s and mode is \"fail\""));
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
}

// One that is told to begin anew counts as one that failed, however it ends.
static void a_restart_goes_by_the_policy(void **unused)
{
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\",\"Config\":{\"kill_after\":\"1h\"},"
					   "\"KillTimeout\":3000000000" POLICY("1", "fail"));
	struct task *t = &a->tasks[0];
	task_restart(t, (int64_t)manual.wall_ns, "because");
	assert_true(noted(t, "Restart Signaled", "because"));
	assert_int_equal(t->phase, PHASE_STOPPING);
	stage_pass_ms(3000);
	assert_int_equal(t->phase, PHASE_RESTARTING);
	stage_pass_ms(1250);
	assert_int_equal(t->phase, PHASE_RUNNING);
	assert_int_equal(t->restarts, 1);
	task_restart(t, (int64_t)manual.wall_ns, "again");
	// It is to stop for good before it has ended.
	runner_stop(&runner, a);
	runner_step(&runner);
	assert_int_equal(t->phase, PHASE_STOPPING);
	stage_pass_ms(3000);
	assert_int_equal(t->phase, PHASE_ENDED);
	assert_false(t->failed);
	task_restart(t, (int64_t)manual.wall_ns, "too late");
	assert_false(noted(t, "Restart Signaled", "too late"));
}

static void a_restart_is_remembered(void **unused)
{
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\",\"Config\":{\"kill_after\":\"2s\"},"
					   "\"KillTimeout\":9000000000" POLICY("1", "fail"));
	task_restart(&a->tasks[0], (int64_t)manual.wall_ns, "because");
	a->is_unsaved = true;
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	stage_pass_ms(2000);
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING); // though it ended well
}

static void mode_delay_waits_for_the_next_interval(void **unused)
{
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\"," FAILS_1S POLICY("1", "delay"));
	const struct task *t = &a->tasks[0];
	stage_pass_ms(1000);
	stage_pass_ms(1250);
	stage_pass_ms(1000);
	assert_int_equal(t->phase, PHASE_RESTARTING);
	stage_pass_ms(50000);
	assert_int_equal(t->phase, PHASE_RESTARTING);
	stage_pass_ms(10000);
	assert_int_equal(t->phase, PHASE_RUNNING);
	stage_pass_ms(1000);
	assert_int_equal(t->attempts, 1); // counted anew
}

// A service is meant to run for ever: also a good end is followed by a start.
static void services_run_for_ever(void **unused)
{
	struct alloc_run *a = ADD("system", "\"Name\":\"a\"," FOR_1S POLICY("2", "fail"));
	stage_pass_ms(1000);
	assert_int_equal(phase(a, "a"), PHASE_RESTARTING);
	stage_pass_ms(1250);
	assert_int_equal(phase(a, "a"), PHASE_RUNNING);
}

static void failures_to_start(void **unused)
{
	struct alloc_run *a = ADD("batch",
		"\"Name\":\"a\",\"Config\":{\"start_error\":\"no luck\"}" POLICY("2", "fail"));
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_true(noted(&a->tasks[0], "Driver Failure", "no luck"));
	runner_forget(&runner, a);
	runner_step(&runner);
	a = ADD("batch", "\"Name\":\"a\",\"Config\":{\"start_error\":\"no luck\","
			 "\"start_error_recoverable\":true}" POLICY("1", "fail"));
	assert_int_equal(phase(a, "a"), PHASE_RESTARTING);
	stage_pass_ms(1250);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
}

static void a_restarted_agent_goes_on(void **unused)
{
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\",\"Config\":{\"run_for\":\"10s\"}",
		"\"Name\":\"b\"," FAILS_1S POLICY("5", "fail"));
	stage_pass_ms(1000);
	assert_int_equal(phase(a, "b"), PHASE_RESTARTING);
	uint64_t change = a->change;
	runner_close(&runner);
	manual_time_advance_ms(&manual, 5000);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_non_null(a);
	assert_true(change > 1 && alloc_run_has_news(a)); // all is told again
	assert_int_equal(a->job_index, 9);
	runner_step(&runner);
	assert_int_equal(phase(a, "a"), PHASE_RUNNING);
	assert_int_equal(phase(a, "b"), PHASE_RUNNING);
	assert_int_equal(a->tasks[1].restarts, 1);
	assert_string_equal(a->tasks[0].notes[0].type, "Received");
	assert_string_equal(a->tasks[0].notes[1].type, "Task Setup");
	assert_string_equal(a->tasks[0].notes[1].message, "Building Task Directory");
	assert_string_equal(a->tasks[0].notes[2].type, "Started");
	stage_pass_ms(4000);
	assert_int_equal(phase(a, "a"), PHASE_ENDED);
}

// Or the controller would refuse the whole report, again and again.
static void what_is_noted_can_be_told(void **unused)
{
	struct alloc_run *a =
		ADD("batch", "\"Name\":\"a\",\"Config\":{\"start_error\":\"no\\n\\tway\"}");
	assert_true(noted(&a->tasks[0], "Driver Failure", "no??way"));
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		assert_true(text_is_printable(text_of(a->tasks[0].notes[i].message)));
}

static void what_is_damaged_is_left_alone(void **unused)
{
	static const char *const damaged[] = {"{\"version\":1,\"spec\":{", "[]", "{\"version\":1}",
		"{\"version\":1,\"spec\":\"x\",\"tasks\":[]}",
		"{\"version\":1,\"spec\":{},\"tasks\":7}"};
	char path[200], text[UUID_TEXT_BYTES];
	ADD("batch", "\"Name\":\"a\"," FOREVER);
	snprintf(path, sizeof path, "%s/allocs/%s.json", stage_folder, uuid_format(&id, text));
	for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
		runner_close(&runner);
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		fputs(damaged[i], file);
		fclose(file);
		stage_reopen();
		assert_null(runner_find(&runner, &id));
	}
}

// It may be of an allocation that runs.
static void an_agent_that_cannot_read_an_allocation_does_not_start(void **unused)
{
	struct runner other;
	char message[500], path[200], text[UUID_TEXT_BYTES];
	const struct runner_settings settings = runner.settings;

	snprintf(path, sizeof path, "%s/allocs/%s.json", stage_folder, uuid_format(&id, text));
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(runner_open(&other, &settings, message, sizeof message), -EIO);
	assert_non_null(strstr(message, "cannot read "));
	runner_close(&other);
}

// Puts a file where the agent is to make a folder: below its folder of all allocations, or, NULL, in that one's place.
static void expect_in_the_way(const char *below)
{
	char path[100] = "alloc", text[UUID_TEXT_BYTES];
	int top = folder_open(stage_folder), folder = top;
	if (below)
		snprintf(path, sizeof path, "alloc/%s%s", uuid_format(&id, text), below);
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (slash) {
		*slash = '\0';
		folder = folder_make(top, path, 0711);
	}
	assert_int_equal(folder_write(folder, name, 0600, "x", 1), 0);
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\"," FOREVER);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_true(noted(&a->tasks[0], "Setup Failure",
		"failed to make the task's folders: Not a directory"));
	assert_false(a->tasks[0].has_run);
	runner_forget(&runner, a);
	runner_step(&runner);
	(void)unlinkat(folder, name, 0); // unless it went with the allocation
	if (folder != top)
		close(folder);
	close(top);
}

static void what_is_in_the_way_of_a_folder_is_told(void **unused)
{
	expect_in_the_way(NULL);
	expect_in_the_way("");
	expect_in_the_way("/alloc");
	expect_in_the_way("/a");
	expect_in_the_way("/a/secrets");
}

static void an_agent_that_cannot_prepare_tasks_does_not_start(void **unused)
{
	struct runner other;
	char message[200];
	struct runner_settings settings = {.data_folder = stage_folder,
		.state_folder = stage_folder,
		.time = runner.settings.time,
		.prepare = {.helper = "/no/such/program"}};
	int input = fcntl(STDIN_FILENO, F_GETFD) < 0 ? open("/dev/null", O_RDONLY) : STDIN_FILENO;
	assert_int_equal(input, STDIN_FILENO);
	assert_true(runner_open(&other, &settings, message, sizeof message) < 0);
	assert_string_equal(message,
		"what tasks need cannot be prepared: /no/such/program: No such file or directory");
	runner_close(&other);
	assert_true(fcntl(input, F_GETFD) >= 0); // it closes what is its own
}

// It has one or two of the descriptors that it needs.
static void an_agent_without_descriptors_for_checks_says_so(void **unused)
{
	struct rlimit before;
	struct runner other;
	char message[200];
	const struct runner_settings settings = runner.settings;
	const int next[] = {dup(STDERR_FILENO), dup(STDERR_FILENO)};

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(close(next[i]), 0);
	for (int i = 0; i < 2; i++) {
		const struct rlimit few = {(rlim_t)next[i] + 1, before.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		int error = runner_open(&other, &settings, message, sizeof message);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_int_equal(error, -EMFILE);
		assert_string_equal(
			message, "the checks of services cannot be watched: Too many open files");
		runner_close(&other);
	}
}

static void expected(const struct environment *e, const char *text, const char *value)
{
	char *expanded = environment_expand(e, &facts, text);
	assert_string_equal(expanded, value);
	free(expanded);
}

static void texts_are_expanded(void **unused)
{
	struct alloc_run *a = ADD("batch",
		"\"Name\":\"a\",\"CPU\":500,\"MemoryMB\":64,\"Cores\":[2,3],"
		"\"Meta\":{\"team-name\":\"x\",\"why\":\"\"},\"Env\":{\"GREETING\":\"hi "
		"${NOMAD_META_team_name}\"},"
		"\"Ports\":[{\"Label\":\"http\",\"Value\":25000,\"To\":8080,"
		"\"HostIP\":\"192.0.2.7\"}]," FOREVER);
	struct environment e;
	struct task_folders folders = {"/a", "/l", "/s"};
	char message[300];
	assert_true(environment_build(
		&e, &facts, a->spec, a->tasks[0].spec, &folders, message, sizeof message));
	static const struct {
		const char *name, *value;
	} variables[] = {{"NOMAD_ALLOC_ID", "a1000000-0000-0000-0000-000000000000"},
		{"NOMAD_SHORT_ALLOC_ID", "a1000000"}, {"NOMAD_ALLOC_NAME", "j.g[0]"},
		{"NOMAD_ALLOC_INDEX", "0"}, {"NOMAD_TASK_NAME", "a"}, {"NOMAD_GROUP_NAME", "g"},
		{"NOMAD_JOB_ID", "j"}, {"NOMAD_JOB_NAME", "job"}, {"NOMAD_DC", "dc1"},
		{"NOMAD_REGION", "global"}, {"NOMAD_NAMESPACE", "default"},
		{"NOMAD_CPU_LIMIT", "500"}, {"NOMAD_MEMORY_LIMIT", "64"},
		{"NOMAD_CPU_CORES", "2,3"}, {"NOMAD_ALLOC_DIR", "/a"}, {"NOMAD_TASK_DIR", "/l"},
		{"NOMAD_SECRETS_DIR", "/s"}, {"NOMAD_META_team-name", "x"}, {"NOMAD_META_why", ""},
		{"NOMAD_META_WHY", ""}, {"NOMAD_META_TEAM_NAME", "x"}, {"NOMAD_PORT_http", "8080"},
		{"NOMAD_HOST_PORT_http", "25000"}, {"NOMAD_IP_http", "192.0.2.7"},
		{"NOMAD_ADDR_http", "192.0.2.7:25000"}};
	for (uint32_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		const char *value = environment_get(&e, variables[i].name);
		if (!value || strcmp(value, variables[i].value) != 0)
			fail_msg("%s is %s", variables[i].name, value ? value : "not set");
	}
	expected(&e, "${NOMAD_JOB_ID}-${env.NOMAD_DC}-${env[\"NOMAD_TASK_NAME\"]}", "j-dc1-a");
	expected(&e, "${attr.cpu.arch} ${meta.rack}", "amd64 r7");
	expected(&e, "${node.unique.name} ${node.class} ${node.pool} ${node.datacenter}",
		"node-a big default dc1");
	expected(&e, "${node.unique.id}", "07000000-0000-0000-0000-000000000000");
	expected(&e, "${unknown} ${ $ {} ${attr.none}", "${unknown} ${ $ {} ${attr.none}");
	expected(&e, "", "");
	environment_free(&e);
}

// Ten variables, each of them ten times the one before: 380 bytes that ask for 10 GB.
static void expansion_is_bounded(void **unused)
{
	char tasks[1024] = "\"Name\":\"a\",\"Env\":{\"A0\":\"0123456789\"", message[300] = "";
	for (int i = 1; i < 10; i++) {
		size_t at = strlen(tasks);
		at += (size_t)snprintf(tasks + at, sizeof tasks - at, ",\"A%d\":\"", i);
		for (int j = 0; j < 10; j++)
			at += (size_t)snprintf(tasks + at, sizeof tasks - at, "${A%d}", i - 1);
		snprintf(tasks + at, sizeof tasks - at, "\"");
	}
	snprintf(tasks + strlen(tasks), sizeof tasks - strlen(tasks), "}");
	struct alloc_run *a = ADD("batch", tasks);
	struct environment e;
	struct task_folders folders = {"/a", "/l", "/s"};
	assert_false(environment_build(
		&e, &facts, a->spec, a->tasks[0].spec, &folders, message, sizeof message));
	assert_non_null(strstr(message, "A4 expands to more than 65536 bytes"));
	assert_true(e.bytes <= ENVIRONMENT_BYTES_MAX);
	assert_non_null(environment_get(&e, "A3"));
	char *text = environment_expand(&e, &facts, "${A3}${A3}${A3}${A3}${A3}${A3}${A3}");
	assert_null(text);
	text = environment_expand(&e, &facts, "${A3}${A3}${A3}");
	assert_int_equal(strlen(text), 30000);
	free(text);
	environment_free(&e);
}

// Each is short enough; together they are more than a program is given.
static void an_environment_is_bounded(void **unused)
{
	char *text = malloc(60001), entry[100], message[300] = "";
	struct environment e;
	struct task_folders folders = {"/a", "/l", "/s"};
	struct alloc_run *a = ADD("batch", "\"Name\":\"a\"," FOREVER);
	json_t *variables = json_object();
	char *rendered[20] = {NULL};

	memset(text, 'x', 60000);
	text[60000] = '\0';
	for (int i = 0; i < 19; i++) {
		snprintf(entry, sizeof entry, "V%d", i);
		json_object_set_new(variables, entry, json_string(text));
		rendered[i] = malloc(60010);
		snprintf(rendered[i], 60010, "%s=%s", entry, text);
	}
	folders.variables = rendered;
	assert_false(environment_build(
		&e, &facts, a->spec, a->tasks[0].spec, &folders, message, sizeof message));
	assert_string_equal(message, "with the variable V17 of a template the environment is "
				     "larger than 1048576 bytes; shorten it");
	environment_free(&e);
	folders.variables = NULL;
	json_object_set_new(
		json_array_get(json_object_get(a->spec->root, "Tasks"), 0), "Env", variables);
	assert_false(environment_build(
		&e, &facts, a->spec, a->tasks[0].spec, &folders, message, sizeof message));
	assert_string_equal(message, "with the variable V17 the environment is larger than 1048576 "
				     "bytes; shorten it");
	environment_free(&e);
	for (int i = 0; i < 19; i++)
		free(rendered[i]);
	free(text);
}

static void durations(void **unused)
{
	static const struct {
		const char *json;
		int64_t ns; // negative: none
	} table[] = {{"\"1s\"", 1000000000}, {"\"1m30s\"", 90000000000}, {"\"250ms\"", 250000000},
		{"\"1.5h\"", 5400000000000}, {"5", 5}, {"\"\"", -1}, {"\"5\"", -1}, {"\"x\"", -1},
		{"\"-1s\"", -1}, {"true", -1}, {"-5", -1}};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		int64_t ns = -1;
		json_t *json = json_loads(table[i].json, JSON_DECODE_ANY, NULL);
		bool good = spec_duration(json, &ns);
		assert_int_equal(good, table[i].ns >= 0);
		if (good)
			assert_int_equal(ns, table[i].ns);
		json_decref(json);
	}
}

static void specs_that_are_refused(void **unused)
{
	static const char *const bad[] = {"", "[]", "{}",
		"{\"ID\":\"x\",\"Tasks\":[{\"Name\":\"a\"}]}",
		"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"Tasks\":[]}",
		"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"Tasks\":[{\"Name\":\"../a\"}]}",
		"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"Tasks\":[{\"Name\":\"..\"}]}",
		"{\"ID\":\"a1000000-0000-0000-0000-000000000000\",\"Tasks\":[{\"Name\":\"\"}]}",
		("{\"ID\":\"a1000000-0000-0000-0000-000000000000\","
		 "\"Tasks\":[{\"Name\":\"a\"},{\"Name\":\"a\"}]}"),
		("{\"ID\":\"a1000000-0000-0000-0000-000000000000\","
		 "\"Tasks\":[{\"Name\":\"a\",\"KillTimeout\":-1}]}")};
	char message[200];
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_null(alloc_spec_read(bad[i], strlen(bad[i]), &id, message, sizeof message));
}

static void a_spec_is_of_the_allocation_that_was_asked_for(void **unused)
{
	static const char json[] = "{\"ID\":\"a1000000-0000-0000-0000-000000000000\","
				   "\"Tasks\":[{\"Name\":\"a\"}]}";
	char message[200];
	struct uuid said, other = {{0xb2}};
	assert_true(uuid_parse("a1000000-0000-0000-0000-000000000000", &said));
	assert_null(alloc_spec_read(json, strlen(json), &other, message, sizeof message));
	const struct uuid *const wanted[] = {&said, NULL}; // NULL: any
	for (uint32_t i = 0; i < 2; i++) {
		struct alloc_spec *spec =
			alloc_spec_read(json, strlen(json), wanted[i], message, sizeof message);
		assert_non_null(spec);
		assert_true(uuid_equal(&spec->id, &said));
		alloc_spec_free(spec);
	}
}

static void signals_by_name(void **unused)
{
	assert_int_equal(signal_number("SIGTERM"), SIGTERM);
	assert_int_equal(signal_number("INT"), SIGINT);
	assert_int_equal(signal_number("SIGNOTHING"), 0);
	assert_int_equal(signal_number(""), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(prestart_main_poststart_poststop),
		TEST(a_failed_task_takes_its_siblings_along),
		TEST(a_failed_prestart_task_starts_nothing),
		TEST(the_leader_ends_first_and_ends_all),
		TEST(what_does_not_listen_is_killed),
		TEST(restarts_are_counted_by_interval),
		TEST(a_restart_goes_by_the_policy),
		TEST(a_restart_is_remembered),
		TEST(mode_delay_waits_for_the_next_interval),
		TEST(services_run_for_ever),
		TEST(failures_to_start),
		TEST(a_restarted_agent_goes_on),
		TEST(what_is_noted_can_be_told),
		TEST(what_is_damaged_is_left_alone),
		TEST(texts_are_expanded),
		TEST(expansion_is_bounded),
		TEST(what_is_in_the_way_of_a_folder_is_told),
		TEST(an_agent_that_cannot_prepare_tasks_does_not_start),
		TEST(an_agent_without_descriptors_for_checks_says_so),
		cmocka_unit_test(durations),
		cmocka_unit_test(specs_that_are_refused),
		cmocka_unit_test(a_spec_is_of_the_allocation_that_was_asked_for),
		cmocka_unit_test(signals_by_name),
		TEST(an_agent_that_cannot_read_an_allocation_does_not_start),
		TEST(an_environment_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
