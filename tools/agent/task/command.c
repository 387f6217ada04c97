#include "tools/agent/task/command.h"
#include "state/base/memory.h"
#include "tools/agent/confine/confine.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void arguments_free(char **arguments)
{
	for (char **at = arguments; at && *at; at++)
		free(*at);
	free(arguments);
}

// The configuration's command and args, expanded; NULL-ended. NULL and a sentence: there is no command, or one of them
// is too long.
static char **arguments_of(const struct task_spec *spec, const struct environment *e,
	const struct node_facts *node, char *message, uint32_t message_size)
{
	const char *command = spec_text(spec->config, "command");
	const json_t *list = json_object_get(spec->config, "args");
	size_t count = json_array_size(list) + 1;
	if (!*command) {
		snprintf(message, message_size, "the configuration of %.60s has no command",
			spec->driver);
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

// What a driver does not know it would not do: isolation that was asked for, for instance.
static bool knows_options(const struct task_spec *spec, const char *const *options, char *message,
	uint32_t message_size)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)spec->config, key, value)
	{
		const char *const *option = options;
		while (*option && strcmp(*option, key) != 0)
			option++;
		if (*option)
			continue;
		snprintf(message, message_size, "the driver %.60s has no option \"%.60s\"",
			spec->driver, key);
		return false;
	}
	return true;
}

static int64_t node_number(const struct node_facts *node, const char *name)
{
	for (uint32_t i = 0; i < node->pair_count; i++) {
		const struct wire_pair *pair = &node->pairs[i];
		if (pair->kind == WIRE_PAIR_ATTRIBUTE && text_equal(pair->name, text_of(name)))
			return strtoll(pair->value.data, NULL, 10); // ends with NUL
	}
	return 0;
}

static int64_t number_of(const json_t *object, const char *key, int64_t without)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? (int64_t)json_integer_value(value) : without;
}

// A list as "2,3". False: it is too long.
static bool write_cores(const json_t *cores, char *text, size_t size)
{
	const json_t *core;
	size_t i, used = 0;

	text[0] = '\0';
	json_array_foreach(cores, i, core)
	{
		used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? "," : "",
			(int64_t)json_integer_value(core));
		if (used >= size)
			return false;
	}
	return true;
}

static bool refuse_number(const char *key, int64_t least, int64_t most, int64_t value,
	char *message, uint32_t message_size)
{
	if (value >= least && value <= most)
		return false;
	snprintf(message, message_size,
		"%s is a number from %" PRId64 " to %" PRId64 ", not %" PRId64, key, least, most,
		value);
	return true;
}

int command_limits(const struct task_spec *spec, const struct node_facts *node,
	uint32_t pids_default, struct limits *limits, char *message, uint32_t message_size)
{
	char cores[200];
	struct limits_ask ask = {.cpu_mhz = number_of(spec->json, "CPU", 0),
		.memory_mb = number_of(spec->json, "MemoryMB", 0),
		.memory_max_mb = number_of(spec->json, "MemoryMaxMB", 0),
		.pids = number_of(spec->config, "pids_limit", 0),
		.cores = cores,
		.is_cpu_hard = json_is_true(json_object_get(spec->config, "cpu_hard_limit")),
		.cpu_period_us = number_of(spec->config, "cpu_cfs_period", LIMITS_CPU_PERIOD_US),
		.node_mhz = node_number(node, "cpu.totalcompute"),
		.node_cores = node_number(node, "cpu.numcores")};

	if (refuse_number("pids_limit", 0, INT32_MAX, ask.pids, message, message_size) ||
		refuse_number("cpu_cfs_period", LIMITS_CPU_PERIOD_US_LEAST,
			LIMITS_CPU_PERIOD_US_MOST, ask.cpu_period_us, message, message_size))
		return -EINVAL;
	if (ask.pids == 0)
		ask.pids = pids_default;
	if (!write_cores(json_object_get(spec->json, "Cores"), cores, sizeof cores)) {
		snprintf(message, message_size, "the list of the task's cores is too long");
		return -EINVAL;
	}
	if (ask.is_cpu_hard && (ask.node_mhz <= 0 || ask.node_cores <= 0)) {
		snprintf(message, message_size,
			"cpu_hard_limit waits until the agent has described this node");
		return -EAGAIN;
	}
	limits_plan(limits, &ask);
	return 0;
}

// What the task asks for and this node does not do is said to whoever looks at the task.
static void say_what_is_not_enforced(
	struct task *t, const struct groups *groups, const struct limits *limits, int64_t now_ns)
{
	char missing[64];

	cgroup_controllers_text(
		limits_controllers(limits) & ~groups->controllers, missing, sizeof missing);
	if (*missing)
		task_note(t, now_ns, 0, "Driver",
			"Limits that this node does not enforce: %s (%.80s)", missing,
			*groups->fault ? groups->fault : "cgroup v2 has no such controllers here");
}

// Makes the task's group. 0 or a negative error and a sentence.
static int begin_group(struct task *t, const struct task_start *start, struct sandbox *sandbox,
	char *message, uint32_t message_size)
{
	struct limits limits;

	sandbox->group = -1;
	if (!start->confine)
		return 0;
	const struct groups *groups = &start->confine->groups;
	int error = command_limits(
		t->spec, start->node, start->confine->pids, &limits, message, message_size);
	if (error)
		return error;
	say_what_is_not_enforced(t, groups, &limits, start->now_ns);
	if (!groups->is_usable)
		return 0;
	sandbox->group = groups_begin(
		groups, &start->alloc->id, t->spec->name, &limits, message, message_size);
	return sandbox->group < 0 ? sandbox->group : 0;
}

static void end_group(
	struct task *t, const struct task_start *start, struct sandbox *sandbox, bool has_failed)
{
	if (sandbox->group >= 0)
		close(sandbox->group);
	if (has_failed && start->confine)
		(void)groups_end(&start->confine->groups, &start->alloc->id, t->spec->name);
}

static bool may_help_to_wait(int error)
{
	static const int passing[] = {EAGAIN, ENOMEM, EMFILE, ENFILE, EBUSY, ENOSPC, EDQUOT};

	for (uint32_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
		if (error == -passing[i])
			return true;
	return false;
}

static int run_command(struct task *t, const struct task_start *start, struct command *command,
	char *const *arguments, char *const *environment, char *message, uint32_t message_size)
{
	struct process_start process = {.arguments = arguments,
		.environment = environment,
		.folder = command->folders->task,
		.output_path = start->output_path,
		.error_path = start->error_path,
		.output_rule = t->spec->output_rule,
		.exit_path = start->exit_path,
		.user = t->spec->user,
		.sandbox = &command->sandbox,
		.started = start->started,
		.context = start->context};

	return process_start(&process, &t->process, message, message_size);
}

int command_start(struct task *t, const struct task_start *start, struct command *command,
	char *message, uint32_t message_size, bool *recoverable)
{
	struct environment environment;
	char **arguments = NULL;
	int error = -EINVAL;

	*recoverable = false;
	if (!knows_options(t->spec, command->options, message, message_size))
		return error;
	if (environment_build(&environment, start->node, start->alloc, t->spec, command->folders,
		    message, message_size))
		arguments = arguments_of(t->spec, &environment, start->node, message, message_size);
	if (arguments) {
		error = begin_group(t, start, &command->sandbox, message, message_size);
		if (!error)
			error = run_command(t, start, command, arguments, environment.entries,
				message, message_size);
		end_group(t, start, &command->sandbox, error != 0);
		*recoverable = may_help_to_wait(error);
	}
	arguments_free(arguments);
	environment_free(&environment);
	return error;
}

void command_signal(struct task *t, int number, int64_t now_ns)
{
	(void)now_ns;
	process_signal(&t->process, number);
}

static int start_raw_exec(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	static const char *const options[] = {COMMAND_OPTIONS, NULL};
	struct command command = {.folders = start->folders, .options = options};

	return command_start(t, start, &command, message, message_size, recoverable);
}

const struct driver driver_raw_exec = {
	.name = "raw_exec", .start = start_raw_exec, .signal = command_signal};
