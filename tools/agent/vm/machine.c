#include "tools/agent/vm/machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOCK_PREFIX "mock:"

uint64_t machine_number(const json_t *machine, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(machine, key));
	return value > 0 ? (uint64_t)value : 0;
}

// "mock:NAME?run_for=3s&exit_code=1": the parameters are members of the driver's configuration.
static json_t *mock_config(const char *image)
{
	json_t *config = json_object();
	const char *at = strchr(image, '?');
	while (at && *++at) {
		size_t size = strcspn(at, "&"), key = strcspn(at, "=&");
		if (key > 0 && key < size)
			json_object_setn_new(
				config, at, key, json_stringn(at + key + 1, size - key - 1));
		at += size;
		if (*at == '\0')
			break;
	}
	return config;
}

static json_t *task_of(const char *image, const struct machine_settings *settings)
{
	bool is_mock = !settings->qemu || strncmp(image, MOCK_PREFIX, strlen(MOCK_PREFIX)) == 0;
	json_t *config = is_mock ? mock_config(image) : json_pack("{s:s}", "image", image);
	return json_pack("{s:s s:s s:s s:o s:I s:s s:{s:i s:s}}", "Name", MACHINE_TASK, "Driver",
		is_mock ? "mock" : "qemu", "User", is_mock ? "" : settings->user, "Config", config,
		"KillTimeout", (json_int_t)MACHINE_KILL_TIMEOUT_NS, "KillSignal", "SIGTERM",
		"RestartPolicy", "Attempts", 0, "Mode", "fail"); // the controller restarts
}

static json_t *allocation_of(
	const struct uuid *instance, json_t *machine, const struct machine_settings *settings)
{
	char id[UUID_TEXT_BYTES];
	const char *name = spec_text(machine, "name");
	return json_pack("{s:s s:s s:s s:s s:s s:o s:[o]}", "ID", uuid_format(instance, id), "Name",
		name, "JobID", name, "JobName", name, "JobType", "batch", "Machine", machine,
		"Tasks", task_of(spec_text(machine, "image"), settings));
}

// Name and uid form the name of a folder.
static bool is_nameable(const json_t *machine)
{
	const char *uid = spec_text(machine, "uid");
	return spec_is_safe_name(spec_text(machine, "name")) && (!*uid || spec_is_safe_name(uid));
}

struct alloc_spec *machine_spec_read(const char *json, size_t size, const struct uuid *instance,
	const struct machine_settings *settings, char *message, uint32_t message_size)
{
	json_error_t error;
	json_t *machine = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
	if (!machine) {
		snprintf(message, message_size, "the machine is not JSON: %.100s", error.text);
		return NULL;
	}
	if (!is_nameable(machine) || !*spec_text(machine, "image")) {
		snprintf(message, message_size, "the machine has no usable name, or no image");
		json_decref(machine);
		return NULL;
	}
	json_t *root = allocation_of(instance, machine, settings);
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	if (!text) {
		snprintf(message, message_size, "the machine has texts that are not UTF-8");
		return NULL;
	}
	struct alloc_spec *spec =
		alloc_spec_read(text, strlen(text), instance, message, message_size);
	free(text);
	return spec;
}

// Changes the JSON, too, because the agent stores that.
void machine_spec_suspend(struct alloc_spec *spec)
{
	json_t *task = json_array_get(json_object_get(spec->root, "Tasks"), 0);
	json_object_set_new(task, "KillSignal", json_string(MACHINE_SUSPEND_SIGNAL));
	json_object_set_new(task, "KillTimeout", json_integer(MACHINE_SUSPEND_TIMEOUT_NS));
	spec->tasks[0].kill_signal = MACHINE_SUSPEND_SIGNAL;
	spec->tasks[0].kill_timeout_ns = MACHINE_SUSPEND_TIMEOUT_NS;
}
