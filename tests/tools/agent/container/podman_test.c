// Containers of a real podman, with a service and a storage of their own.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/confine/capabilities.h"
#include "tools/agent/container/container.h"
#include "tools/agent/container/engine.h"
#include "tools/agent/container/engine_watch.h"
#include "tools/agent/script/script.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/exec_target.h"
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SKIPPED 77

static const struct wire_pair pairs[] = {{WIRE_PAIR_VOLUME, {"etc", 3}, {"ro /etc", 7}}};
static const struct node_facts facts = {.name = "n",
	.datacenter = "dc1",
	.class_name = "",
	.pool = "default",
	.pairs = pairs,
	.pair_count = 1};
static const struct uuid id = {{0xa1}};
static char folder[] = "/tmp/berth-podman-XXXXXX";
static char socket_path[64];
static pid_t service, registry;
static struct container_settings settings = {
	.program = BERTH_AGENT, .capabilities = CAPABILITIES_DEFAULT};

extern char **environ;

// It goes on while the engine begins anew.
static void start_registry(void)
{
	char script[] = REGISTRY, path[64];
	char *const arguments[] = {script, folder, NULL};
	snprintf(path, sizeof path, "%s/registry", folder);
	assert_int_equal(posix_spawn(&registry, script, NULL, NULL, arguments, environ), 0);
	for (uint32_t i = 0; i < 2000 && access(path, F_OK) != 0; i++)
		poll(NULL, 0, 10);
	assert_int_equal(access(path, F_OK), 0);
}

static void start_service(void)
{
	char script[] = PODMAN_SERVICE;
	char *const arguments[] = {script, folder, NULL};
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	assert_int_equal(posix_spawn(&service, script, NULL, &attributes, arguments, environ), 0);
	for (uint32_t i = 0; i < 1000 && access(socket_path, F_OK) != 0; i++)
		poll(NULL, 0, 10);
	assert_int_equal(access(socket_path, F_OK), 0);
}

static void stop_service(void)
{
	kill(-service, SIGKILL);
	waitpid(service, NULL, 0);
	unlink(socket_path);
}

static int begin(void **unused)
{
	assert_non_null(mkdtemp(folder));
	snprintf(socket_path, sizeof socket_path, "%s/sock", folder);
	settings.sockets[ENGINE_DOCKER] = "";
	settings.sockets[ENGINE_PODMAN] = socket_path;
	container_configure(&settings);
	start_registry();
	start_service();
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int end(void **unused)
{
	stop_service();
	kill(registry, SIGKILL);
	waitpid(registry, NULL, 0);
	return nftw(folder, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int set_up(void **unused)
{
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	settings.allows_privileged = settings.allows_volumes = false;
	return stage_close();
}

// further: members of the task, each with its comma.
static struct alloc_run *run_container(const char *type, const char *further, const char *config)
{
	char task[2000];
	snprintf(task, sizeof task,
		"{\"Name\":\"a\",\"Driver\":\"podman\",%s\"Config\":{\"network_mode\":\"host\",%s}"
		"}",
		further, config);
	return stage_run(&id, type, "\"Volumes\":{\"v\":{\"Source\":\"etc\"}},", task);
}
#define IMAGE "\"image\":\"localhost/test:1\""
#define SHELL(text) IMAGE ",\"command\":\"/bin/sh\",\"args\":[\"-c\",\"" text "\"]"

// The runner's time goes on with that of the containers, and faster.
static void pass_until(bool (*holds)(const struct task *))
{
	struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};
	for (uint32_t i = 0; i < 1500; i++) {
		const struct alloc_run *a = runner_find(&runner, &id);
		if (holds(&a->tasks[0]))
			return;
		poll(&polled, 1, 10);
		stage_pass_ms(100);
	}
	fail_msg("it takes too long");
}

static bool has_ended(const struct task *t)
{
	return task_is_over(t);
}

static const char *noted(const struct task *t, const char *type)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0)
			return t->notes[i].message;
	return "";
}

static void read_output(const struct alloc_run *a, const char *which, char text[static 2000])
{
	char path[700];
	struct task_folders folders;
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(path, sizeof path, "%s/logs/a.%s.0", folders.alloc, which);
	FILE *file = fopen(path, "re");
	text[file ? fread(text, 1, 1999, file) : 0] = '\0';
	if (file)
		fclose(file);
}

static void expect_output(const struct alloc_run *a, const char *which, const char *expected)
{
	char text[2000];
	read_output(a, which, text);
	assert_string_equal(text, expected);
}

static bool has_written(const struct task *t)
{
	char text[2000];
	read_output(runner_find(&runner, &id), "stdout", text);
	return *text && task_runs(t);
}

static size_t count_containers(void)
{
	struct engine engine = {.socket = socket_path, .signal_fd = -1};
	struct engine_request request = {.method = "GET", .path = "/containers/json?all=true"};
	struct engine_reply reply;
	engine_ask(&engine, &request, &reply);
	assert_true(json_is_array(reply.body));
	size_t count = json_array_size(reply.body);
	engine_reply_free(&reply);
	return count;
}

static void expect_no_containers(void)
{
	assert_int_equal(count_containers(), 0);
}

static void a_container_runs_to_its_end(void **unused)
{
	struct alloc_run *a =
		run_container("batch", "", SHELL("echo out; echo err >&2; echo more; exit 7"));
	const struct task *t = &a->tasks[0];
	assert_int_equal(a->status, WIRE_CLIENT_PENDING); // until it runs
	pass_until(has_ended);
	assert_true(t->failed);
	assert_string_equal(noted(t, "Started"), "Task started by client");
	assert_string_equal(noted(t, "Terminated"), "Exit Code: 7");
	expect_output(a, "stdout", "out\nmore\n");
	expect_output(a, "stderr", "err\n");
	expect_no_containers();
}

static void it_sees_its_folders_and_nothing_of_the_agent(void **unused)
{
	setenv("SECRET_OF_THE_AGENT", "x", 1);
	struct alloc_run *a = run_container("batch",
		"\"Env\":{\"GREETING\":\"hi ${NOMAD_TASK_NAME}\"},\"Meta\":{\"k\":\"v\"},",
		SHELL("echo $GREETING $NOMAD_META_k $NOMAD_ALLOC_DIR $NOMAD_TASK_DIR "
		      "$NOMAD_SECRETS_DIR $SECRET_OF_THE_AGENT; touch /alloc/data/x /local/y "
		      "/secrets/z"));
	char path[700];
	struct task_folders folders;
	pass_until(has_ended);
	expect_output(a, "stdout", "hi a v /alloc /local /secrets\n");
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	snprintf(path, sizeof path, "%s/data/x", folders.alloc);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/y", folders.local);
	assert_int_equal(access(path, F_OK), 0);
	snprintf(path, sizeof path, "%s/z", folders.secrets);
	assert_int_equal(access(path, F_OK), 0);
	unsetenv("SECRET_OF_THE_AGENT");
}

static void it_runs_as_its_user_where_it_is_to(void **unused)
{
	struct alloc_run *a = run_container("batch", "\"User\":\"worker\",",
		SHELL("id -u; pwd; cat /proc/self/limits > /dev/null") ",\"work_dir\":\"/tmp\"");
	pass_until(has_ended);
	expect_output(a, "stdout", "1234\n/tmp\n");
}

static bool has_begun_to_run(const struct task *t)
{
	return task_runs(t);
}

static void a_signal_ends_it_or_the_time_does(void **unused)
{
	static const struct {
		const char *command, *end;
		uint32_t least_ms;
	} table[] = {
		{SHELL("trap 'echo told; exit 3' USR1; echo up; while true; do sleep 0.1; done"),
			"Exit Code: 3", 0},
		{SHELL("trap '' USR1; echo up; while true; do sleep 0.1; done"), "Exit Code: 137",
			3000},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = run_container("service",
			"\"KillSignal\":\"SIGUSR1\",\"KillTimeout\":4000000000,", table[i].command);
		const struct task *t = &a->tasks[0];
		pass_until(has_written); // it has set its trap by then
		assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
		runner_stop(&runner, a);
		int64_t before_ns = (int64_t)manual.wall_ns;
		pass_until(has_ended);
		assert_string_equal(noted(t, "Terminated"), table[i].end);
		assert_true((int64_t)manual.wall_ns - before_ns >= table[i].least_ms * 1000000ll);
		assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
		runner_forget(&runner, a);
		runner_step(&runner);
		expect_no_containers();
	}
}

static void the_next_agent_takes_it_up(void **unused)
{
	struct alloc_run *a =
		run_container("batch", "", SHELL("echo one; sleep 2; echo two; exit 4"));
	pass_until(has_begun_to_run);
	runner_close(&runner);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_string_equal(noted(&a->tasks[0], "Restored"), "Task was taken up again");
	assert_true(task_runs(&a->tasks[0]));
	pass_until(has_ended);
	assert_string_equal(noted(&a->tasks[0], "Terminated"), "Exit Code: 4");
	expect_output(a, "stdout", "one\ntwo\n");
}

// Also an agent that ended while the container was still being started learns that it runs.
static void the_next_agent_learns_that_it_started(void **unused)
{
	struct alloc_run *a = run_container("batch", "", SHELL("sleep 1; exit 5"));
	assert_true(a->tasks[0].is_starting);
	runner_close(&runner);
	poll(NULL, 0, 500);
	stage_reopen();
	a = runner_find(&runner, &id);
	assert_true(a->tasks[0].is_starting);
	pass_until(has_ended);
	assert_string_equal(noted(&a->tasks[0], "Started"), "Task started by client");
	assert_string_equal(noted(&a->tasks[0], "Terminated"), "Exit Code: 5");
}

static void the_engine_may_begin_anew_meanwhile(void **unused)
{
	struct alloc_run *a =
		run_container("batch", "", SHELL("echo one; sleep 3; echo two; exit 6"));
	pass_until(has_written);
	stop_service();
	start_service();
	pass_until(has_ended);
	assert_string_equal(noted(&a->tasks[0], "Terminated"), "Exit Code: 6");
	expect_output(a, "stdout", "one\ntwo\n");
}

static bool is_gone(const struct task *t)
{
	(void)t;
	return count_containers() == 0;
}

// Nothing runs on that is told to have failed.
static void a_container_does_not_outlive_its_process(void **unused)
{
	struct alloc_run *a = run_container("batch", "", SHELL("echo up; sleep 1000"));
	pass_until(has_written);
	assert_int_equal(count_containers(), 1);
	assert_int_equal(kill(a->tasks[0].process.task, SIGKILL), 0);
	pass_until(has_ended);
	assert_string_equal(noted(&a->tasks[0], "Terminated"), "Exit Code: 137, Signal: 9");
	pass_until(is_gone);
}

static void what_cannot_start_says_why(void **unused)
{
	static const struct {
		const char *config, *note, *part;
	} table[] = {
		{IMAGE ",\"command\":\"/no/such\"", "Driver Failure",
			"Failed to start container: "},
		{"\"image\":\"none:1\"", "Driver Failure", "Failed to pull `none:1`: "},
		{IMAGE ",\"privileged\":true", "Driver Failure",
			"a privileged container is allowed on this node only with "
			"--container-privileged"},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = run_container("batch", "", table[i].config);
		pass_until(has_ended);
		assert_true(a->tasks[0].failed);
		if (!strstr(noted(&a->tasks[0], table[i].note), table[i].part))
			fail_msg("row %u: %s", i, noted(&a->tasks[0], table[i].note));
		assert_string_equal(noted(&a->tasks[0], "Terminated"), "");
		assert_string_equal(noted(&a->tasks[0], "Driver"),
			strstr(table[i].config, "none") ? "Downloading image" : "");
		runner_forget(&runner, a);
		runner_step(&runner);
	}
	expect_no_containers();
}

static void folders_of_the_node_are_mounted_where_that_is_allowed(void **unused)
{
	settings.allows_volumes = true;
	struct alloc_run *a = run_container("batch", "",
		SHELL("cat /node/hostname > /dev/null && echo seen; touch /node/x || echo "
		      "kept") ","
			      "\"volumes\":[\"/etc:/node:ro\"],\"tmpfs\":[\"/"
			      "scratch:size=1m\"],"
			      "\"cap_drop\":[\"all\"]");
	pass_until(has_ended);
	expect_output(a, "stdout", "seen\nkept\n");
}

static unsigned port_of_registry(bool is_locked)
{
	char path[64];
	unsigned ports[2] = {0};
	snprintf(path, sizeof path, "%s/registry", folder);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u %u", &ports[0], &ports[1]), 2);
	fclose(file);
	return ports[is_locked];
}

static void an_image_is_pulled(void **unused)
{
	static const struct {
		bool is_locked;
		const char *more, *output, *failure;
	} table[] = {
		{false, "", "hi\n", ""},
		{true, "", "", "Failed to pull `127.0.0.1:"},
		{true, ",\"auth\":[{\"username\":\"ann\",\"password\":\"wrong\"}]", "",
			"Failed to pull `127.0.0.1:"},
		{true, ",\"auth\":[{\"username\":\"ann\",\"password\":\"secret\"}]", "hi\n", ""},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char config[400];
		snprintf(config, sizeof config,
			"\"image\":\"127.0.0.1:%u/"
			"tiny:1\",\"command\":\"echo\",\"args\":[\"hi\"]%s",
			port_of_registry(table[i].is_locked), table[i].more);
		struct alloc_run *a = run_container("batch", "", config);
		pass_until(has_ended);
		assert_string_equal(noted(&a->tasks[0], "Driver"), "Downloading image");
		if (strncmp(noted(&a->tasks[0], "Driver Failure"), table[i].failure,
			    strlen(table[i].failure)) != 0)
			fail_msg("row %u: %s", i, noted(&a->tasks[0], "Driver Failure"));
		assert_int_equal(a->tasks[0].failed, *table[i].failure != '\0');
		expect_output(a, "stdout", table[i].output);
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

// Without leave for other folders of the node.
static void volumes_of_the_node_are_mounted(void **unused)
{
	struct alloc_run *a = run_container("batch",
		"\"VolumeMounts\":[{\"Volume\":\"v\",\"Destination\":\"/node/etc\","
		"\"PropagationMode\":\"host-to-task\"}],",
		SHELL("cat /node/etc/hostname > /dev/null && echo seen; touch /node/etc/x || echo "
		      "kept"));
	pass_until(has_ended);
	expect_output(a, "stdout", "seen\nkept\n");
}

static struct script_end run_script(
	const struct alloc_run *a, const char *line, uint32_t timeout_ms)
{
	char shell[] = "/bin/sh", option[] = "-c", message[300] = "";
	char *const arguments[] = {shell, option, (char *)line, NULL};
	struct task_folders folders;
	struct script_end end;
	uint64_t count;
	struct script_start start = {.task = &a->tasks[0],
		.alloc = a->spec,
		.node = &facts,
		.folders = &folders,
		.arguments = arguments,
		.timeout_ns = timeout_ms * 1000000ll,
		.wake_fd = eventfd(0, EFD_CLOEXEC)};
	alloc_run_task_folders(a, &a->tasks[0], stage_folder, &folders);
	struct script *s = script_begin(&start, message, sizeof message);
	assert_string_equal(message, "");
	assert_int_equal(read(start.wake_fd, &count, sizeof count), sizeof count);
	script_finish(s, &end);
	close(start.wake_fd);
	return end;
}

static void end_it(struct alloc_run *a)
{
	runner_stop(&runner, a);
	pass_until(has_ended);
	expect_no_containers();
}

static void scripts_run_within_it(void **unused)
{
	struct alloc_run *a = run_container("service",
		"\"User\":\"worker\",\"Env\":{\"GREETING\":\"hi\"},\"KillTimeout\":1000000000,",
		SHELL("echo up; exec sleep 1000") ",\"work_dir\":\"/tmp\"");
	pass_until(has_written);
	struct script_end end =
		run_script(a, "id -u; pwd; echo $GREETING; cat /proc/1/cmdline >&2; exit 1", 60000);
	assert_string_equal(end.is_known ? "" : end.message, "");
	assert_int_equal(end.exit_code, 1);
	assert_non_null(strstr(end.output, "1234\n/tmp\nhi\n"));
	assert_non_null(memmem(end.output, end.size, "sleep\0001000", 10));
	end = run_script(a,
		"yes() { while true; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done; }; "
		"yes & sleep 1; kill $!; exit 0",
		60000);
	assert_true(end.is_known);
	assert_int_equal(end.exit_code, 0);
	assert_int_equal(end.size, SCRIPT_OUTPUT_BYTES);
	end_it(a);
}

static void a_script_that_hangs_is_killed(void **unused)
{
	struct alloc_run *a = run_container(
		"service", "\"KillTimeout\":1000000000,", SHELL("echo up; exec sleep 1000"));
	pass_until(has_written);
	struct script_end end = run_script(a, "exec sleep 4321", 3000);
	assert_false(end.is_known);
	assert_true(end.is_late);
	end = run_script(a, "for p in /proc/[0-9]*; do cat $p/cmdline; done", 60000);
	assert_true(end.is_known);
	assert_non_null(memmem(end.output, end.size, "sleep\0001000", 10));
	assert_null(memmem(end.output, end.size, "sleep\0004321", 10));
	end_it(a);
	end = run_script(a, "true", 10000);
	assert_false(end.is_known);
	assert_true(end.is_task_over);
	assert_non_null(strstr(end.message, "no such container"));
}

struct looking {
	struct agent_service_settings settings;
	char reason[200];
	uint16_t code;
};

static void *look_for_target(void *context)
{
	struct looking *l = context;
	struct exec_target target;
	char alloc[UUID_TEXT_BYTES];
	l->code = exec_target_find(
		&l->settings, uuid_format(&id, alloc), "a", &target, l->reason, sizeof l->reason);
	exec_target_free(&target);
	return NULL;
}

// The process that stands for a container on its node is none of the container's.
static void a_command_for_it_does_not_run_on_its_node(void **unused)
{
	pthread_t thread;
	struct alloc_run *a = run_container(
		"service", "\"KillTimeout\":1000000000,", SHELL("echo up; exec sleep 1000"));
	struct looking l = {.settings.ask = ask_runner_create()};
	struct pollfd polled = {.fd = ask_runner_fd(l.settings.ask), .events = POLLIN};
	pass_until(has_written);
	assert_int_equal(pthread_create(&thread, NULL, look_for_target, &l), 0);
	assert_int_equal(poll(&polled, 1, 10000), 1);
	ask_runner_serve(l.settings.ask, &runner);
	pthread_join(thread, NULL);
	ask_runner_destroy(l.settings.ask);
	assert_string_equal(l.reason, "the driver \"podman\" runs no commands inside its tasks");
	assert_int_equal(l.code, 1011);
	end_it(a);
}

static void an_engine_is_watched(void **unused)
{
	struct engine_watch watch;
	uint64_t now_ns = 1;
	struct pollfd polled = {.fd = epoll_create1(EPOLL_CLOEXEC), .events = POLLIN};
	engine_watch_open(&watch, socket_path);
	for (uint32_t i = 0; i < 600 && !watch.is_healthy; i++) {
		(void)engine_watch_step(&watch, polled.fd, now_ns);
		poll(&polled, 1, 50);
	}
	assert_true(watch.is_healthy);
	assert_in_range(watch.version[0], '0', '9');
	stop_service();
	assert_false(engine_watch_step(&watch, polled.fd, now_ns)); // it is not due
	now_ns = engine_watch_due_ns(&watch);
	assert_true(engine_watch_step(&watch, polled.fd, now_ns));
	assert_false(watch.is_healthy);
	assert_true(watch.is_seen);
	start_service();
	for (uint32_t i = 0; i < 600 && !watch.is_healthy; i++) {
		now_ns = watch.fd >= 0 ? now_ns : engine_watch_due_ns(&watch);
		(void)engine_watch_step(&watch, polled.fd, now_ns);
		poll(&polled, 1, 50);
	}
	assert_true(watch.is_healthy);
	engine_watch_close(&watch);
	close(polled.fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_container_runs_to_its_end),
		TEST(it_sees_its_folders_and_nothing_of_the_agent),
		TEST(it_runs_as_its_user_where_it_is_to),
		TEST(a_signal_ends_it_or_the_time_does),
		TEST(the_next_agent_takes_it_up),
		TEST(the_next_agent_learns_that_it_started),
		TEST(the_engine_may_begin_anew_meanwhile),
		TEST(a_container_does_not_outlive_its_process),
		TEST(what_cannot_start_says_why),
		TEST(folders_of_the_node_are_mounted_where_that_is_allowed),
		TEST(an_image_is_pulled),
		TEST(volumes_of_the_node_are_mounted),
		TEST(scripts_run_within_it),
		TEST(a_script_that_hangs_is_killed),
		TEST(a_command_for_it_does_not_run_on_its_node),
		TEST(an_engine_is_watched),
	};
	if (geteuid() != 0) // the service needs a mount namespace
		return SKIPPED;
	return cmocka_run_group_tests(tests, begin, end);
}
