// /v1/client/allocation/:id/exec: a command inside a task, over a WebSocket. Nearly all that is wrong is said in the
// frame that closes it, because clients show nothing else.
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tools/agent/exec/exec_container.h"
#include "tools/agent/exec/exec_frame.h"
#include "tools/agent/exec/exec_session.h"
#include "tools/agent/service/exec_target.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_socket.h"
#include <ctype.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX 1024u
#define CONTAINER_START_MS 30000u

struct exec_ask {
	const struct agent_service_settings *settings;
	char id[SERVICE_ID_BYTES];
	char *task;
	char **arguments; // NULL-ended
	bool has_terminal, has_handshake;
	char *wrong_handshake; // what was said instead of a boolean; NULL: nothing
};

// Of this process, commands that run or are about to.
static _Atomic uint32_t commands;

static void exec_ask_free(void *context)
{
	struct exec_ask *a = context;
	for (char **at = a->arguments; at && *at; at++)
		free(*at);
	free(a->arguments);
	free(a->task);
	free(a->wrong_handshake);
	free(a);
}

static char **arguments_of_list(const json_t *list)
{
	size_t count = json_array_size(list);
	char **arguments = memory_take_array(count + 1, sizeof arguments[0]);
	for (size_t i = 0; i < count; i++)
		arguments[i] = text_copy(text_of(json_string_value(json_array_get(list, i))));
	return arguments;
}

static bool is_command(const json_t *list)
{
	size_t count = json_array_size(list);
	for (size_t i = 0; i < count; i++)
		if (!json_is_string(json_array_get(list, i)))
			return false;
	return json_is_array(list) && count <= ARGUMENTS_MAX;
}

// NULL, and what is wrong, when it is no list of texts.
static char **read_command(const char *text, char *message, size_t message_size)
{
	json_error_t error;
	json_t *list = json_loads(text, JSON_DECODE_ANY, &error);
	char **arguments = is_command(list) ? arguments_of_list(list) : NULL;
	if (!*text)
		snprintf(message, message_size, "unexpected end of JSON input");
	else if (!list && isalpha((unsigned char)*text))
		snprintf(message, message_size,
			"invalid character '%c' looking for beginning of value", *text);
	else if (!list)
		snprintf(message, message_size, "%.100s", error.text);
	else
		snprintf(message, message_size, "it is no list of at most %u strings",
			ARGUMENTS_MAX);
	json_decref(list);
	return arguments;
}

static int start_beside_process(const struct exec_ask *a, const struct exec_target *target,
	struct exec_command *command, char *message, uint32_t message_size)
{
	struct exec_place place;
	struct exec_command_start start = {.arguments = a->arguments,
		.environment = target->environment.entries,
		.folder = target->folder,
		.place = &place,
		.has_terminal = a->has_terminal};
	int error = exec_place_find(&place, &target->process, target->user, message, message_size);
	place.filter = target->filter;
	if (!error)
		error = exec_command_start(&start, command, message, message_size);
	exec_place_close(&place);
	return error;
}

static int start_in_container(const struct exec_ask *a, const struct exec_target *target,
	int stop_fd, struct exec_command *command, char *message, uint32_t message_size)
{
	struct exec_container_start start = {.socket = target->socket,
		.name = target->container,
		.arguments = a->arguments,
		.has_input = true,
		.has_terminal = a->has_terminal,
		.timeout_ms = CONTAINER_START_MS,
		.stop_fd = stop_fd};
	return exec_container_start(&start, command, message, message_size);
}

static int run_command(const struct exec_ask *a, const struct exec_target *target,
	struct web_socket *socket, const struct web_socket_stream *stream, int stop_fd)
{
	struct exec_command command;
	char message[300], reason[400];
	int error =
		target->socket
			? start_in_container(a, target, stop_fd, &command, message, sizeof message)
			: start_beside_process(a, target, &command, message, sizeof message);
	if (error) {
		snprintf(reason, sizeof reason,
			"rpc error: code = Unknown desc = failed to start command: %s", message);
		exec_session_refuse(socket, stream, EXEC_FAILED, reason, stop_fd);
		return -1;
	}
	int exit_code = exec_session_run(socket, stream, &command, stop_fd);
	exec_command_finish(&command);
	return exit_code;
}

// Its arguments may be secrets and are not told.
static void log_command(const struct exec_ask *a, const char *event, const char *result)
{
	char program[200], task[200];
	log_info(event, "alloc=%s task=%s command=%s tty=%s%s", a->id,
		log_quote(a->task, task, sizeof task),
		log_quote(a->arguments[0], program, sizeof program),
		a->has_terminal ? "true" : "false", result);
}

static void run_counted(const struct exec_ask *a, struct web_socket *socket,
	const struct web_socket_stream *stream, int stop_fd)
{
	char reason[WEB_SOCKET_CONTROL_BYTES], result[32];
	struct exec_target target;
	uint16_t code =
		exec_target_find(a->settings, a->id, a->task, &target, reason, sizeof reason);
	if (!code && !a->arguments[0]) {
		code = EXEC_REFUSED;
		snprintf(reason, sizeof reason, "command is not present");
	}
	if (code) {
		exec_session_refuse(socket, stream, code, reason, stop_fd);
	} else {
		log_command(a, "exec", "");
		int exit_code = run_command(a, &target, socket, stream, stop_fd);
		snprintf(result, sizeof result, " exit=%d", exit_code);
		log_command(a, "exec-ended", exit_code < 0 ? " exit=none" : result);
	}
	exec_target_free(&target);
}

static void talk_exec(void *context, struct web_socket *socket,
	const struct web_socket_stream *stream, int stop_fd)
{
	const struct exec_ask *a = context;
	char reason[WEB_SOCKET_CONTROL_BYTES];
	if (a->wrong_handshake) {
		snprintf(reason, sizeof reason,
			"ws_handshake value is not a boolean: strconv.ParseBool: parsing "
			"\"%.20s\": "
			"invalid syntax",
			a->wrong_handshake);
		exec_session_refuse(socket, stream, EXEC_REFUSED, reason, stop_fd);
		return;
	}
	if (a->has_handshake && !exec_session_greet(socket, stream, stop_fd))
		return;
	if (a->settings->no_exec) {
		exec_session_refuse(socket, stream, EXEC_REFUSED,
			"this node runs no commands inside tasks: its agent has --no-exec",
			stop_fd);
		return;
	}
	if (atomic_fetch_add(&commands, 1) >= EXEC_COMMANDS_MAX)
		exec_session_refuse(socket, stream, EXEC_FAILED,
			"this node runs as many commands inside tasks as it may; try again later",
			stop_fd);
	else
		run_counted(a, socket, stream, stop_fd);
	atomic_fetch_sub(&commands, 1);
}

struct MHD_Response *alloc_exec(struct service_request *request, unsigned *status)
{
	char message[160];
	const char *command = service_parameter(request, "command");
	const char *task = service_parameter(request, "task");
	struct exec_ask *a = memory_take(sizeof *a);
	struct service_socket_start start = {talk_exec, a, exec_ask_free, EXEC_MESSAGE_BYTES_MAX};
	a->settings = request->settings;
	snprintf(a->id, sizeof a->id, "%s", request->id);
	a->task = text_copy(text_of(task ? task : ""));
	a->arguments = read_command(command ? command : "", message, sizeof message);
	if (!a->arguments) {
		exec_ask_free(a);
		return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"failed to marshal command into json: %s", message);
	}
	if (!service_parameter_bool(request, "tty", &a->has_terminal)) {
		exec_ask_free(a);
		return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"tty value is not a boolean: strconv.ParseBool: parsing \"%.100s\": "
			"invalid "
			"syntax",
			service_parameter(request, "tty"));
	}
	if (!service_parameter_bool(request, "ws_handshake", &a->has_handshake))
		a->wrong_handshake = text_copy(text_of(service_parameter(request, "ws_handshake")));
	return service_socket_begin(request, status, &start);
}
