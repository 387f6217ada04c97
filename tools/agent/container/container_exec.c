#include "tools/agent/container/container_exec.h"
#include "state/base/time_units.h"
#include "tools/agent/container/engine_hijack.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of the requests about a command, which engines answer at once.
#define LOOK_MS 5000u
#define KILL_GRACE_MS 500
#define PID_TRIES 20u
#define PID_PAUSE_MS 50
#define PATH_BYTES 512u
#define GROUP_OF_PROCESS 4u // of newer kernels: PIDFD_SIGNAL_PROCESS_GROUP

// Engines take keys for "leave the command alone", and have no way to say that there are none: these are not typed.
#define KEY "ctrl-^,"
#define KEYS KEY KEY KEY KEY KEY KEY KEY "ctrl-^"

// Answers come whatever the command is told.
__attribute__((format(printf, 4, 5))) static void ask_about(
	const char *socket, const char *method, struct engine_reply *reply, const char *format, ...)
{
	struct engine steady = {.socket = socket, .signal_fd = -1};
	char path[PATH_BYTES];
	va_list values;
	va_start(values, format);
	vsnprintf(path, sizeof path, format, values);
	va_end(values);
	struct engine_request request = {.method = method, .path = path, .timeout_ms = LOOK_MS};
	engine_ask(&steady, &request, reply);
}

static bool create_exec(const struct engine *engine, const struct container_exec_start *start,
	struct container_exec *exec, char *message, uint32_t message_size)
{
	char path[PATH_BYTES];
	struct engine_reply reply;
	json_t *arguments = json_array();
	for (char *const *at = start->arguments; *at; at++)
		json_array_append_new(arguments, json_string(*at));
	json_t *body = json_pack("{s:b s:b s:b s:b s:s s:o}", "AttachStdin", start->has_input,
		"AttachStdout", true, "AttachStderr", true, "Tty", start->has_terminal,
		"DetachKeys", KEYS, "Cmd", arguments);
	snprintf(path, sizeof path, "/containers/%s/exec", start->name);
	struct engine_request request = {
		.method = "POST", .path = path, .body = body, .timeout_ms = start->timeout_ms};
	engine_ask(engine, &request, &reply);
	const char *id = json_string_value(json_object_get(reply.body, "Id"));
	bool is_good = engine_is_good(&reply) && id && *id && strlen(id) < sizeof exec->id;
	snprintf(exec->id, sizeof exec->id, "%s", is_good ? id : "");
	snprintf(message, message_size, "%s",
		reply.is_told    ? "it was not waited for"
		: *reply.message ? reply.message
		: is_good        ? ""
				 : "the engine names no command");
	engine_reply_free(&reply);
	json_decref(body);
	return is_good;
}

int container_exec_start(const struct container_exec_start *start, struct container_exec *exec,
	char *message, uint32_t message_size)
{
	char path[PATH_BYTES];
	struct engine_reply reply;
	struct engine engine = {.socket = start->socket, .signal_fd = start->stop_fd};
	*exec = (struct container_exec){.socket = start->socket, .name = start->name, .fd = -1};
	if (!*start->socket) {
		snprintf(message, message_size, "this agent was not given its engine's socket");
		return -1;
	}
	if (!create_exec(&engine, start, exec, message, message_size))
		return -1;
	json_t *body = json_pack("{s:b s:b}", "Detach", false, "Tty", start->has_terminal);
	snprintf(path, sizeof path, "/exec/%s/start", exec->id);
	struct engine_request request = {
		.method = "POST", .path = path, .body = body, .timeout_ms = start->timeout_ms};
	exec->fd = engine_hijack(&engine, &request, &reply);
	snprintf(message, message_size, "%s", reply.message);
	engine_reply_free(&reply);
	json_decref(body);
	// It may have started, and the answer did not come.
	if (exec->fd < 0 && reply.status == 0)
		container_exec_kill(exec);
	return exec->fd < 0 ? -1 : 0;
}

bool container_exec_resize(const struct container_exec *exec, uint16_t rows, uint16_t columns)
{
	struct engine_reply reply;
	ask_about(
		exec->socket, "POST", &reply, "/exec/%s/resize?h=%u&w=%u", exec->id, rows, columns);
	engine_reply_free(&reply);
	return engine_is_good(&reply);
}

bool container_exec_has_ended(
	const struct container_exec *exec, int *exit_code, char *message, uint32_t message_size)
{
	struct engine_reply reply;
	ask_about(exec->socket, "GET", &reply, "/exec/%s/json", exec->id);
	const json_t *code = json_object_get(reply.body, "ExitCode");
	bool has_ended = engine_is_good(&reply) && json_is_integer(code) &&
			 json_is_false(json_object_get(reply.body, "Running"));
	*exit_code = (int)json_integer_value(code) & 0xff;
	snprintf(message, message_size, "%s",
		*reply.message ? reply.message : "the engine does not tell how it ended");
	engine_reply_free(&reply);
	return has_ended;
}

static pid_t pid_of(const json_t *object)
{
	json_int_t pid = json_integer_value(json_object_get(object, "Pid"));
	return pid > 1 && pid < INT32_MAX ? (pid_t)pid : 0;
}

static bool are_together(pid_t one, pid_t other)
{
	char path[64];
	struct stat a, b, own;
	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)one);
	bool is_there = stat(path, &a) == 0 && stat("/proc/self/ns/pid", &own) == 0;
	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)other);
	return is_there && stat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_ino != own.st_ino;
}

static void send_signal(int pidfd, int number)
{
	// Without the rest of its group where the kernel cannot do that, or it leads none.
	if (syscall(SYS_pidfd_send_signal, pidfd, number, NULL, GROUP_OF_PROCESS) < 0)
		(void)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0); // it may have ended
}

// The number that its process has on this node, which the engine may tell a little after its start. 0: there is none.
static pid_t find_process(const struct container_exec *exec)
{
	pid_t pid = 0;
	bool is_awaited = true;
	for (uint32_t i = 0; i < PID_TRIES && is_awaited; i++) {
		struct engine_reply reply;
		if (i > 0)
			poll(NULL, 0, PID_PAUSE_MS);
		ask_about(exec->socket, "GET", &reply, "/exec/%s/json", exec->id);
		pid = pid_of(reply.body);
		is_awaited = pid == 0 && json_is_true(json_object_get(reply.body, "Running"));
		engine_reply_free(&reply);
	}
	return pid;
}

// Only a process that is in the container's namespace of processes is taken for it.
void container_exec_kill(const struct container_exec *exec)
{
	struct engine_reply reply;
	struct pollfd command = {.fd = -1, .events = POLLIN};
	pid_t pid = find_process(exec);
	ask_about(exec->socket, "GET", &reply, "/containers/%s/json", exec->name);
	pid_t first = pid_of(json_object_get(reply.body, "State"));
	if (pid && first)
		command.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (command.fd >= 0 && are_together(pid, first)) {
		send_signal(command.fd, SIGHUP);
		(void)poll(&command, 1, KILL_GRACE_MS);
		send_signal(command.fd, SIGKILL);
	}
	if (command.fd >= 0)
		close(command.fd);
	engine_reply_free(&reply);
}

bool container_exec_has_place(const char *socket, const char *name)
{
	struct engine_reply reply;
	ask_about(socket, "GET", &reply, "/containers/%s/json", name);
	bool is_there =
		reply.status != 404 &&
		!json_is_false(json_object_get(json_object_get(reply.body, "State"), "Running"));
	engine_reply_free(&reply);
	return is_there;
}
