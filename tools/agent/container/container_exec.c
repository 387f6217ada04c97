#include "tools/agent/container/container_exec.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/agent/container/container_output.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of the requests about a command, which engines answer at once.
#define LOOK_MS 5000u
// An engine may learn of the end of a command a little after the end of its output.
#define END_TRIES 40u
#define END_PAUSE_MS 50
#define PATH_BYTES 512u
#define EXIT_OF_SIGNALS 128 // and above

struct exec_run {
	const struct container_exec *exec;
	struct engine engine;
	char id[128]; // of the command
	char *message;
	uint32_t message_size;
	uint64_t end_ms; // monotonic
};

static uint64_t clock_ms(void)
{
	return time_monotonic_ns(&time_source_real) / NS_PER_MS;
}

// 1 at least: 0 would be without an end.
static uint32_t ms_left(const struct exec_run *r)
{
	uint64_t now_ms = clock_ms();
	uint64_t left_ms = now_ms < r->end_ms ? r->end_ms - now_ms : 1;
	return left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX;
}

static bool is_late(const struct exec_run *r)
{
	return clock_ms() >= r->end_ms;
}

// Answers come whatever the command is told.
__attribute__((format(printf, 3, 4))) static void ask_about(
	const struct exec_run *r, struct engine_reply *reply, const char *format, ...)
{
	struct engine steady = {.socket = r->exec->socket, .signal_fd = -1};
	char path[PATH_BYTES];
	va_list values;
	va_start(values, format);
	vsnprintf(path, sizeof path, format, values);
	va_end(values);
	struct engine_request request = {.method = "GET", .path = path, .timeout_ms = LOOK_MS};
	engine_ask(&steady, &request, reply);
}

static bool create_exec(struct exec_run *r)
{
	char path[PATH_BYTES];
	struct engine_reply reply;
	json_t *arguments = json_array();
	for (char *const *at = r->exec->arguments; *at; at++)
		json_array_append_new(arguments, json_string(*at));
	json_t *body = json_pack(
		"{s:b s:b s:o}", "AttachStdout", true, "AttachStderr", true, "Cmd", arguments);
	snprintf(path, sizeof path, "/containers/%s/exec", r->exec->name);
	struct engine_request request = {
		.method = "POST", .path = path, .body = body, .timeout_ms = ms_left(r)};
	engine_ask(&r->engine, &request, &reply);
	const char *id = json_string_value(json_object_get(reply.body, "Id"));
	snprintf(r->id, sizeof r->id, "%s", id ? id : "");
	snprintf(r->message, r->message_size, "%s", reply.message);
	bool is_good = engine_is_good(&reply) && *r->id;
	engine_reply_free(&reply);
	json_decref(body);
	return is_good;
}

// Returns when its output ends.
static bool start_exec_in(struct exec_run *r)
{
	char path[PATH_BYTES];
	struct engine_reply reply;
	struct container_output output = {.taker = r->exec->sink, .context = r->exec->context};
	json_t *body = json_pack("{s:b s:b}", "Detach", false, "Tty", false);
	snprintf(path, sizeof path, "/exec/%s/start", r->id);
	struct engine_request request = {.method = "POST",
		.path = path,
		.body = body,
		.timeout_ms = ms_left(r),
		.sink = container_output_take,
		.context = &output};
	engine_ask(&r->engine, &request, &reply);
	snprintf(
		r->message, r->message_size, "%s", reply.is_told ? "it was killed" : reply.message);
	bool is_good = engine_is_good(&reply);
	engine_reply_free(&reply);
	json_decref(body);
	return is_good;
}

static bool end_of_exec(struct exec_run *r, int *exit_code)
{
	for (uint32_t i = 0; i < END_TRIES && !is_late(r); i++) {
		struct engine_reply reply;
		ask_about(r, &reply, "/exec/%s/json", r->id);
		bool is_over = engine_is_good(&reply) &&
			       json_is_false(json_object_get(reply.body, "Running"));
		*exit_code = (int)json_integer_value(json_object_get(reply.body, "ExitCode"));
		snprintf(r->message, r->message_size, "%s", reply.message);
		engine_reply_free(&reply);
		if (is_over)
			return true;
		poll(NULL, 0, END_PAUSE_MS);
	}
	return false;
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

// The engine tells the number that its process has on this node. Only one that is in the container's namespace of
// processes is taken for it.
static void kill_exec(const struct exec_run *r)
{
	struct engine_reply of_exec, of_container;
	ask_about(r, &of_exec, "/exec/%s/json", r->id);
	ask_about(r, &of_container, "/containers/%s/json", r->exec->name);
	pid_t pid = pid_of(of_exec.body);
	pid_t first = pid_of(json_object_get(of_container.body, "State"));
	int fd = pid && first ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (fd >= 0 && are_together(pid, first))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0); // it may have ended
	if (fd >= 0)
		close(fd);
	engine_reply_free(&of_exec);
	engine_reply_free(&of_container);
}

static bool has_container(const struct exec_run *r)
{
	struct engine_reply reply;
	ask_about(r, &reply, "/containers/%s/json", r->exec->name);
	bool is_there =
		reply.status != 404 &&
		!json_is_false(json_object_get(json_object_get(reply.body, "State"), "Running"));
	engine_reply_free(&reply);
	return is_there;
}

enum container_exec_end container_exec_run(
	const struct container_exec *exec, int *exit_code, char *message, uint32_t message_size)
{
	struct exec_run r = {.exec = exec,
		.engine = {.socket = exec->socket, .signal_fd = exec->stop_fd},
		.message = message,
		.message_size = message_size,
		.end_ms = clock_ms() + exec->timeout_ms};
	bool is_created = create_exec(&r);
	bool has_ended = is_created && start_exec_in(&r) && end_of_exec(&r, exit_code);
	if (has_ended && *exit_code < EXIT_OF_SIGNALS)
		return CONTAINER_EXEC_ENDED;
	if (is_created && !has_ended)
		kill_exec(&r);
	if (!has_container(&r))
		return CONTAINER_EXEC_GONE;
	return has_ended     ? CONTAINER_EXEC_ENDED
	       : is_late(&r) ? CONTAINER_EXEC_LATE
			     : CONTAINER_EXEC_NOT;
}
