// Driver exec: a command that sees nothing of its node but the programs, its own folders and its own processes.
#include "tools/agent/base/folders.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/task/command.h"
#include "tools/agent/task/volumes.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const exec_options[] = {
	COMMAND_OPTIONS, "pid_mode", "ipc_mode", "cap_add", "cap_drop", NULL};

// The task's folders, from its own root.
static const struct task_folders inner_folders = {
	.alloc = "/alloc", .local = "/local", .secrets = "/secrets", .task = "/"};

static bool read_mode(
	const json_t *config, const char *key, bool *is_own, char *message, uint32_t message_size)
{
	const char *mode = spec_text(config, key);

	*is_own = strcmp(mode, "host") != 0;
	if (!*mode || !*is_own || strcmp(mode, "private") == 0)
		return true;
	snprintf(message, message_size, "%s is \"private\" or \"host\", not \"%.40s\"", key, mode);
	return false;
}

// What the configuration says of isolation. False and a sentence: something is refused.
static bool read_sandbox(const struct task_spec *spec, const struct confine *confine,
	struct sandbox *s, char *message, uint32_t message_size)
{
	const json_t *add = json_object_get(spec->config, "cap_add");
	const json_t *drop = json_object_get(spec->config, "cap_drop");

	return read_mode(spec->config, "pid_mode", &s->has_own_pids, message, message_size) &&
	       read_mode(spec->config, "ipc_mode", &s->has_own_ipc, message, message_size) &&
	       confine_may_run_as(confine, spec->user, message, message_size) &&
	       capabilities_choose(
		       &s->capabilities, confine->allowed, add, drop, message, message_size);
}

static bool read_volumes(struct task_volumes *volumes, const struct task_spec *spec,
	const struct task_start *start, char *message, uint32_t message_size)
{
	struct environment environment;
	bool is_good = environment_build(&environment, start->node, start->alloc, spec,
			       &inner_folders, message, message_size) &&
		       task_volumes_read(volumes, start->alloc, spec, &environment, start->node,
			       message, message_size);
	environment_free(&environment);
	for (uint32_t i = 0; is_good && i < volumes->count; i++) {
		if (mount_target_is_free(volumes->mounts[i].target))
			continue;
		snprintf(message, message_size,
			"a volume cannot be mounted at /%.100s: what is there is the node's, or "
			"the "
			"allocation's",
			volumes->mounts[i].target);
		is_good = false;
	}
	return is_good;
}

static int prepare_mounts(const struct task_start *start, const struct task_volumes *volumes,
	struct mount_plan *plan, char *message, uint32_t message_size)
{
	struct mount_ask ask = {.task_folder = start->folders->task,
		.alloc_folder = start->folders->alloc,
		.hidden = (const char *const *)start->confine->hidden,
		.volumes = volumes->mounts,
		.volume_count = volumes->count};
	int folder = folder_open(ask.task_folder);
	int error = folder < 0 ? folder : 0;

	mount_plan_make(plan, &ask);
	if (!error) {
		error = mount_plan_prepare(plan, folder);
		close(folder);
	}
	if (error)
		snprintf(message, message_size, "cannot prepare the task's file system: %s",
			strerror(-error));
	return error;
}

static int start_exec(struct task *t, const struct task_start *start, char *message,
	uint32_t message_size, bool *recoverable)
{
	struct mount_plan plan;
	struct task_volumes volumes;
	struct command command = {.folders = &inner_folders, .options = exec_options};
	struct sandbox *s = &command.sandbox;

	*recoverable = false;
	if (!start->confine || geteuid() != 0) {
		snprintf(message, message_size, "Driver must run as root");
		return -EPERM;
	}
	if (!read_sandbox(t->spec, start->confine, s, message, message_size) ||
		!read_volumes(&volumes, t->spec, start, message, message_size))
		return -EINVAL;
	int error = prepare_mounts(start, &volumes, &plan, message, message_size);
	if (error)
		return error;
	s->is_isolated = true;
	s->mounts = &plan;
	s->filter = &start->confine->filter;
	return command_start(t, start, &command, message, message_size, recoverable);
}

const struct driver driver_exec = {.name = "exec", .start = start_exec, .signal = command_signal};
