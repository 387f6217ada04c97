#include "tests/tools/agent/container/podman_stage.h"
#include "tools/agent/confine/capabilities.h"
#include "tools/agent/container/engine.h"
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct wire_pair pairs[] = {{WIRE_PAIR_VOLUME, {"etc", 3}, {"ro /etc", 7}}};
const struct node_facts podman_facts = {.name = "n",
	.datacenter = "dc1",
	.class_name = "",
	.pool = "default",
	.pairs = pairs,
	.pair_count = 1};
const struct uuid podman_id = {{0xa1}};
char podman_folder[] = "/tmp/berth-podman-XXXXXX";
char podman_socket[64];
bool podman_has_groups;
static pid_t service, registry;
struct container_settings podman_settings = {
	.program = BERTH_AGENT, .capabilities = CAPABILITIES_DEFAULT};

extern char **environ;

// It goes on while the engine begins anew.
static void start_registry(void)
{
	char script[] = REGISTRY, path[64];
	char *const arguments[] = {script, podman_folder, NULL};
	snprintf(path, sizeof path, "%s/registry", podman_folder);
	assert_int_equal(posix_spawn(&registry, script, NULL, NULL, arguments, environ), 0);
	STAGE_AWAIT(access(path, F_OK) == 0, 0);
	assert_int_equal(access(path, F_OK), 0);
}

void podman_start_service(void)
{
	char script[] = PODMAN_SERVICE, enabled[] = "enabled", disabled[] = "disabled";
	char *const arguments[] = {
		script, podman_folder, podman_has_groups ? enabled : disabled, NULL};
	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	assert_int_equal(posix_spawn(&service, script, NULL, &attributes, arguments, environ), 0);
	STAGE_AWAIT(access(podman_socket, F_OK) == 0, 0);
	assert_int_equal(access(podman_socket, F_OK), 0);
}

void podman_stop_service(void)
{
	kill(-service, SIGKILL);
	waitpid(service, NULL, 0);
	unlink(podman_socket);
}

int podman_begin(void **unused)
{
	assert_non_null(mkdtemp(podman_folder));
	snprintf(podman_socket, sizeof podman_socket, "%s/sock", podman_folder);
	podman_settings.sockets[ENGINE_DOCKER] = "";
	podman_settings.sockets[ENGINE_PODMAN] = podman_socket;
	container_configure(&podman_settings);
	start_registry();
	podman_start_service();
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

int podman_end_all(void **unused)
{
	podman_stop_service();
	kill(registry, SIGKILL);
	waitpid(registry, NULL, 0);
	return nftw(podman_folder, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int podman_open(void **unused)
{
	stage_open(&podman_facts);
	return 0;
}

int podman_close(void **unused)
{
	podman_settings.allows_privileged = podman_settings.allows_volumes = false;
	return stage_close();
}

struct alloc_run *podman_run(const char *type, const char *further, const char *config)
{
	char task[2000];
	snprintf(task, sizeof task,
		"{\"Name\":\"a\",\"Driver\":\"podman\",%s\"Config\":{\"network_mode\":\"host\",%s}"
		"}",
		further, config);
	return stage_run(&podman_id, type, "\"Volumes\":{\"v\":{\"Source\":\"etc\"}},", task);
}

static bool passes_until(bool (*holds)(const struct task *))
{
	struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};
	if (holds(&runner_find(&runner, &podman_id)->tasks[0]))
		return true;
	poll(&polled, 1, 10);
	stage_pass_ms(100);
	return false;
}

void podman_pass_until(bool (*holds)(const struct task *))
{
	bool is_so = false;
	STAGE_AWAIT((is_so = passes_until(holds)), 0);
	if (!is_so)
		fail_msg("it takes too long");
}

bool podman_has_ended(const struct task *t)
{
	return task_is_over(t);
}

const char *podman_noted(const struct task *t, const char *type)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0)
			return t->notes[i].message;
	return "";
}

void podman_read(const struct alloc_run *a, const char *which, char text[static 2000])
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

bool podman_has_written(const struct task *t)
{
	char text[2000];
	podman_read(runner_find(&runner, &podman_id), "stdout", text);
	return *text && task_runs(t);
}

size_t podman_count(void)
{
	struct engine engine = {.socket = podman_socket, .signal_fd = -1};
	struct engine_request request = {.method = "GET", .path = "/containers/json?all=true"};
	struct engine_reply reply;
	engine_ask(&engine, &request, &reply);
	assert_true(json_is_array(reply.body));
	size_t count = json_array_size(reply.body);
	engine_reply_free(&reply);
	return count;
}

void podman_expect_none(void)
{
	assert_int_equal(podman_count(), 0);
}

void podman_end(struct alloc_run *a)
{
	runner_stop(&runner, a);
	podman_pass_until(podman_has_ended);
	podman_expect_none();
}
