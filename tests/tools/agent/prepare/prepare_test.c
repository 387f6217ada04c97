// What tasks need before they start, with the real helper, a real web server and real processes: artifacts, templates,
// and what follows when a variable changes.
#include "state/base/time_units.h"
#include "tests/tools/agent/fetch/web.h"
#include "tests/tools/agent/prepare/store.h"
#include "tests/tools/agent/task/stage.h"
#include <fcntl.h>
#include <poll.h>
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
	.class_name = "",
	.pool = "default",
	.pairs = pairs,
	.pair_count = 2};
static const struct uuid id = {{0xa1}};
static const char *helper;

static int set_up(void **unused)
{
	stage_prepare = (struct prepare_settings){
		.helper = helper, .limits = {1 << 20, 100, 60}, .source = store_source};
	store_clear();
	web_begin(NULL, NULL);
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	// Processes of the test's tasks end with it.
	runner_stop_all(&runner);
	STAGE_AWAIT(runner_is_idle(&runner), stage_pass_ms(1000));
	assert_true(runner_is_idle(&runner));
	web_end();
	return stage_close();
}

// members: of the task's JSON, each with its comma before.
static struct alloc_run *run(const char *members)
{
	char task[3000];
	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"RestartPolicy\":{\"Attempts\":1,\"Interval\":60000000000,"
		"\"Delay\":1000000000,\"Mode\":\"fail\"}%s}",
		members);
	return stage_run(&id, "service", "", task);
}

static bool has_note(const struct task *t, const char *type, const char *part)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0 && strstr(t->notes[i].message, part))
			return true;
	return false;
}

static void print_notes(const struct task *t)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		print_message("%s: %s\n", t->notes[i].type, t->notes[i].message);
}

// Steps the runner as things happen, until the task is in this phase. The clock stands still.
static void await_phase(const struct alloc_run *a, enum task_phase phase)
{
	STAGE_AWAIT(a->tasks[0].phase == phase, runner_step(&runner));
	if (a->tasks[0].phase != phase) {
		print_notes(&a->tasks[0]);
		fail_msg("the phase is %d, not %d", a->tasks[0].phase, phase);
	}
}

static void await_note(const struct alloc_run *a, const char *type, const char *part)
{
	STAGE_AWAIT(has_note(&a->tasks[0], type, part), runner_step(&runner));
	if (!has_note(&a->tasks[0], type, part)) {
		print_notes(&a->tasks[0]);
		fail_msg("no event %s: %s", type, part);
	}
}

// Of the allocation, "" when it is not there.
static const char *contents(const char *path)
{
	static char text[2000];
	char whole[300], name[UUID_TEXT_BYTES];
	snprintf(whole, sizeof whole, "%s/alloc/%s/%s", stage_folder, uuid_format(&id, name), path);
	int fd = open(whole, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return text;
}

static void await_contents(const char *path, const char *wanted)
{
	// A new start is due a moment later.
	STAGE_AWAIT(strcmp(contents(path), wanted) == 0, stage_pass_ms(1));
	assert_string_equal(contents(path), wanted);
}

#define MOCK ",\"Driver\":\"mock\",\"Config\":{}"
#define SHELL(script)                                                                             \
	",\"Driver\":\"raw_exec\",\"Config\":{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"" script \
	"\"]}"
#define ARTIFACT ",\"Artifacts\":[{\"GetterSource\":\"%s\"}]"
#define TEMPLATE(text, destination, more) \
	"{\"EmbeddedTmpl\":\"" text "\",\"DestPath\":\"" destination "\",\"Splay\":0" more "}"
#define TEMPLATES(list) ",\"Templates\":[" list "]"

static struct alloc_run *run_artifact(const char *format, const char *url)
{
	char members[2000];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(members, sizeof members, format, url);
#pragma GCC diagnostic pop
	return run(members);
}

static void artifacts_come_before_the_start(void **unused)
{
	web_put("tool.sh", "echo hi", 7);
	struct alloc_run *a = run_artifact(MOCK
		",\"Artifacts\":[{\"GetterSource\":\"%s\"},"
		"{\"GetterSource\":\"${NOMAD_META_from}\",\"GetterMode\":\"file\","
		"\"RelativeDest\":\"../alloc/data/"
		"echoed\",\"GetterOptions\":{\"who\":\"${node.unique.name}\"},"
		"\"GetterHeaders\":{\"X-Token\":\"${meta.rack}\"}}],\"Meta\":{\"from\":\"http://"
		"127.0.0.1\"}",
		web_url("tool.sh"));
	assert_int_equal(a->tasks[0].phase, PHASE_WAITING);
	assert_int_equal(a->status, WIRE_CLIENT_PENDING);
	await_note(a, "Failed Artifact Download", "http://127.0.0.1");
	assert_string_equal(contents("t/local/tool.sh"), "echo hi");
	runner_forget(&runner, a);
	runner_step(&runner);
	char members[1000];
	snprintf(members, sizeof members,
		MOCK
		",\"Artifacts\":[{\"GetterSource\":\"${NOMAD_META_from}\","
		"\"GetterMode\":\"file\",\"RelativeDest\":\"../alloc/data/echoed\","
		"\"GetterOptions\":{\"who\":\"${node.unique.name}\",\"checksum\":\"\"},"
		"\"GetterHeaders\":{\"X-Token\":\"${meta.rack}\"}}],\"Meta\":{\"from\":\"%s\"}",
		web_url("echo?a=1"));
	a = run(members);
	await_phase(a, PHASE_RUNNING);
	assert_string_equal(contents("alloc/data/echoed"), "a=1;who=node-a;r7");
	assert_true(
		has_note(&a->tasks[0], "Downloading Artifacts", "Client is downloading artifacts"));
	assert_true(a->tasks[0].has_artifacts);
}

static void a_failed_artifact_follows_the_restart_policy(void **unused)
{
	struct alloc_run *a = run_artifact(MOCK ARTIFACT, web_url("gone"));
	await_phase(a, PHASE_RESTARTING);
	assert_true(has_note(
		&a->tasks[0], "Failed Artifact Download", "failed to download artifact \"http://"));
	assert_true(has_note(&a->tasks[0], "Failed Artifact Download", "bad response code: 404"));
	assert_true(has_note(&a->tasks[0], "Restarting", "Task restarting in 1"));
	assert_false(a->tasks[0].has_run);
	assert_int_equal(a->status, WIRE_CLIENT_PENDING); // nothing has run yet
	stage_pass_ms(1250);
	await_phase(a, PHASE_ENDED);
	assert_true(has_note(&a->tasks[0], "Not Restarting", "Exceeded allowed attempts 1"));
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_int_equal(web_asked(), 2);
}

static void an_artifact_for_nobody_is_refused(void **unused)
{
	const struct alloc_run *a =
		run_artifact(MOCK ARTIFACT ",\"User\":\"no-such-user\"", web_url("x"));
	assert_int_equal(a->tasks[0].phase, PHASE_ENDED);
	assert_true(has_note(&a->tasks[0], "Failed Artifact Download",
		"there is no user \"no-such-user\" on this node"));
	assert_int_equal(web_asked(), 0);
}

static void an_artifact_that_comes_later_is_taken(void **unused)
{
	struct alloc_run *a = run_artifact(MOCK ARTIFACT, web_url("late"));
	await_phase(a, PHASE_RESTARTING);
	web_put("late", "x", 1);
	stage_pass_ms(1250);
	await_phase(a, PHASE_RUNNING);
	assert_string_equal(contents("t/local/late"), "x");
}

static void what_cannot_help_is_not_tried_again(void **unused)
{
	web_put("x.tar", "no archive", 10);
	struct alloc_run *a = run_artifact(MOCK ARTIFACT, web_url("x.tar"));
	await_phase(a, PHASE_ENDED);
	assert_true(has_note(&a->tasks[0], "Not Restarting", "Error was unrecoverable"));
	assert_int_equal(web_asked(), 1);
}

// Whoever stops a task does not wait for what it needs.
static void a_stop_ends_what_is_under_way(void **unused)
{
	struct alloc_run *a = run_artifact(MOCK ARTIFACT, web_url("silent"));
	await_note(a, "Downloading Artifacts", "");
	assert_non_null(a->tasks[0].prepared);
	runner_stop(&runner, a);
	runner_step(&runner);
	assert_int_equal(a->tasks[0].phase, PHASE_ENDED);
	runner_step(&runner);
	assert_null(a->tasks[0].prepared);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
}

static void a_helper_that_does_not_end_is_killed(void **unused)
{
	struct alloc_run *a = run_artifact(MOCK ARTIFACT, web_url("silent"));
	await_note(a, "Downloading Artifacts", "");
	stage_pass_ms(71000); // its time, and what is allowed beyond
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	assert_true(has_note(&a->tasks[0], "Failed Artifact Download", "it took too long"));
}

static void a_restarted_agent_fetches_what_is_missing(void **unused)
{
	web_put("f", "x", 1);
	struct alloc_run *a = run_artifact(MOCK ARTIFACT, web_url("silent"));
	await_note(a, "Downloading Artifacts", "");
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_non_null(a);
	assert_int_equal(a->tasks[0].phase, PHASE_WAITING);
	runner_step(&runner);
	assert_non_null(a->tasks[0].prepared);
	runner_forget(&runner, a);
	runner_step(&runner);
	runner_step(&runner);
	a = run_artifact(MOCK ARTIFACT, web_url("f"));
	await_phase(a, PHASE_RUNNING);
	uint32_t asked = web_asked();
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_true(a->tasks[0].has_artifacts);
	runner_step(&runner);
	assert_int_equal(web_asked(), asked);
}

static void templates_are_files_before_the_start(void **unused)
{
	struct stat st;
	char path[300], name[UUID_TEXT_BYTES];
	web_put("page.tpl", "[{{ env \"NOMAD_TASK_NAME\" }}]", 29);
	struct alloc_run *a = run_artifact(
		MOCK ARTIFACT TEMPLATES(TEMPLATE(
			"{{ env \\\"NOMAD_JOB_ID\\\" }} {{ env \\\"node.unique.name\\\" }} "
			"{{ env \\\"attr.cpu.arch\\\" }} {{ env \\\"meta.rack\\\" }} {{ env "
			"\\\"WHO\\\" }}",
			"local/deep/a.txt",
			"") ","
			    "{\"SourcePath\":\"local/"
			    "page.tpl\",\"DestPath\":\"${NOMAD_SECRETS_DIR}/"
			    "b\",\"Perms\":\"600\"}," TEMPLATE(
				    "<<{{ 1 }}>> [[ file \\\"secrets/b\\\" ]]", "../alloc/c",
				    ",\"LeftDelim\":\"[[\",\"RightDelim\":\"]]"
				    "\"")) ",\"Env\":{\"WHO\":\"${meta.rack}!"
					   "\"}",
		web_url("page.tpl"));
	await_phase(a, PHASE_RUNNING);
	assert_string_equal(contents("t/local/deep/a.txt"), "j node-a amd64 r7 r7!");
	assert_string_equal(contents("t/secrets/b"), "[t]");
	assert_string_equal(contents("alloc/c"), "<<{{ 1 }}>> [t]");
	snprintf(
		path, sizeof path, "%s/alloc/%s/t/secrets/b", stage_folder, uuid_format(&id, name));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void a_template_that_cannot_be_rendered_fails_its_task(void **unused)
{
	struct alloc_run *a =
		run(MOCK TEMPLATES(TEMPLATE("a\\n{{ mustEnv \\\"NOPE\\\" }}", "local/x", "")));
	assert_int_equal(a->tasks[0].phase, PHASE_ENDED);
	assert_true(
		has_note(&a->tasks[0], "Template", "Template failed: 2:4: error calling mustEnv"));
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_false(alloc_run_is_nodes_fault(a));
	assert_false(a->tasks[0].has_run);
	runner_forget(&runner, a);
	runner_step(&runner);
	a = run(MOCK TEMPLATES("{\"SourcePath\":\"local/none\",\"DestPath\":\"local/x\"}"));
	assert_true(has_note(&a->tasks[0], "Template", "t/local/none: No such file"));
	runner_forget(&runner, a);
	runner_step(&runner);
	a = run(MOCK TEMPLATES(
		"{\"EmbeddedTmpl\":\"x\",\"DestPath\":\"${NOMAD_META_to}\"}") ",\"Meta\":{\"to\":"
									      "\"../../x\"}");
	assert_true(has_note(&a->tasks[0], "Template", "destination escapes allocation directory"));
	runner_forget(&runner, a);
	runner_step(&runner);
	a = run(MOCK TEMPLATES(TEMPLATE("{{ file \\\"/../../../etc/passwd\\\" }}", "local/x", "")));
	assert_true(has_note(&a->tasks[0], "Template", "is not below the folder"));
	runner_forget(&runner, a);
	runner_step(&runner);
	a = run(MOCK TEMPLATES(TEMPLATE("x", "local/x", "") "," TEMPLATE("y", "local/x/y", "")));
	assert_true(
		has_note(&a->tasks[0], "Template", "cannot write t/local/x/y: Not a directory"));
}

// Of what the node lacks now the restart policy says whether it is tried again.
static void a_template_that_the_node_fails_is_tried_again(void **unused)
{
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	const struct rlimit none = {3, before.rlim_max};
	runner_add(&runner, &id, 9, 5,
		stage_describe(&id, "service", "",
			"{\"Name\":\"t\",\"RestartPolicy\":{\"Attempts\":1,\"Interval\":"
			"60000000000,"
			"\"Delay\":1000000000,\"Mode\":\"fail\"}" MOCK TEMPLATES(
				TEMPLATE("x", "local/x", "")) "}"));
	const struct alloc_run *a = runner_find(&runner, &id);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	runner_step(&runner);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(has_note(&a->tasks[0], "Template", "Too many open files"));
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	stage_pass_ms(1250);
	await_phase(a, PHASE_RUNNING);
	assert_string_equal(contents("t/local/x"), "x");
}

static void templates_make_variables_of_the_task(void **unused)
{
	struct alloc_run *a = run(SHELL("echo $A-$B-$C > local/out; sleep 100")
			TEMPLATES(TEMPLATE("# said\\nA={{ env \\\"NOMAD_DC\\\" }}\\nexport "
					   "B=\\\"x\\\\ty\\\" \\n\\nC='q # r'\\nD=1 # no",
				"secrets/env", ",\"Envvars\":true")));
	await_phase(a, PHASE_RUNNING);
	await_contents("t/local/out", "dc1-x y-q # r\n");
	runner_stop(&runner, a);
	await_phase(a, PHASE_ENDED);
	runner_forget(&runner, a);
	runner_step(&runner);
	a = run(MOCK TEMPLATES(TEMPLATE("A=1\\nnot so", "local/env", ",\"Envvars\":true")));
	assert_true(has_note(&a->tasks[0], "Template", "t/local/env: line 2 is not KEY=value"));
}

#define VARIABLE(text) "{{ with nomadVar \\\"nomad/jobs/j\\\" }}" text "{{ end }}"

static void a_task_waits_for_its_variables(void **unused)
{
	struct alloc_run *a = run(MOCK TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x",
		"") "," TEMPLATE("{{ range nomadVarList \\\"nomad\\\" }}{{ .Path }}{{ end }}",
		"local/list", "")));
	assert_int_equal(a->tasks[0].phase, PHASE_WAITING);
	STAGE_AWAIT(store_asked() >= 2, 0);
	runner_step(&runner);
	assert_false(has_note(&a->tasks[0], "Template", ""));
	stage_pass_ms(3000);
	await_note(a, "Template", "Missing: nomad.var.block(nomad/jobs/j)");
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	await_phase(a, PHASE_RUNNING);
	assert_string_equal(contents("t/local/x"), "one");
	await_contents("t/local/list", "nomad/jobs/j");
}

// A node watches 256 variables; who comes then is served when another has gone.
static void a_variable_that_cannot_be_watched_is_tried_again(void **unused)
{
	static const struct uuid first = {{0xa2}};
	struct alloc_run *greedy = stage_run(&first, "service", "",
		"{\"Name\":\"t\"" MOCK TEMPLATES(
			TEMPLATE("{{ range loop 256 }}{{ with nomadVar (printf \\\"x/%d\\\" .) }}"
				 "{{ end }}{{ end }}",
				"local/x", "")) "}");
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(MOCK TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x", "")));
	stage_pass_ms(3000);
	assert_true(has_note(&a->tasks[0], "Template", "this node watches 256 variables already"));
	runner_forget(&runner, greedy);
	STAGE_AWAIT(a->tasks[0].phase == PHASE_RUNNING, stage_pass_ms(10));
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_string_equal(contents("t/local/x"), "one");
}

static void a_controller_that_refuses_is_said(void **unused)
{
	store_fail(-1);
	struct alloc_run *a = run(MOCK TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x", "")));
	stage_pass_ms(3000);
	await_note(a, "Template", "Missing: nomad.var.block(nomad/jobs/j): the controller is away");
	runner_forget(&runner, a);
	runner_step(&runner);
	store_clear();
	store_fail(403);
	a = run(MOCK TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x", "")));
	STAGE_AWAIT(store_asked() >= 1, 0);
	runner_step(&runner);
	stage_pass_ms(3000);
	await_note(a, "Template",
		"Missing: nomad.var.block(nomad/jobs/j): the controller answered 403");
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	store_fail(0);
	await_phase(a, PHASE_RUNNING);
}

static void a_change_restarts_once(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(SHELL(
		"cat local/x >> local/seen; exec sleep 100") ",\"KillSignal\":"
							     "\"SIGTERM\"" TEMPLATES(TEMPLATE(
								     VARIABLE("{{ .a }}"),
								     "local/x",
								     "") "," TEMPLATE(VARIABLE("{{ "
											       ".a "
											       "}}{"
											       "{ "
											       ".b "
											       "}"
											       "}"),
								     "local/y",
								     ",\"ChangeMode\":"
								     "\"restart\"") "," TEMPLATE(VARIABLE("{{ .c }}"),
								     "local/z",
								     ",\"ChangeMode\":"
								     "\"noop\"")));
	await_phase(a, PHASE_RUNNING);
	await_contents("t/local/seen", "one");
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	await_contents("t/local/seen", "onetwo");
	assert_int_equal(a->tasks[0].restarts, 1);
	assert_int_equal(a->tasks[0].attempts, 0); // it is no failure
	assert_true(has_note(
		&a->tasks[0], "Restart Signaled", "Template with change_mode restart re-rendered"));
	store_put("nomad/jobs/j", "{\"a\":\"two\",\"c\":\"new\"}");
	await_contents("t/local/z", "new");
	store_put("nomad/jobs/other", "{\"a\":\"x\"}");
	for (int i = 0; i < 10; i++)
		stage_pass_ms(100);
	assert_int_equal(a->tasks[0].restarts, 1);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
}

static void a_change_signals(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a =
		run(SHELL("sleep 100 & child=$!; trap 'grep -q sleep /proc/$child/cmdline && cat "
			  "local/x "
			  ">> local/seen' USR1; cat local/x > local/seen; while :; do sleep 0.02; "
			  "done") ",\"KillSignal\":\"SIGTERM\"" TEMPLATES(TEMPLATE(VARIABLE("{{ .a "
											    "}}"),
			"local/x", ",\"ChangeMode\":\"signal\",\"ChangeSignal\":\"SIGUSR1\"")));
	await_phase(a, PHASE_RUNNING);
	await_contents("t/local/seen", "one");
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	await_contents("t/local/seen", "onetwo");
	assert_int_equal(a->tasks[0].restarts, 0);
	assert_true(has_note(&a->tasks[0], "Signaling", "Template re-rendered"));
}

#define RUNS(line, more)                                                   \
	",\"ChangeMode\":\"script\",\"ChangeScript\":{\"Command\":\"/bin/" \
	"sh\",\"Args\":[\"-c\",\"" line "\"]" more "}"

static void a_change_runs_a_script(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(SHELL("cat local/x > local/seen; exec sleep 100")
			TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x",
				RUNS("cat ${NOMAD_TASK_DIR}/x >> local/seen", ""))));
	await_phase(a, PHASE_RUNNING);
	await_contents("t/local/seen", "one");
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	await_contents("t/local/seen", "onetwo");
	await_note(a, "Task hook message",
		"Template successfully ran script /bin/sh with arguments: ");
	assert_int_equal(a->tasks[0].restarts, 0);
	store_put("nomad/jobs/j", "{\"a\":\"three\"}");
	await_contents("t/local/seen", "onetwothree");
}

static void a_script_that_fails_is_told(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(SHELL("exec sleep 100")
			TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x", RUNS("exit 3", ""))));
	await_phase(a, PHASE_RUNNING);
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	await_note(a, "Task hook failed", "it exited with code: 3");
	stage_pass_ms(1000);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
}

static void a_script_may_take_its_task_with_it(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(SHELL("exec sleep 100") ",\"KillSignal\":\"SIGTERM\"" TEMPLATES(
		TEMPLATE(VARIABLE("{{ .a }}"), "local/x",
			RUNS("sleep 100", ",\"FailOnError\":true,\"Timeout\":500000000"))));
	await_phase(a, PHASE_RUNNING);
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	await_phase(a, PHASE_ENDED);
	assert_true(a->tasks[0].failed);
	assert_int_equal(a->tasks[0].restarts, 0);
	assert_true(has_note(&a->tasks[0], "Task hook failed", "no end within 0.5s"));
	assert_true(
		has_note(&a->tasks[0], "Killing", "Template script failed, task is being killed"));
}

// A script that runs is none of the next run's, whatever becomes of it.
static void a_script_ends_with_its_run(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a =
		run(SHELL("exec sleep 100") TEMPLATES(TEMPLATE(VARIABLE("{{ .a }}"), "local/x",
			RUNS("echo $$ > local/pid; exec sleep 100",
				",\"FailOnError\":true,\"Timeout\":60000000000"))));
	await_phase(a, PHASE_RUNNING);
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	STAGE_AWAIT(*contents("t/local/pid"), stage_pass_ms(100));
	pid_t pid = (pid_t)strtol(contents("t/local/pid"), NULL, 10);
	assert_true(pid > 1);
	kill(a->tasks[0].process.task, SIGKILL);
	STAGE_AWAIT(a->tasks[0].restarts > 0 && task_runs(&a->tasks[0]), stage_pass_ms(100));
	assert_int_equal(a->tasks[0].restarts, 1);
	STAGE_AWAIT(kill(pid, 0) < 0, stage_pass_ms(100));
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_false(a->tasks[0].failed);
}

static void splay_and_wait_put_it_off(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(MOCK TEMPLATES("{\"EmbeddedTmpl\":\"" VARIABLE(
		"{{ .a }}") "\",\"DestPath\":\"local/x\",\"Splay\":5000000000,"
			    "\"Wait\":{\"Min\":2000000000,\"Max\":60000000000}}"));
	await_phase(a, PHASE_RUNNING);
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};
	assert_int_equal(poll(&polled, 1, 60000), 1);
	runner_step(&runner);
	stage_pass_ms(1900);
	assert_string_equal(contents("t/local/x"), "one");
	stage_pass_ms(200);
	assert_string_equal(contents("t/local/x"), "two");
	assert_int_equal(a->tasks[0].restarts, 0);
	uint32_t passed = 0;
	while (!has_note(&a->tasks[0], "Restart Signaled", "") && (passed += 100) < 6000)
		stage_pass_ms(100);
	assert_in_range(passed, 100, 5100);
}

// The task may have spoilt its files; each start has them as they should be.
static void each_start_renders_again(void **unused)
{
	struct alloc_run *a = run(SHELL("cat local/x >> local/seen; echo spoilt > local/x; exit 1")
			TEMPLATES(TEMPLATE("good", "local/x", "")));
	await_phase(a, PHASE_RESTARTING);
	stage_pass_ms(1250);
	await_phase(a, PHASE_ENDED);
	assert_string_equal(contents("t/local/seen"), "goodgood");
}

// What another agent would render is nothing to a task that runs, unless a variable changed.
static void a_restarted_agent_leaves_files_alone(void **unused)
{
	struct alloc_run *a = run(SHELL("echo own > local/x; exec sleep 100")
			TEMPLATES(TEMPLATE("{{ timestamp }}", "local/x", "")));
	await_phase(a, PHASE_RUNNING);
	await_contents("t/local/x", "own\n");
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	for (int i = 0; i < 5; i++)
		stage_pass_ms(1000);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	assert_false(has_note(&a->tasks[0], "Restart Signaled", ""));
	assert_string_equal(contents("t/local/x"), "own\n");
}

// Nor is an artifact fetched again, by no later start and no later agent.
static void artifacts_are_fetched_once(void **unused)
{
	web_put("f", "x", 1);
	struct alloc_run *a = run_artifact(SHELL("exit 1") ARTIFACT, web_url("f"));
	await_phase(a, PHASE_RESTARTING);
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	stage_pass_ms(1250);
	await_phase(a, PHASE_ENDED);
	assert_true(has_note(&a->tasks[0], "Not Restarting", "Exceeded allowed attempts 1"));
	assert_int_equal(web_asked(), 1);
}

// What one artifact of several lacked is fetched again, and not the others.
static void others_are_kept_when_one_fails(void **unused)
{
	web_put("f", "x", 1);
	char members[600];
	snprintf(members, sizeof members,
		MOCK ",\"Artifacts\":[{\"GetterSource\":\"%s\"},{\"GetterSource\":\"%s\"}]",
		web_url("f"), web_url("late"));
	struct alloc_run *a = run(members);
	await_phase(a, PHASE_RESTARTING);
	web_put("late", "y", 1);
	stage_pass_ms(1250);
	await_phase(a, PHASE_RUNNING);
	assert_int_equal(web_asked(), 3);
}

// A failure of its own counts, also behind a restart that did not; and a start that waits keeps nobody busy.
static void a_later_start_waits_for_its_variables(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(SHELL("exec sleep 100") ",\"KillSignal\":\"SIGTERM\"" TEMPLATES(
		TEMPLATE(VARIABLE("{{ .a }}"), "local/x", "")));
	struct task *t = &a->tasks[0];
	await_phase(a, PHASE_RUNNING);
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	await_contents("t/local/x", "two");
	await_note(a, "Restarting", "");
	stage_pass_ms(1);
	await_phase(a, PHASE_RUNNING);
	store_put("nomad/jobs/j", NULL);
	STAGE_AWAIT(store_is_known(), 0);
	assert_true(store_is_known());
	runner_step(&runner);
	assert_int_equal(t->phase, PHASE_RUNNING); // it goes on with what it has
	assert_int_equal(kill(t->process.task, SIGKILL), 0);
	await_phase(a, PHASE_RESTARTING);
	assert_int_equal(t->attempts, 1);
	stage_pass_ms(1250);
	assert_int_equal(t->phase, PHASE_RESTARTING);
	assert_true(runner_step(&runner) > manual.monotonic_ns);
	store_put("nomad/jobs/j", "{\"a\":\"three\"}");
	await_phase(a, PHASE_RUNNING);
	assert_string_equal(contents("t/local/x"), "three");
}

static void a_restarted_agent_follows_changes(void **unused)
{
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	struct alloc_run *a = run(
		SHELL("cat local/x >> local/seen; exec sleep 100") ",\"KillSignal\":"
								   "\"SIGTERM\"" TEMPLATES(TEMPLATE(
									   VARIABLE("{{ .a }}"),
									   "local/x", "")));
	await_phase(a, PHASE_RUNNING);
	await_contents("t/local/seen", "one");
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	for (int i = 0; i < 20; i++) {
		poll(NULL, 0, 10);
		runner_step(&runner);
	}
	assert_int_equal(a->tasks[0].restarts, 0); // nothing has changed
	runner_close(&runner);
	store_put("nomad/jobs/j", "{\"a\":\"two\"}");
	stage_reopen();
	a = runner_find(&runner, &id);
	await_contents("t/local/seen", "onetwo");
	assert_int_equal(a->tasks[0].restarts, 1);
}

#define ROW(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ROW(artifacts_come_before_the_start),
		ROW(a_failed_artifact_follows_the_restart_policy),
		ROW(an_artifact_for_nobody_is_refused),
		ROW(an_artifact_that_comes_later_is_taken),
		ROW(what_cannot_help_is_not_tried_again),
		ROW(a_stop_ends_what_is_under_way),
		ROW(a_helper_that_does_not_end_is_killed),
		ROW(a_restarted_agent_fetches_what_is_missing),
		ROW(templates_are_files_before_the_start),
		ROW(a_template_that_cannot_be_rendered_fails_its_task),
		ROW(a_template_that_the_node_fails_is_tried_again),
		ROW(templates_make_variables_of_the_task),
		ROW(a_task_waits_for_its_variables),
		ROW(a_variable_that_cannot_be_watched_is_tried_again),
		ROW(a_controller_that_refuses_is_said),
		ROW(a_change_restarts_once),
		ROW(a_change_signals),
		ROW(a_change_runs_a_script),
		ROW(a_script_that_fails_is_told),
		ROW(a_script_may_take_its_task_with_it),
		ROW(a_script_ends_with_its_run),
		ROW(splay_and_wait_put_it_off),
		ROW(each_start_renders_again),
		ROW(a_restarted_agent_leaves_files_alone),
		ROW(artifacts_are_fetched_once),
		ROW(others_are_kept_when_one_fails),
		ROW(a_later_start_waits_for_its_variables),
		ROW(a_restarted_agent_follows_changes),
	};
	if (argc < 2)
		return 2;
	helper = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
