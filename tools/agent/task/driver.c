// Drivers: raw_exec runs a process as it is, mock runs nothing and pretends.
#include "state/base/memory.h"
#include "tools/agent/task/mock.h"
#include "tools/agent/task/task.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct driver *driver_find(const struct driver *const *table, const char *name)
{
	for (; *table; table++)
		if (strcmp((*table)->name, name) == 0)
			return *table;
	return NULL;
}

static void arguments_free(char **arguments)
{
	for (char **at = arguments; at && *at; at++)
		free(*at);
	free(arguments);
}

// The configuration's command and args, expanded; NULL-ended. NULL and a sentence: there is no command, or one of them
// is too long.
static char **arguments_of(const json_t *config, const struct environment *e,
	const struct node_facts *node, char *message, uint32_t message_size)
{
	const char *command = spec_text(config, "command");
	const json_t *list = json_object_get(config, "args");
	size_t count = json_array_size(list) + 1;
	if (!*command) {
		snprintf(message, message_size, "the configuration of raw_exec has no command");
		return NULL;
	}
	char **arguments = memory_take_array(count + 1, sizeof arguments[0]);
	for (size_t i = 0; i < count; i++) {
		const char *text = i ? json_string_value(json_array_get(list, i - 1)) : command;
		arguments[i] = environment_expand(e, node, text ? text : "");
		if (arguments[i])
			continue;
		snprintf(message, message_size,
			"argument %zu expands to more than %u bytes; shorten it", i,
			EXPANDED_BYTES_MAX);
		arguments_free(arguments);
		return NULL;
	}
	return arguments;
}

static int start_process(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	struct environment environment;
	*recoverable = false;
	char **arguments = NULL;
	if (environment_build(&environment, start->node, start->alloc, t->spec, start->folders,
		    message, message_size))
		arguments = arguments_of(
			t->spec->config, &environment, start->node, message, message_size);
	int error = -EINVAL;
	if (arguments) {
		struct process_start process = {.arguments = arguments,
			.environment = environment.entries,
			.folder = start->folders->task,
			.output_path = start->output_path,
			.error_path = start->error_path,
			.output_rule = t->spec->output_rule,
			.exit_path = start->exit_path,
			.user = t->spec->user,
			.started = start->started,
			.context = start->context};
		error = process_start(&process, &t->process, message, message_size);
		*recoverable = error == -EAGAIN || error == -ENOMEM || error == -EMFILE;
	}
	arguments_free(arguments);
	environment_free(&environment);
	return error;
}

static void signal_process(struct task *t, int number, int64_t now_ns)
{
	(void)now_ns;
	process_signal(&t->process, number);
}

const struct driver driver_raw_exec = {
	.name = "raw_exec", .start = start_process, .signal = signal_process};

static void pretend(struct task *t, const struct mock_rules *rules, int64_t ends_ns)
{
	t->mock = (struct mock){.ends_ns = ends_ns,
		.kill_after_ns = rules->kill_after_ns,
		.exit_code = rules->exit_code,
		.exit_signal = rules->exit_signal};
	if (rules->is_remote)
		mock_handle_write(&t->handle, ends_ns);
}

static int start_mock(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	struct mock_rules rules = mock_rules_read(t->spec);
	*recoverable = rules.error_is_recoverable;
	if (*rules.start_error) {
		snprintf(message, message_size, "%s", rules.start_error);
		return rules.error_is_nodes_fault ? -EIO : -EINVAL;
	}
	// 0: the task runs until it is told to end.
	pretend(t, &rules, rules.ends ? start->now_ns + rules.start_block_ns + rules.run_ns : 0);
	return 0;
}

// A pretended task's time runs on while no agent runs.
static bool resume_mock(struct task *t, const struct task_start *start, const struct handle *handle)
{
	struct mock_rules rules = mock_rules_read(t->spec);
	int64_t ends_ns;
	(void)start;
	if (!rules.is_remote || !mock_handle_read(handle, &ends_ns))
		return false;
	pretend(t, &rules, ends_ns);
	return true;
}

static void signal_mock(struct task *t, int number, int64_t now_ns)
{
	bool forced = number == SIGKILL;
	t->mock.ends_ns = now_ns + (forced ? 0 : t->mock.kill_after_ns);
	t->mock.exit_code = 0;
	t->mock.exit_signal = forced ? SIGKILL : 0;
}

static bool mock_has_ended(const struct task *t, int64_t now_ns, struct process_end *how)
{
	*how = (struct process_end){t->mock.exit_code, t->mock.exit_signal, true};
	return t->mock.ends_ns && now_ns >= t->mock.ends_ns;
}

const struct driver driver_mock = {.name = "mock",
	.start = start_mock,
	.resume = resume_mock,
	.signal = signal_mock,
	.has_ended = mock_has_ended};
