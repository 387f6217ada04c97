// Tasks of an agent, with real processes over a real socket, against a controller in miniature.
#include "tests/tools/agent/confine/slice.h"
#include "tests/tools/client/responder.h"
#include "tools/agent/agent.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static struct responder *server;
static struct agent agent;
static struct agent_options options;
static int signals[2];
static pthread_t thread;
static enum agent_exit exit_code;

#define ID "a10c0000-0000-0000-0000-000000000001"

static void nap_ms(uint32_t ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000l};
	nanosleep(&t, NULL);
}

// Of tests that count what an agent says only when it was not answered for a while: long enough for any machine.
#define LONG_TTL_MS 750u

// Waits up to twenty seconds.
#define WAIT_FOR(condition)                                \
	do {                                               \
		uint32_t tries_ = 0;                       \
		while (!(condition) && tries_++ < 10000)   \
			nap_ms(2);                         \
		if (!(condition))                          \
			fail_msg("never: %s", #condition); \
	} while (0)

static void provision_key(void)
{
	struct prng prng;
	struct identity id;
	char message[300], path[128], text[WIRE_KEY_TEXT_BYTES];
	prng_seed_from_system(&prng);
	assert_int_equal(identity_open(folder, &prng, &id, message, sizeof message), 0);
	struct wire_key key;
	assert_true(node_key_derive(&server->masters, 1, &id.node, &key));
	identity_close(&id);
	snprintf(path, sizeof path, "%s/node.key", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	wire_key_format(1, &key, text);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void *run(void *unused)
{
	exit_code = agent_run(&agent, signals[0]);
	return NULL;
}

static void start(void)
{
	char message[300];
	if (agent_create(&agent, &options, message, sizeof message) < 0)
		fail_msg("%s", message);
	assert_int_equal(pipe2(signals, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
}

static enum agent_exit stop(uint32_t number)
{
	struct signalfd_siginfo info = {.ssi_signo = number};
	assert_int_equal(write(signals[1], &info, sizeof info), sizeof info);
	pthread_join(thread, NULL);
	close(signals[0]);
	close(signals[1]);
	agent_destroy(&agent);
	return exit_code;
}

static int set_up(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/berth-tasks-XXXXXX");
	assert_non_null(mkdtemp(folder));
	server = responder_start();
	atomic_store(&server->rules.ttl_ms, 150);
	options = (struct agent_options){.server = server->address,
		.state_dir = folder,
		.datacenter = "dc1",
		.class_name = "",
		.pool = "default",
		.cgroup_parent = slice_name(),
		.cpu_mhz = 4000};
	provision_key();
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int tear_down(void **unused)
{
	responder_stop(server);
	return slice_remove(&agent.confine.groups) +
	       nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void path_in(const char *rest, char path[static 300])
{
	snprintf(path, 300, "%s/alloc/" ID "/%s", folder, rest);
}

// What a task wrote, or "".
static const char *written(const char *rest)
{
	static char text[4000];
	char path[300];
	path_in(rest, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static pid_t pid_of(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);
	assert_true(pid > 1 && pid < INT32_MAX && *end == '\n');
	return (pid_t)pid;
}

#define SH(script) \
	"\"Driver\":\"raw_exec\",\"Config\":{\"command\":\"sh\",\"args\":[\"-c\",\"" script "\"]}"

static void a_batch_task_completes(void **unused)
{
	responder_add_alloc(server, 1, "sysbatch",
		SH("echo $NOMAD_ALLOC_ID $NOMAD_TASK_NAME $NOMAD_ALLOC_INDEX ${node.datacenter} "
		   "$GREETING; pwd; echo oops >&2") ",\"Env\":{\"GREETING\":\"hello "
						    "${attr.kernel.name} ${meta.rack}\"}");
	options.meta.items[options.meta.count++] = "rack=r7";
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	struct responder_alloc a = responder_alloc(server, 1);
	assert_string_equal(a.description, "All tasks have completed");
	assert_int_equal(a.task_state, WIRE_TASK_DEAD);
	assert_false(a.task_failed);
	char expected[600];
	snprintf(expected, sizeof expected, ID " t 3 dc1 hello linux r7\n%s/alloc/" ID "/t\n",
		folder);
	assert_string_equal(written("alloc/logs/t.stdout.0"), expected);
	assert_string_equal(written("alloc/logs/t.stderr.0"), "oops\n");
	assert_int_equal(server->counters.updates_before_beat, 0);
	assert_true(server->counters.specs >= 2); // it came in pieces
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

#define DIGITS "0123456789012345678901234567890123456789012345678901234567890123456789"
#define LONG_ENV ",\"Env\":{\"LONG\":\"" DIGITS DIGITS DIGITS DIGITS DIGITS "\"}"

// The first piece is sealed as it shall be. The next two are under another key, changed, an answer to an earlier
// question or another piece: each is counted and as good as no answer, until the controller answers as it should.
static void what_was_sealed_wrongly_is_refused(void **unused)
{
	for (uint32_t fault = SEAL_FAULT_KEY; fault <= SEAL_FAULT_PIECE; fault++) {
		if (fault > SEAL_FAULT_KEY && (tear_down(NULL) || set_up(NULL)))
			fail_msg("no second folder");
		atomic_store(&server->rules.seal_fault, fault);
		atomic_store(&server->rules.mis_seal, 2);
		responder_add_alloc(server, 1, "batch", SH("echo $LONG") LONG_ENV);
		start();
		WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
		assert_int_equal(stop(SIGTERM), AGENT_LEFT);
		assert_int_equal(atomic_load(&server->rules.mis_seal), 0);
		// Who is slow to answer is asked more often, and of what he says some is lost, or right twice.
		const struct sync_counters *counted = &agent.sync.counters;
		assert_in_range(counted->not_opened, counted->resent > 2 ? 0 : 1, 2);
		assert_int_equal(agent.sync.counters.clear_pieces, 0);
	}
}

static void an_older_controller_answers_in_clear(void **unused)
{
	atomic_store(&server->rules.is_old, true);
	responder_add_alloc(server, 1, "batch", SH("true"));
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
	assert_true(agent.sync.counters.clear_pieces > 0);
	assert_int_equal(agent.sync.counters.not_opened, 0);
}

static void a_failing_task_is_restarted_and_fails(void **unused)
{
	responder_add_alloc(server, 1, "batch",
		SH("echo x; exit 7") ",\"RestartPolicy\":{\"Attempts\":2,\"Interval\":60000000000,"
				     "\"Delay\":20000000,\"Mode\":\"fail\"}");
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_FAILED);
	struct responder_alloc a = responder_alloc(server, 1);
	assert_true(a.task_failed);
	assert_int_equal(a.restarts, 2);
	assert_int_equal(a.exit_code, 7);
	assert_string_equal(written("alloc/logs/t.stdout.0"), "x\nx\nx\n");
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

#define LIVES_ON(trap) \
	SH("trap '" trap "' INT; sleep 1000 & echo $! > child; while :; do wait; done")

// Told to stop it hears its signal, however long that takes; its child ends with it.
static void a_service_is_stopped(void **unused)
{
	responder_add_alloc(
		server, 1, "service", LIVES_ON("echo bye; exit 4") ",\"KillTimeout\":60000000000");
	start();
	WAIT_FOR(*written("t/child"));
	pid_t child = pid_of(written("t/child"));
	assert_int_equal(kill(child, 0), 0);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	responder_stop_alloc(server, 1);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 1).exit_code, 4);
	assert_non_null(strstr(written("alloc/logs/t.stdout.0"), "bye"));
	WAIT_FOR(kill(child, 0) < 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void what_does_not_listen_is_killed(void **unused)
{
	responder_add_alloc(server, 1, "service", LIVES_ON("") ",\"KillTimeout\":300000000");
	start();
	WAIT_FOR(*written("t/child"));
	pid_t child = pid_of(written("t/child"));
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	responder_stop_alloc(server, 1);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 1).exit_code, 128 + SIGKILL);
	WAIT_FOR(kill(child, 0) < 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void a_program_that_is_not_there(void **unused)
{
	responder_add_alloc(server, 1, "system",
		"\"Driver\":\"raw_exec\",\"Config\":{\"command\":\"/no/such/program\"}");
	responder_add_alloc(server, 2, "system", "\"Driver\":\"rocket\"");
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_FAILED);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_FAILED);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// The agent pauses; its tasks go on, and the next agent takes them up: also the end of one it did not see.
static void tasks_outlive_the_agent(void **unused)
{
	responder_add_alloc(server, 1, "system", SH("echo $$ >> pids; sleep 1000"));
	responder_add_alloc(
		server, 2, "sysbatch", SH("while ! [ -e go ]; do sleep 0.01; done; exit 5"));
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(*written("t/pids"));
	pid_t pid = pid_of(written("t/pids"));
	assert_int_equal(stop(SIGUSR1), AGENT_LEFT);
	assert_int_equal(server->counters.goodbyes, 0);
	assert_int_equal(kill(pid, 0), 0);
	char go[300];
	snprintf(go, sizeof go, "%s/alloc/a10c0000-0000-0000-0000-000000000002/t/go", folder);
	close(open(go, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	start();
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 2).exit_code, 5);
	assert_int_equal(kill(pid, 0), 0);
	assert_int_equal(pid_of(written("t/pids")), pid);
	assert_null(strchr(strchr(written("t/pids"), '\n') + 1, '\n')); // started once
	responder_stop_alloc(server, 1);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	WAIT_FOR(kill(pid, 0) < 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// What the controller forgot while the agent was away is ended and removed.
static void what_is_forgotten_is_removed(void **unused)
{
	char path[300];
	struct stat st;
	responder_add_alloc(server, 1, "system", SH("echo $$ > pid; sleep 1000"));
	start();
	WAIT_FOR(*written("t/pid"));
	pid_t pid = pid_of(written("t/pid"));
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(stop(SIGUSR1), AGENT_LEFT);
	responder_drop_alloc(server, 1);
	start();
	path_in("", path);
	WAIT_FOR(kill(pid, 0) < 0);
	WAIT_FOR(stat(path, &st) < 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// Leaving stops everything first.
static void leaving_ends_the_tasks(void **unused)
{
	responder_add_alloc(server, 1, "system", SH("echo $$ > pid; exec sleep 1000"));
	start();
	WAIT_FOR(*written("t/pid"));
	pid_t pid = pid_of(written("t/pid"));
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
	assert_true(server->counters.goodbyes >= 1); // one that is not answered soon is said again
	assert_true(kill(pid, 0) < 0);
}

// Reports are sent until they are acknowledged, and not while the controller does not listen to the node.
static void reports_survive_losses_and_refusals(void **unused)
{
	responder_add_alloc(
		server, 1, "batch", "\"Driver\":\"mock\",\"Config\":{\"run_for\":\"50ms\"}");
	start();
	WAIT_FOR(server->counters.allocs > 0);
	atomic_store(&server->rules.drop, 3);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	atomic_store(&server->rules.reason, WIRE_REFUSED_NOT_ALLOWED);
	atomic_store(&server->rules.refuse, 1);
	responder_add_alloc(server, 2, "batch",
		"\"Driver\":\"mock\",\"Config\":{\"run_for\":\"50ms\","
		"\"exit_code\":3}");
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_FAILED);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

#define JUDGED(deployment)                                                             \
	"\"DeploymentID\":\"" deployment                                               \
	"\",\"Update\":{\"HealthCheck\":\"task_states\",\"MinHealthyTime\":100000000," \
	"\"HealthyDeadline\":5000000000},"
#define MOCK "\"Driver\":\"mock\",\"Config\":{}"

static void health_is_told(void **unused)
{
	responder_describe_alloc(server, 1, "service", JUDGED("d1"), MOCK);
	responder_describe_alloc(server, 2, "service", JUDGED("d1"),
		"\"Driver\":\"mock\",\"Config\":{\"start_error\":\"no luck\"}");
	responder_describe_alloc(server, 3, "batch", JUDGED("d1"), MOCK);
	start();
	WAIT_FOR(responder_alloc(server, 1).healthy == WIRE_HEALTHY);
	WAIT_FOR(responder_alloc(server, 2).healthy == WIRE_UNHEALTHY);
	WAIT_FOR(responder_alloc(server, 3).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(responder_alloc(server, 3).healthy, WIRE_HEALTH_UNSAID);
	// What was changed in place is judged for the newer deployment.
	responder_describe_alloc(server, 1, "service", JUDGED("d2"), MOCK);
	uint32_t reports = responder_alloc(server, 1).reports;
	responder_flag_alloc(server, 1, 7, WIRE_ALLOC_IN_DEPLOYMENT);
	WAIT_FOR(responder_alloc(server, 1).flags & WIRE_ALLOC_HEALTH_KNOWN);
	assert_true(responder_alloc(server, 1).reports > reports);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// A controller that forgot what it was told of the health is told again.
static void forgotten_health_is_told_again(void **unused)
{
	responder_describe_alloc(server, 1, "service", JUDGED("d1"), MOCK);
	start();
	WAIT_FOR(responder_alloc(server, 1).flags & WIRE_ALLOC_HEALTH_KNOWN);
	responder_flag_alloc(server, 1, 0, 0);
	WAIT_FOR(responder_alloc(server, 1).flags & WIRE_ALLOC_HEALTH_KNOWN);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void after_a_silence_all_is_told_again(void **unused)
{
	responder_add_alloc(server, 1, "service", MOCK);
	responder_add_alloc(server, 2, "service", MOCK);
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_RUNNING);
	nap_ms(100);
	uint32_t first = responder_alloc(server, 1).reports;
	uint32_t second = responder_alloc(server, 2).reports;
	atomic_store(&server->rules.drop, 6); // longer than the time to live
	WAIT_FOR(responder_alloc(server, 1).reports > first);
	WAIT_FOR(responder_alloc(server, 2).reports > second);
	assert_int_equal(server->counters.updates_before_beat, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void what_was_given_up_is_resumed(void **unused)
{
	responder_add_alloc(server, 1, "service", SH("echo $$ >> pids; sleep 1000"));
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(*written("t/pids"));
	pid_t pid = pid_of(written("t/pids"));
	responder_lose_alloc(server, 1);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(pid_of(written("t/pids")), pid);
	assert_int_equal(kill(pid, 0), 0);
	// One that is not wanted any more is not.
	responder_lose_alloc(server, 1);
	responder_stop_alloc(server, 1);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	WAIT_FOR(kill(pid, 0) < 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void tasks_end_that_are_not_to_run_alone(void **unused)
{
	responder_describe_alloc(server, 1, "service", "\"StopAfterClientDisconnect\":2000000000,",
		SH("echo $$ > pid; exec sleep 1000"));
	start();
	WAIT_FOR(*written("t/pid"));
	pid_t pid = pid_of(written("t/pid"));
	assert_int_equal(kill(pid, 0), 0);
	atomic_store(&server->rules.drop, UINT32_MAX);
	WAIT_FOR(kill(pid, 0) < 0);
	atomic_store(&server->rules.drop, 0);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// They begin, fail, are stopped and vanish as the list says, several pages of it.
static void a_worker_runs_what_is_listed(void **unused)
{
	options.worker = true;
	options.vm_driver = "mock"; // also where an image does not ask for it
	responder_add_machine(server, 1, "debian.img");
	responder_add_machine(server, 2, "mock:x?run_for=50ms&exit_code=9");
	responder_add_machine(server, 3, "mock:x");
	responder_add_machine(server, 4, "debian.img?start_error=no room");
	responder_add_machine(server, 5, "mock:x?run_for=50ms");
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_FAILED);
	WAIT_FOR(responder_alloc(server, 3).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(responder_alloc(server, 4).client == WIRE_CLIENT_FAILED);
	WAIT_FOR(responder_alloc(server, 5).client == WIRE_CLIENT_COMPLETE);
	assert_string_equal(responder_alloc(server, 2).description, "Exit Code: 9");
	assert_string_equal(responder_alloc(server, 4).description, "no room");
	assert_string_equal(responder_alloc(server, 5).description, "VM ended");
	responder_power_machine(server, 1, WIRE_VM_STOPPED);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_string_equal(responder_alloc(server, 1).description, "VM was stopped");
	responder_drop_alloc(server, 3);
	responder_add_machine(server, 6, "mock:x"); // tells of the change
	WAIT_FOR(responder_alloc(server, 6).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// The next agent goes on with its machines; one that is no worker ends them.
static void machines_outlive_the_agent(void **unused)
{
	char path[300];
	struct stat st;
	options.worker = true;
	responder_add_machine(server, 1, "mock:x");
	responder_add_machine(server, 2, "mock:x");
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(stop(SIGUSR1), AGENT_LEFT);
	responder_drop_alloc(server, 2);
	snprintf(path, sizeof path, "%s/allocs/a10c0000-0000-0000-0000-000000000002.json", folder);
	assert_int_equal(stat(path, &st), 0);
	start();
	WAIT_FOR(stat(path, &st) < 0);
	assert_int_equal(stop(SIGUSR1), AGENT_LEFT);
	path[strlen(path) - 6] = '1';
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(responder_alloc(server, 1).client, WIRE_CLIENT_RUNNING);
	options.worker = false;
	start();
	WAIT_FOR(stat(path, &st) < 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void probe_with(const char *command)
{
	options.probe = command;
	options.probe_backoff_ms = 20;
	options.probe_timeout_ms = 10000;
}

// Of this test's folder.
static void touch(const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
}

static const char *until_touched(const char *name)
{
	static char command[160];
	snprintf(command, sizeof command, "test -e %s/%s", folder, name);
	return command;
}

static void without_a_probe_a_node_is_ready(void **unused)
{
	atomic_store(&server->rules.directives, WIRE_DIRECTIVE_PROBE);
	start();
	WAIT_FOR(server->counters.ready >= 1);
	assert_int_equal(server->counters.unready, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void the_probe_is_asked_until_it_says_yes(void **unused)
{
	probe_with(until_touched("ready"));
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	atomic_store(&server->rules.directives, WIRE_DIRECTIVE_PROBE);
	start();
	WAIT_FOR(server->counters.unready >= 2);
	assert_int_equal(server->counters.ready, 0);
	touch("ready");
	WAIT_FOR(server->counters.ready >= 1);
	assert_int_equal(server->counters.registrations, 1);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void a_node_that_nobody_asks_says_nothing(void **unused)
{
	probe_with("false");
	start();
	uint64_t beats = server->counters.heartbeats;
	WAIT_FOR(server->counters.heartbeats > beats + 3);
	assert_int_equal(server->counters.ready + server->counters.unready, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// Ready again, the node says so and registers.
static void an_end_is_reported_with_what_the_probe_says(void **unused)
{
	probe_with(until_touched("ready"));
	atomic_store(&server->rules.ttl_ms, LONG_TTL_MS);
	responder_add_alloc(server, 1, "batch", SH("exit 0"));
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 1).update_flags, WIRE_UPDATE_UNREADY);
	assert_int_equal(server->counters.registrations, 1);
	touch("ready");
	WAIT_FOR(server->counters.registrations >= 2);
	WAIT_FOR(server->counters.ready >= 1);
	responder_add_alloc(server, 2, "batch", SH("exit 0"));
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 2).update_flags, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void the_report_of_an_end_waits_for_the_probe(void **unused)
{
	char command[200];
	snprintf(command, sizeof command, "until test -e %s/go; do sleep 0.02; done", folder);
	probe_with(command);
	responder_add_alloc(server, 1, "batch", SH("echo over"));
	start();
	WAIT_FOR(*written("alloc/logs/t.stdout.0"));
	uint64_t beats = server->counters.heartbeats;
	WAIT_FOR(server->counters.heartbeats > beats + 3);
	assert_int_not_equal(responder_alloc(server, 1).client, WIRE_CLIENT_COMPLETE);
	touch("go");
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 1).update_flags, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static void whose_fault_a_failure_is(void **unused)
{
	responder_add_alloc(server, 1, "system",
		"\"Driver\":\"mock\",\"Config\":{\"start_error\":\"no luck\","
		"\"infrastructure\":true}");
	responder_add_alloc(server, 2, "system",
		"\"Driver\":\"mock\",\"Config\":{\"start_error\":\"no luck\"}");
	responder_add_alloc(server, 3, "system",
		"\"Driver\":\"raw_exec\",\"Config\":{\"command\":\"/no/such/program\"}");
	start();
	for (uint8_t i = 1; i <= 3; i++)
		WAIT_FOR(responder_alloc(server, i).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 1).update_flags, WIRE_UPDATE_FLAKY);
	assert_int_equal(responder_alloc(server, 2).update_flags, 0);
	assert_int_equal(responder_alloc(server, 3).update_flags, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

static uint64_t bytes_of(const char *rest)
{
	char path[300];
	struct stat st;
	path_in(rest, path);
	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

// 6 MB of output, of which two files of 1 MiB are kept, and all of the end of it.
static void output_is_rotated(void **unused)
{
	responder_add_alloc(server, 1, "sysbatch",
		SH("yes 0123456789 | head -c 6000000; echo; echo end; echo oops >&2") ",\"LogConfig"
										      "\":"
										      "{\"MaxFiles"
										      "\":2,"
										      "\"MaxFileSiz"
										      "eMB\":1}");
	responder_add_alloc(
		server, 2, "sysbatch", SH("echo x") ",\"LogConfig\":{\"Disabled\":true}");
	start();
	for (uint8_t i = 1; i <= 2; i++)
		WAIT_FOR(responder_alloc(server, i).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(bytes_of("alloc/logs/t.stdout.3"), 0);
	uint64_t kept = bytes_of("alloc/logs/t.stdout.4"), last = bytes_of("alloc/logs/t.stdout.5");
	assert_true(kept > (1 << 20) - 12 && kept <= 1 << 20);
	assert_true(last > 0 && last <= 1 << 20);
	assert_string_equal(written("alloc/logs/t.stderr.0"), "oops\n");
	char path[300], tail[5];
	path_in("alloc/logs/t.stdout.5", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, tail, sizeof tail, (off_t)last - 5), 5);
	assert_memory_equal(tail, "\nend\n", 5);
	close(fd);
	snprintf(path, sizeof path, "%s/alloc/a10c0000-0000-0000-0000-000000000002/alloc/logs",
		folder);
	DIR *logs = opendir(path);
	assert_non_null(logs);
	const struct dirent *entry;
	while ((entry = readdir(logs)) != NULL)
		assert_int_equal(entry->d_name[0], '.'); // nothing was kept
	closedir(logs);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// Four variables, each ten times the one before, and an argument of the last: the task fails, the agent goes on.
static void what_expands_without_end_fails_its_task(void **unused)
{
	responder_add_alloc(server, 1, "sysbatch",
		SH("exit 0") ",\"Env\":{\"A\":\"0123456789012345\",\"B\":\"${A}${A}${A}${A}${A}"
			     "${A}${A}${A}\",\"C\":\"${B}${B}${B}${B}${B}${B}${B}${B}\",\"D\":"
			     "\"${C}${C}${C}${C}${C}${C}${C}${C}\",\"E\":\"${D}${D}${D}${D}"
			     "${D}${D}${D}${D}${D}${D}\"}");
	responder_add_alloc(server, 2, "sysbatch", SH("exit 0"));
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_FAILED);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(responder_alloc(server, 1).update_flags, 0); // not the node's fault
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// The disk is full where its payload goes.
static void what_cannot_be_set_up_for_want_of_room_is_the_nodes_fault(void **unused)
{
	static const char *const folders[] = {"", "/" ID, "/" ID "/t", "/" ID "/t/local"};
	char path[300];
	for (uint32_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, sizeof path, "%s/alloc%s", folder, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	path_in("t/local/full", path);
	assert_int_equal(mknod(path, S_IFCHR | 0666, makedev(1, 7)), 0); // /dev/full
	responder_describe_alloc(server, 1, "batch", "\"Payload\":\"aGVsbG8=\",",
		SH("exit 0") ",\"DispatchPayload\":{\"File\":\"full\"}");
	responder_describe_alloc(server, 2, "batch", "\"Payload\":\"a===\",",
		SH("exit 0") ",\"DispatchPayload\":{\"File\":\"full\"}");
	start();
	for (uint8_t i = 1; i <= 2; i++)
		WAIT_FOR(responder_alloc(server, i).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 1).update_flags, WIRE_UPDATE_FLAKY);
	assert_int_equal(responder_alloc(server, 2).update_flags, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// Somebody killed who looked after it, so nobody knows how it ended.
static void an_end_that_nobody_saw_is_the_nodes_fault(void **unused)
{
	responder_add_alloc(server, 1, "batch",
		SH("kill -9 $PPID; sleep 1000") ",\"RestartPolicy\":{\"Attempts\":0,\"Mode\":"
						"\"fail\"}");
	responder_add_alloc(server, 2, "batch",
		SH("kill -9 $$") ",\"RestartPolicy\":{\"Attempts\":0,\"Mode\":\"fail\"}");
	start();
	for (uint8_t i = 1; i <= 2; i++)
		WAIT_FOR(responder_alloc(server, i).client == WIRE_CLIENT_FAILED);
	assert_int_equal(responder_alloc(server, 1).update_flags, WIRE_UPDATE_FLAKY);
	assert_int_equal(responder_alloc(server, 2).update_flags, 0);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

// Its next heartbeat, which says the same, is more than a minute away.
static void who_is_told_of_news_asks_at_once(void **unused)
{
	atomic_store(&server->rules.ttl_ms, 240000);
	start();
	WAIT_FOR(server->counters.heartbeats >= 1 && server->counters.allocs > 0);
	uint64_t beats = server->counters.heartbeats;
	responder_add_alloc(server, 1, "batch", SH("true"));
	responder_notify(server);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	assert_int_equal(server->counters.heartbeats, beats);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
	assert_int_equal(agent.counters.notices, 1);
}

// The same of virtual machines.
static void a_worker_that_is_told_of_news_asks_at_once(void **unused)
{
	atomic_store(&server->rules.ttl_ms, 240000);
	options.worker = true;
	start();
	WAIT_FOR(server->counters.heartbeats == 1 && server->counters.vms > 0);
	responder_add_machine(server, 1, "mock:debian");
	responder_notify(server);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
	assert_int_equal(agent.counters.notices, 1); // what it does about them vm_sync_test.c shows
}

// Its list lacks what the true one wants, and says to stop it; neither stops anything.
static void the_list_of_a_replaced_controller_stops_nothing(void **unused)
{
	atomic_store(&server->rules.term, 7);
	options.worker = true;
	responder_add_alloc(server, 1, "service", SH("sleep 1000"));
	responder_add_machine(server, 2, "mock:debian");
	start();
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_RUNNING);
	WAIT_FOR(responder_alloc(server, 2).client == WIRE_CLIENT_RUNNING);
	atomic_store(&server->rules.list_term, 6);
	responder_power_machine(server, 2, WIRE_VM_STOPPED);
	responder_stop_alloc(server, 1);
	uint64_t asked = server->counters.allocs;
	WAIT_FOR(server->counters.allocs >= asked + 2); // it goes on asking
	nap_ms(200);
	assert_int_equal(responder_alloc(server, 1).client, WIRE_CLIENT_RUNNING);
	assert_int_equal(responder_alloc(server, 2).client, WIRE_CLIENT_RUNNING);
	atomic_store(&server->rules.list_term, 0);
	WAIT_FOR(responder_alloc(server, 1).client == WIRE_CLIENT_COMPLETE);
	WAIT_FOR(responder_alloc(server, 2).client >= WIRE_CLIENT_COMPLETE);
	assert_int_equal(stop(SIGTERM), AGENT_LEFT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_batch_task_completes),
		TEST(what_was_sealed_wrongly_is_refused),
		TEST(an_older_controller_answers_in_clear),
		TEST(the_list_of_a_replaced_controller_stops_nothing),
		TEST(who_is_told_of_news_asks_at_once),
		TEST(a_worker_that_is_told_of_news_asks_at_once),
		TEST(a_failing_task_is_restarted_and_fails),
		TEST(a_service_is_stopped),
		TEST(what_does_not_listen_is_killed),
		TEST(a_program_that_is_not_there),
		TEST(tasks_outlive_the_agent),
		TEST(what_is_forgotten_is_removed),
		TEST(leaving_ends_the_tasks),
		TEST(reports_survive_losses_and_refusals),
		TEST(health_is_told),
		TEST(forgotten_health_is_told_again),
		TEST(after_a_silence_all_is_told_again),
		TEST(what_was_given_up_is_resumed),
		TEST(tasks_end_that_are_not_to_run_alone),
		TEST(a_worker_runs_what_is_listed),
		TEST(machines_outlive_the_agent),
		TEST(without_a_probe_a_node_is_ready),
		TEST(the_probe_is_asked_until_it_says_yes),
		TEST(a_node_that_nobody_asks_says_nothing),
		TEST(an_end_is_reported_with_what_the_probe_says),
		TEST(the_report_of_an_end_waits_for_the_probe),
		TEST(whose_fault_a_failure_is),
		TEST(output_is_rotated),
		TEST(what_expands_without_end_fails_its_task),
		TEST(what_cannot_be_set_up_for_want_of_room_is_the_nodes_fault),
		TEST(an_end_that_nobody_saw_is_the_nodes_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
