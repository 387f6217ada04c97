// berth alloc exec: a command inside a task.
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/inside/exec_talk.h"
#include "tools/berth/commands/node_side/alloc_targets.h"
#include "tools/http_client/http_socket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Caller frees.
static char *exec_path(const char *alloc, const char *task, bool has_terminal, const char **words)
{
	char escaped[3 * LOOKUP_BYTES];
	struct bytes_writer w = bytes_writer_growing(256);
	json_t *command = json_array();
	for (; *words; words++)
		json_array_append_new(command, json_string(*words));
	char *text = json_dumps(command, JSON_COMPACT);
	size_t room = text ? 3 * strlen(text) + 8 : 8;
	char *escaped_text = memory_take(room);
	http_escape(text ? text : "", escaped_text, room);
	http_escape(task, escaped, sizeof escaped);
	const char *const parts[] = {"/v1/client/allocation/", alloc, "/exec?task=", escaped,
		"&tty=", has_terminal ? "true" : "false", "&command=", escaped_text};
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		bytes_put(&w, parts[i], strlen(parts[i]));
	bytes_put_u8(&w, 0);
	json_decref(command);
	free(text);
	free(escaped_text);
	return (char *)w.data;
}

// What the flags say of the talk. False after a complaint.
static bool read_talk(const struct flags *flags, struct exec_talk *talk)
{
	const char *escape = flags->values[FLAG_ESCAPE];
	bool is_terminal = isatty(STDIN_FILENO) == 1;
	talk->passes_input = !flag_is_refused(flags, FLAG_INTERACTIVE);
	talk->has_terminal = flag_given(flags, FLAG_TTY) ||
			     (is_terminal && isatty(STDOUT_FILENO) == 1 && talk->passes_input &&
				     !flag_is_refused(flags, FLAG_TTY));
	talk->escape = strcmp(escape, "none") == 0 ? '\0' : escape[0];
	if (strcmp(escape, "none") != 0 && strlen(escape) != 1) {
		complain(STATUS_USAGE, "--escape is one character or none, not \"%s\"", escape);
		return false;
	}
	if (talk->has_terminal && !talk->passes_input) {
		complain(STATUS_USAGE, "--tty needs standard input: leave --interactive=false out");
		return false;
	}
	return true;
}

enum exit_status alloc_exec(struct session *session, const char **arguments, int count)
{
	const struct flags *flags = &session->flags;
	char alloc[LOOKUP_BYTES], task[LOOKUP_BYTES];
	struct exec_talk talk;
	bool of_job = flag_given(flags, FLAG_JOB);
	const char **words = arguments + (of_job ? 0 : 1);
	enum exit_status status;
	int used;
	words += *words && strcmp(*words, "--") == 0; // as some type it before a command
	if (!*words)
		return complain(STATUS_USAGE,
			"the command is missing; usage: berth alloc exec ID COMMAND...");
	if (!read_talk(flags, &talk))
		return STATUS_USAGE;
	status = of_job ? alloc_target(session, NULL, 0, alloc, &used)
			: lookup(session, &kind_alloc, arguments[0], alloc);
	if (status == STATUS_OK)
		status = alloc_target_task(session, alloc, NULL, true, task);
	if (status != STATUS_OK)
		return status;
	char *path = exec_path(alloc, task, talk.has_terminal, words);
	struct http_socket *socket =
		http_begin_socket(session, path, EXEC_TALK_MESSAGE_BYTES, &status);
	free(path);
	if (socket)
		status = exec_talk(socket, &talk);
	http_socket_close(socket);
	return status;
}
