#include "tools/agent/task/spec.h"
#include "state/base/check.h"
#include "state/base/library/library_memory.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KILL_TIMEOUT_NS (5 * NS_PER_S)
// Three decades: added to the present time it does not overflow.
#define DURATION_NS_MAX 1000000000000000000ll

const char *spec_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

char *spec_dump(const json_t *json)
{
	CHECK(json);
	return memory_or_end(json_dumps(json, JSON_COMPACT));
}

static int64_t number(const json_t *object, const char *key, int64_t without)
{
	const json_t *value = json_object_get(object, key);
	return json_is_integer(value) ? (int64_t)json_integer_value(value) : without;
}

static double unit_s(const char *unit, size_t size)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
	for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strlen(units[i].name) == size && strncmp(units[i].name, unit, size) == 0)
			return units[i].seconds;
	return 0;
}

static bool is_duration(int64_t ns)
{
	return ns >= 0 && ns <= DURATION_NS_MAX;
}

static bool read_duration(const char *text, int64_t *ns)
{
	double seconds = 0;
	if (!*text)
		return false;
	while (*text) {
		char *end;
		double amount = strtod(text, &end);
		size_t size = strcspn(end, "0123456789.+-");
		double unit = unit_s(end, size);
		if (end == text || unit == 0 || !isfinite(amount) || amount < 0)
			return false;
		seconds += amount * unit;
		text = end + size;
	}
	if (seconds >= (double)DURATION_NS_MAX / NS_PER_S)
		return false;
	*ns = (int64_t)(seconds * NS_PER_S);
	return true;
}

bool spec_duration(const json_t *value, int64_t *ns)
{
	if (json_is_integer(value)) {
		*ns = (int64_t)json_integer_value(value);
		return is_duration(*ns);
	}
	return json_is_string(value) && read_duration(json_string_value(value), ns);
}

bool spec_is_safe_name(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) <= 128;
}

bool spec_is_inner_path(const char *path)
{
	if (*path == '/' || strlen(path) > 256)
		return false;
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
			return false;
	}
	return true;
}

static enum task_hook hook_of(const json_t *lifecycle)
{
	const char *hook = spec_text(lifecycle, "Hook");
	if (strcmp(hook, "prestart") == 0)
		return HOOK_PRESTART;
	if (strcmp(hook, "poststart") == 0)
		return HOOK_POSTSTART;
	return strcmp(hook, "poststop") == 0 ? HOOK_POSTSTOP : HOOK_MAIN;
}

// Main tasks of service and system jobs run for ever, others come to an end.
static bool runs_for_ever(const struct alloc_spec *spec, const struct task_spec *task)
{
	if (task->hook != HOOK_MAIN)
		return task->sidecar;
	return strcmp(spec->job_type, "service") == 0 || strcmp(spec->job_type, "system") == 0;
}

#define LOG_FILES 10
#define LOG_FILE_MB 10
#define LOG_FILES_MAX 10000
#define LOG_FILE_MB_MAX (1024 * 1024)

static struct output_rule output_rule_of(const json_t *log_config)
{
	int64_t files = number(log_config, "MaxFiles", LOG_FILES);
	int64_t megabytes = number(log_config, "MaxFileSizeMB", LOG_FILE_MB);
	bool is_usable = files > 0 && files <= LOG_FILES_MAX && megabytes > 0 &&
			 megabytes <= LOG_FILE_MB_MAX;

	return (struct output_rule){.files_max = (uint32_t)(is_usable ? files : LOG_FILES),
		.file_bytes_max = (uint64_t)(is_usable ? megabytes : LOG_FILE_MB) << 20,
		.is_disabled = json_is_true(json_object_get(log_config, "Disabled"))};
}

// Confined tasks are nobody's unless they say otherwise.
static const char *user_of(const json_t *task)
{
	const char *user = spec_text(task, "User");
	bool is_confined = strcmp(spec_text(task, "Driver"), "exec") == 0;

	return !*user && is_confined ? "nobody" : user;
}

static bool read_task(const struct alloc_spec *spec, const json_t *json, struct task_spec *task)
{
	const json_t *restart = json_object_get(json, "RestartPolicy");
	const json_t *lifecycle = json_object_get(json, "Lifecycle");
	const json_t *handle = json_object_get(json, "TaskHandle");
	const json_t *identity = json_object_get(json, "Identity");
	*task = (struct task_spec){.name = spec_text(json, "Name"),
		.driver = spec_text(json, "Driver"),
		.user = user_of(json),
		.kill_signal = spec_text(json, "KillSignal"),
		.payload_file = spec_text(json_object_get(json, "DispatchPayload"), "File"),
		.token = spec_text(identity, "Token"),
		.token_in_environment = json_is_true(json_object_get(identity, "Env")),
		.token_in_file = json_is_true(json_object_get(identity, "File")),
		.hook = hook_of(lifecycle),
		.sidecar = json_is_true(json_object_get(lifecycle, "Sidecar")),
		.leader = json_is_true(json_object_get(json, "Leader")),
		.kill_timeout_ns = number(json, "KillTimeout", KILL_TIMEOUT_NS),
		.has_handle = json_is_object(handle),
		.handle_version = number(handle, "Version", 0),
		.handle = spec_text(handle, "DriverState"),
		.json = json,
		.config = json_object_get(json, "Config")};
	task->restart = (struct restart_rule){.attempts = number(restart, "Attempts", 0),
		.interval_ns = number(restart, "Interval", 0),
		.delay_ns = number(restart, "Delay", 0),
		.waits = strcmp(spec_text(restart, "Mode"), "delay") == 0,
		.on_success = runs_for_ever(spec, task)};
	task->output_rule = output_rule_of(json_object_get(json, "LogConfig"));
	return spec_is_safe_name(task->name) && spec_is_inner_path(task->payload_file) &&
	       is_duration(task->kill_timeout_ns) && is_duration(task->restart.delay_ns) &&
	       is_duration(task->restart.interval_ns);
}

static bool read_tasks(struct alloc_spec *spec, const json_t *tasks)
{
	for (uint32_t i = 0; i < spec->task_count; i++) {
		if (!read_task(spec, json_array_get(tasks, i), &spec->tasks[i]))
			return false;
		for (uint32_t other = 0; other < i; other++)
			if (strcmp(spec->tasks[i].name, spec->tasks[other].name) == 0)
				return false;
	}
	return true;
}

const struct task_spec *alloc_spec_task(const struct alloc_spec *spec, const char *name)
{
	for (uint32_t i = 0; i < spec->task_count; i++)
		if (strcmp(spec->tasks[i].name, name) == 0)
			return &spec->tasks[i];
	return NULL;
}

static const json_t *port_in(const json_t *ports, const char *label)
{
	size_t i;
	const json_t *port;
	json_array_foreach(
		ports, i, port) if (strcmp(spec_text(port, "Label"), label) == 0) return port;
	return NULL;
}

const json_t *alloc_spec_port(
	const struct alloc_spec *spec, const struct task_spec *task, const char *label)
{
	const json_t *own = task ? port_in(json_object_get(task->json, "Ports"), label) : NULL;
	return own ? own : port_in(json_object_get(spec->root, "Ports"), label);
}

#define MIN_HEALTHY_TIME_NS (10 * NS_PER_S)
#define HEALTHY_DEADLINE_NS (5 * NS_PER_MIN)

// Without an update strategy nobody asks for health; migrations always do.
static struct health_rule health_rule_of(const json_t *rule, bool without)
{
	const char *check = spec_text(rule, "HealthCheck");
	return (struct health_rule){
		.min_healthy_time_ns = number(rule, "MinHealthyTime", MIN_HEALTHY_TIME_NS),
		.healthy_deadline_ns = number(rule, "HealthyDeadline", HEALTHY_DEADLINE_NS),
		.by_hand = rule ? strcmp(check, "manual") == 0 : without,
		.by_checks = strcmp(check, "checks") == 0};
}

static bool read_rules(struct alloc_spec *spec)
{
	spec->update = health_rule_of(json_object_get(spec->root, "Update"), true);
	spec->migrate = health_rule_of(json_object_get(spec->root, "Migrate"), false);
	spec->stop_after_disconnect_ns = number(spec->root, "StopAfterClientDisconnect", 0);
	return is_duration(spec->update.min_healthy_time_ns) &&
	       is_duration(spec->update.healthy_deadline_ns) &&
	       is_duration(spec->migrate.min_healthy_time_ns) &&
	       is_duration(spec->migrate.healthy_deadline_ns) &&
	       is_duration(spec->stop_after_disconnect_ns);
}

struct alloc_spec *alloc_spec_read(
	const char *json, size_t size, const struct uuid *id, char *message, uint32_t message_size)
{
	json_error_t error;
	struct uuid said;
	json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &error);
	if (!root) {
		snprintf(message, message_size, "the description is not JSON: %.100s", error.text);
		return NULL;
	}
	const json_t *tasks = json_object_get(root, "Tasks");
	size_t count = json_array_size(tasks);
	if (count == 0 || count > SPEC_TASKS_MAX || !uuid_parse(spec_text(root, "ID"), &said) ||
		(id && !uuid_equal(&said, id))) {
		snprintf(message, message_size, "the description has no tasks, or is another's");
		json_decref(root);
		return NULL;
	}
	struct alloc_spec *spec = memory_take(sizeof *spec + count * sizeof spec->tasks[0]);
	*spec = (struct alloc_spec){.root = root,
		.id = said,
		.name = spec_text(root, "Name"),
		.namespace_name = spec_text(root, "Namespace"),
		.job_id = spec_text(root, "JobID"),
		.job_name = spec_text(root, "JobName"),
		.job_parent_id = spec_text(root, "JobParentID"),
		.job_type = spec_text(root, "JobType"),
		.region = spec_text(root, "Region"),
		.group = spec_text(root, "TaskGroup"),
		.deployment_id = spec_text(root, "DeploymentID"),
		.payload = spec_text(root, "Payload"),
		.index = number(root, "Index", 0),
		.is_machine = json_object_get(root, "Machine") != NULL,
		.task_count = (uint32_t)count};
	if (read_rules(spec) && read_tasks(spec, tasks))
		return spec;
	snprintf(message, message_size,
		"a task has no usable name or payload file, or a number is out of range");
	alloc_spec_free(spec);
	return NULL;
}

void alloc_spec_free(struct alloc_spec *spec)
{
	if (!spec)
		return;
	json_decref(spec->root);
	free(spec);
}
