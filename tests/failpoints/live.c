#include "tests/failpoints/live.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tests/failpoints/words.h"
#include "tests/support/etcd/etcd_server.h"
#include "tools/agent/base/folders.h"
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define LOG_BYTES (1u << 20)
#define CGROUPS "/sys/fs/cgroup/"

extern char **environ;

static const char *const logs[LIVE_PROGRAMS] = {"controller.log", "agent.log"};

void live_nap_ms(uint32_t ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l};
	nanosleep(&t, NULL);
}

uint64_t live_now_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

static pid_t spawn_into(const struct live *l, const struct words *c, const char *file, int flags)
{
	posix_spawn_file_actions_t actions;
	char path[128];
	pid_t pid;

	snprintf(path, sizeof path, "%s/%s", l->folder, file);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(
		&actions, STDOUT_FILENO, path, O_WRONLY | O_CREAT | flags, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	int error = posix_spawn(&pid, c->at[0], &actions, NULL, c->at, environ);
	if (error != 0)
		fail_msg("%s: %s", c->at[0], strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	return pid;
}

static void run_to_end(const struct live *l, const struct words *c, const char *file)
{
	int status;

	pid_t pid = spawn_into(l, c, file, O_TRUNC);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("%s %s: %#x", c->at[0], c->at[1], (unsigned)status);
}

static void read_line(const struct live *l, const char *file, char *text, size_t room)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", l->folder, file);
	FILE *from = fopen(path, "re");
	assert_non_null(from);
	assert_non_null(fgets(text, (int)room, from));
	text[strcspn(text, "\n")] = '\0';
	fclose(from);
}

static void make_keys(struct live *l)
{
	struct words masters = {0}, id = {0}, key = {0};

	words_add(&masters, "%s", l->programs[LIVE_CONTROLLER]);
	words_add(&masters, "genkey");
	words_add(&masters, "%s/master.key", l->folder);
	run_to_end(l, &masters, "unused");
	words_add(&id, "%s", l->programs[LIVE_AGENT]);
	words_add(&id, "--print-id");
	words_add(&id, "--state-dir=%s", l->folder);
	run_to_end(l, &id, "id");
	read_line(l, "id", l->node, sizeof l->node);
	words_add(&key, "%s", l->berth);
	words_add(&key, "node");
	words_add(&key, "key");
	words_add(&key, "%s", l->node);
	words_add(&key, "--master-key=%s/master.key", l->folder);
	run_to_end(l, &key, "node.key");
}

void live_begin(struct live *l, const char *controller, const char *agent, const char *berth)
{
	char points[96];

	*l = (struct live){.programs = {controller, agent}, .berth = berth};
	snprintf(l->folder, sizeof l->folder, "/tmp/berth-live-XXXXXX");
	assert_non_null(mkdtemp(l->folder));
	snprintf(l->group, sizeof l->group, "%s.slice", l->folder + strlen("/tmp/"));
	make_keys(l);
	l->wire_port = free_port();
	l->http_port = free_port();
	l->client = http_client_create();
	assert_non_null(l->client);
	snprintf(points, sizeof points, "@%s/points", l->folder);
	assert_int_equal(failpoints_share(points + 1), 0);
	assert_int_equal(setenv("BERTH_FAILPOINTS", points, 1), 0);
}

static void add_controller_words(struct words *c, const struct live *l)
{
	static const char *const settings[] = {"ports.0.io=socket",
		"ports.0.addresses=127.0.0.1,127.0.0.2", "dataplane.huge=no", "limits.nodes=1000",
		"limits.jobs=1000", "limits.allocations=4000", "limits.place_requests=1000",
		"limits.evaluations=5000", "wire.ttl_ms=1800", "wire.restart_grace_ms=5000",
		"liveness.mass_percent=100", "http.connections_max=64", NULL};

	words_add(c, "%s", l->programs[LIVE_CONTROLLER]);
	words_add_settings(c, settings);
	words_add(c, "--data_dir=%s/data", l->folder);
	words_add(c, "--master_key_file=%s/master.key", l->folder);
	words_add(c, "--http.socket.path=%s/http", l->folder);
	words_add(c, "--http.port=%u", l->http_port);
	words_add(c, "--wire.udp_port=%u", l->wire_port);
}

static void add_agent_words(struct words *c, const struct live *l)
{
	words_add(c, "%s", l->programs[LIVE_AGENT]);
	words_add(c, "--server=127.0.0.1:%u", l->wire_port);
	words_add(c, "--source=127.0.0.1");
	words_add(c, "--state-dir=%s", l->folder);
	words_add(c, "--data-dir=%s/tasks", l->folder);
	words_add(c, "--cgroup-parent=%s", l->group);
}

void live_start(struct live *l, enum live_program which)
{
	struct words c = {0};

	if (which == LIVE_CONTROLLER)
		add_controller_words(&c, l);
	else
		add_agent_words(&c, l);
	assert_int_equal(l->pids[which], 0);
	l->pids[which] = spawn_into(l, &c, logs[which], O_APPEND);
}

bool live_ends(struct live *l, enum live_program which, uint32_t wait_ms, int *status)
{
	for (uint32_t waited_ms = 0;; waited_ms += 5) {
		if (l->pids[which] == 0 ||
			waitpid(l->pids[which], status, WNOHANG) == l->pids[which]) {
			l->pids[which] = 0;
			return true;
		}
		if (waited_ms >= wait_ms)
			return false;
		live_nap_ms(5);
	}
}

void live_kill(struct live *l, enum live_program which)
{
	int status;

	if (l->pids[which] == 0)
		return;
	kill(l->pids[which], SIGKILL);
	assert_true(live_ends(l, which, 20000, &status));
}

void live_must_run(struct live *l)
{
	int status = 0;

	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++)
		if (l->pids[i] && live_ends(l, (enum live_program)i, 0, &status)) {
			live_print_logs(l);
			fail_msg("%s ended with %#x", l->programs[i], (unsigned)status);
		}
}

static int remove_live_group(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return kind == FTW_DP ? rmdir(path) : 0;
}

// The agent takes its tasks along when it leaves.
static void stop_agent(struct live *l)
{
	int status;

	if (l->pids[LIVE_AGENT] == 0)
		return;
	kill(l->pids[LIVE_AGENT], SIGTERM);
	if (!live_ends(l, LIVE_AGENT, 20000, &status))
		live_kill(l, LIVE_AGENT);
}

void live_end(struct live *l)
{
	char path[128];

	stop_agent(l);
	live_kill(l, LIVE_CONTROLLER);
	http_client_destroy(l->client);
	snprintf(path, sizeof path, CGROUPS "%s", l->group);
	(void)nftw(path, remove_live_group, 8, FTW_DEPTH | FTW_PHYS);
	folder_remove(AT_FDCWD, l->folder);
}

struct asking {
	struct http_beginning kept;
	struct live *live;
};

static bool take_piece(void *context, long status, const char *data, size_t size)
{
	struct asking *a = context;

	http_beginning_take(&a->kept, data, size);
	return true;
}

static void take_index(void *context, const char *line, size_t size)
{
	static const char name[] = "x-nomad-index:";
	const struct asking *a = context;

	if (size >= sizeof name && strncasecmp(line, name, sizeof name - 1) == 0)
		a->live->index = strtoull(line + sizeof name - 1, NULL, 10);
}

static bool leave_at_once(void *context, long status, const char *data, size_t size)
{
	return false;
}

static struct http_request request_for(
	const struct live *l, char url[static 64], const char *path, uint32_t timeout_ms)
{
	snprintf(url, 64, "http://127.0.0.1:%u", l->http_port);
	return (struct http_request){.url = url, .path = path, .timeout_ms = timeout_ms};
}

long live_ask(struct live *l, const char *method, const char *path, const char *body,
	uint32_t timeout_ms, char *answer, size_t room)
{
	char url[64];
	struct http_request request = request_for(l, url, path, timeout_ms);
	struct http_result result;

	*answer = '\0';
	l->index = 0;
	request.method = method;
	request.body = body;
	request.body_size = body ? strlen(body) : 0;
	request.take_body = take_piece;
	request.take_header = take_index;
	request.context = &(struct asking){{answer, room, 0}, l};
	return http_client_ask(l->client, &request, &result) ? result.status : 0;
}

static long ask_into_answer(struct live *l, const char *method, const char *path, const char *body)
{
	return live_ask(l, method, path, body, 3000, l->answer, sizeof l->answer);
}

long live_get(struct live *l, const char *path)
{
	return ask_into_answer(l, NULL, path, NULL);
}

long live_put(struct live *l, const char *path, const char *body, ...)
{
	char text[1500];
	va_list arguments;

	va_start(arguments, body);
	int size = vsnprintf(text, sizeof text, body, arguments);
	va_end(arguments);
	assert_in_range(size, 0, sizeof text - 1);
	return ask_into_answer(l, "PUT", path, text);
}

json_t *live_get_json(struct live *l, const char *path)
{
	return live_get(l, path) == 200 ? json_loads(l->answer, 0, NULL) : NULL;
}

bool live_first_has(struct live *l, const char *path, const char *member, char *text, size_t room)
{
	json_t *list = live_get_json(l, path);
	const char *value = json_string_value(json_object_get(json_array_get(list, 0), member));

	snprintf(text, room, "%s", value ? value : "");
	json_decref(list);
	return *text;
}

bool live_first_is(struct live *l, const char *path, const char *member, const char *wanted)
{
	char found[40];

	return live_first_has(l, path, member, found, sizeof found) && strcmp(found, wanted) == 0;
}

void live_run_job(struct live *l, const struct live_job *job)
{
	long status = live_put(l, "/v1/jobs",
		"{\"Job\":{\"ID\":\"%s\",\"Name\":\"%s\",\"Type\":\"%s\",\"Datacenters\":[\"*\"],"
		"\"TaskGroups\":[{\"Name\":\"g\",\"Count\":%u,\"MaxClientDisconnect\":"
		"3600000000000,"
		"\"RestartPolicy\":{\"Attempts\":0,\"Interval\":60000000000,\"Delay\":1000000000,"
		"\"Mode\":\"fail\"},\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"raw_exec\",%s"
		"\"Resources\":{\"CPU\":%u,\"MemoryMB\":16},\"Config\":{\"command\":\"/bin/sh\","
		"\"args\":[\"-c\",\"echo $NOMAD_ALLOC_ID >>%s/ran; %s\"]}}]}]}}",
		job->id, job->id, job->type, job->count ? job->count : 1,
		job->more ? job->more : "", job->cpu, l->folder, job->script ? job->script : "");
	if (status != 200)
		fail_msg("%s: the job %s was not registered: %s", l->doing, job->id, l->answer);
}

void live_look_in(struct live *l, const char *path, uint32_t timeout_ms)
{
	char url[64];
	struct http_request request = request_for(l, url, path, timeout_ms);
	struct http_result result;

	request.take_body = leave_at_once;
	(void)http_client_ask(l->client, &request, &result);
}

double live_metric(struct live *l, const char *name)
{
	static char text[LOG_BYTES];
	double sum = 0;
	size_t size = strlen(name);

	if (live_ask(l, NULL, "/v1/metrics?format=prometheus", NULL, 5000, text, sizeof text) !=
		200)
		return -1;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, size) == 0 && (line[size] == ' ' || line[size] == '{'))
			sum += strtod(line + strcspn(line, " \n"), NULL);
	}
	return sum;
}

// From where the logs were marked, with a NUL. To be freed.
static char *read_log(const struct live *l, enum live_program which)
{
	char path[128], *text = memory_take(LOG_BYTES);

	snprintf(path, sizeof path, "%s/%s", l->folder, logs[which]);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : pread(fd, text, LOG_BYTES - 1, l->log_from[which]);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return text;
}

void live_mark_logs(struct live *l)
{
	struct stat found;
	char path[128];

	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++) {
		snprintf(path, sizeof path, "%s/%s", l->folder, logs[i]);
		l->log_from[i] = stat(path, &found) == 0 ? found.st_size : 0;
	}
}

bool live_said(struct live *l, const char *text)
{
	bool is_said = false;

	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++) {
		char *log = read_log(l, (enum live_program)i);
		is_said |= strstr(log, text) != NULL;
		free(log);
	}
	return is_said;
}

void live_print_logs(struct live *l)
{
	for (uint32_t i = 0; i < LIVE_PROGRAMS; i++) {
		char *log = read_log(l, (enum live_program)i);
		fprintf(stderr, "%s:\n%s", logs[i], log); // cmocka's own cuts what is long
		free(log);
	}
}

void live_give_up(struct live *l, const char *what)
{
	live_print_logs(l);
	fail_msg("%s: never: %s (%.2000s)", l->doing, what, l->answer);
	abort();
}

uint32_t live_runs(const struct live *l, const char *allocation)
{
	char path[96], line[64];
	uint32_t runs = 0;

	snprintf(path, sizeof path, "%s/ran", l->folder);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		runs += strncmp(line, allocation, strlen(allocation)) == 0;
	if (file)
		fclose(file);
	return runs;
}
