#include "tools/berth/cli/run.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/terminal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Completes ids in place. Caller frees *ids after the command.
static enum exit_status complete_ids(struct session *session, const struct command *command,
	const char **arguments, int count, char (**ids)[LOOKUP_BYTES])
{
	bool all = strstr(command->arguments, "ID]...") || strstr(command->arguments, "ID...");
	int of = !command->kind ? 0 : all ? count : count ? 1 : 0;
	*ids = of ? memory_take_array((size_t)of, sizeof **ids) : NULL;
	for (int i = 0; i < of; i++) {
		enum exit_status status = lookup(session, command->kind, arguments[i], (*ids)[i]);
		if (status != STATUS_OK)
			return status;
		arguments[i] = (*ids)[i];
	}
	return STATUS_OK;
}

// As long as the command itself takes, at least: a list of a large fleet is work for the controller.
static void pause_watch(uint64_t interval_s, uint64_t took_ns)
{
	uint64_t ns = interval_s * NS_PER_S > took_ns ? interval_s * NS_PER_S : took_ns;
	struct timespec pause = {
		.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
	nanosleep(&pause, NULL);
}

static enum exit_status watch(
	struct session *session, const struct command *command, const char **arguments, int count)
{
	uint64_t interval_s = 2;
	char message[256];
	if (!flag_number(
		    &session->flags, FLAG_INTERVAL, 1, 86400, &interval_s, message, sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	for (;;) {
		uint64_t begin = time_monotonic_ns(&time_source_real);
		fputs(terminal_is_output() ? TERMINAL_CLEAR : "", stdout);
		enum exit_status status = command->run(session, arguments, count);
		if (fflush(stdout) != 0 || status != STATUS_OK)
			return status;
		pause_watch(interval_s, time_monotonic_ns(&time_source_real) - begin);
		puts("");
	}
}

// What --output says besides lists: json is --json, and other forms are for lists.
static enum exit_status judge_output(
	struct session *session, const struct command *command, int count)
{
	const char *output = session->flags.values[FLAG_OUTPUT];
	bool is_one = count > 0 && strcmp(command->arguments, "[ID]") == 0;
	if (output && strcmp(output, "json") == 0)
		session->flags.values[FLAG_JSON] = "";
	else if (output && is_one && strcmp(output, "table") != 0)
		return complain(STATUS_USAGE,
			"--output %s is for lists; of one thing there is "
			"--output json",
			output);
	return STATUS_OK;
}

enum exit_status run_with(
	struct session *session, const struct command *command, const char **arguments, int count)
{
	char(*ids)[LOOKUP_BYTES] = NULL;
	session->http = http_open(&session->flags);
	enum exit_status status = judge_output(session, command, count);
	if (status == STATUS_OK)
		status = complete_ids(session, command, arguments, count, &ids);
	bool repeats = flag_given(&session->flags, FLAG_WATCH) ||
		       (command->is_live && terminal_is_output());
	if (status == STATUS_OK && repeats)
		status = watch(session, command, arguments, count);
	else if (status == STATUS_OK)
		status = command->run(session, arguments, count);
	http_close(session->http);
	free(ids);
	return status;
}
