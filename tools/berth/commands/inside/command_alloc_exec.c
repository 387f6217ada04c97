// berth alloc exec: a command inside a task.
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/inside/exec_talk.h"
#include "tools/http_client/http_socket.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 400u

// One that runs, of a job.
static enum exit_status find_of_job(
	struct session *session, const char *typed, char alloc[static LOOKUP_BYTES])
{
	char path[HTTP_PATH_BYTES], job[LOOKUP_BYTES], escaped[NAME_BYTES],
		namespace_name[NAME_BYTES];
	json_t *list, *a;
	size_t i;
	alloc[0] = '\0';
	enum exit_status status = lookup(session, &kind_job, typed, job);
	if (status != STATUS_OK)
		return status;
	snprintf(path, sizeof path, "/v1/job/%s/allocations?namespace=%s",
		http_escape(job, escaped, sizeof escaped),
		http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name,
			sizeof namespace_name));
	status = http_get_json(session, path, &list);
	if (status != STATUS_OK)
		return status;
	json_array_foreach(list, i, a)
	{
		if (strcmp(field_text(a, "ClientStatus"), "running") == 0)
			snprintf(alloc, LOOKUP_BYTES, "%s", field_text(a, "ID"));
	}
	json_decref(list);
	if (!*alloc)
		return complain(STATUS_NOT_FOUND, "job \"%s\" has no running allocation", job);
	return STATUS_OK;
}

// The only task of an allocation.
static enum exit_status find_only_task(
	struct session *session, const char *alloc, char task[static NAME_BYTES])
{
	char path[HTTP_PATH_BYTES], names[512] = "";
	json_t *a, *state;
	const char *name;
	size_t count = 0, at = 0;
	snprintf(path, sizeof path, "/v1/allocation/%s", alloc);
	enum exit_status status = http_get_json(session, path, &a);
	if (status != STATUS_OK)
		return status;
	json_object_foreach(json_object_get(a, "TaskStates"), name, state)
	{
		snprintf(task, NAME_BYTES, "%s", name);
		if (at < sizeof names)
			at += (size_t)snprintf(
				names + at, sizeof names - at, "%s%s", count ? ", " : "", name);
		count++;
	}
	json_decref(a);
	if (count == 1)
		return STATUS_OK;
	return count ? complain(STATUS_USAGE,
			       "the allocation has the tasks %s: name one with --task", names)
		     : complain(STATUS_REFUSED, "no task of the allocation has been started");
}

// Caller frees.
static char *exec_path(const char *alloc, const char *task, bool has_terminal, const char **words)
{
	char escaped[3 * NAME_BYTES];
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
	char alloc[LOOKUP_BYTES], task[NAME_BYTES];
	struct exec_talk talk;
	bool of_job = flag_given(flags, FLAG_JOB);
	const char **words = arguments + (of_job ? 0 : 1);
	enum exit_status status = STATUS_OK;
	words += *words && strcmp(*words, "--") == 0; // as some type it before a command
	if (!*words)
		return complain(STATUS_USAGE,
			"the command is missing; usage: berth alloc exec ID COMMAND...");
	if (!read_talk(flags, &talk))
		return STATUS_USAGE;
	status = of_job ? find_of_job(session, flags->values[FLAG_JOB], alloc)
			: lookup(session, &kind_alloc, arguments[0], alloc);
	snprintf(task, sizeof task, "%s",
		flag_given(flags, FLAG_TASK) ? flags->values[FLAG_TASK] : "");
	if (status == STATUS_OK && !*task)
		status = find_only_task(session, alloc, task);
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
