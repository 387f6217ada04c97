#include "tools/agent/task/mock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NULL: neither the configuration nor the metadata have it.
static const json_t *mock_member(const struct task_spec *task, const char *name)
{
	char key[48];
	const json_t *value = json_object_get(task->config, name);
	snprintf(key, sizeof key, "mock.%s", name);
	return value ? value : json_object_get(json_object_get(task->json, "Meta"), key);
}

static int64_t duration(const struct task_spec *task, const char *name)
{
	int64_t ns = 0;
	const json_t *value = mock_member(task, name);
	return value && spec_duration(value, &ns) ? ns : 0;
}

// Metadata hold numbers as text.
static int small_number(const struct task_spec *task, const char *name)
{
	const json_t *value = mock_member(task, name);
	long long number = json_is_string(value) ? strtoll(json_string_value(value), NULL, 10)
						 : (long long)json_integer_value(value);
	return number >= 0 && number <= 255 ? (int)number : 255;
}

static bool flag(const struct task_spec *task, const char *name)
{
	const json_t *value = mock_member(task, name);
	const char *text = json_string_value(value);
	return json_is_true(value) || (text && strcmp(text, "true") == 0);
}

struct mock_rules mock_rules_read(const struct task_spec *task)
{
	const char *error = json_string_value(mock_member(task, "start_error"));
	return (struct mock_rules){.ends = mock_member(task, "run_for") != NULL,
		.run_ns = duration(task, "run_for"),
		.start_block_ns = duration(task, "start_block_for"),
		.kill_after_ns = duration(task, "kill_after"),
		.exit_code = small_number(task, "exit_code"),
		.exit_signal = small_number(task, "exit_signal"),
		.start_error = error ? error : "",
		.error_is_recoverable = flag(task, "start_error_recoverable"),
		.error_is_nodes_fault = flag(task, "infrastructure"),
		.is_remote = flag(task, "remote")};
}

#define HANDLE_VERSION 1u

void mock_handle_write(struct handle *handle, int64_t ends_ns)
{
	handle->version = HANDLE_VERSION;
	handle->size = (uint32_t)snprintf(
		handle->bytes, sizeof handle->bytes, "{\"Ends\":%lld}", (long long)ends_ns);
}

bool mock_handle_read(const struct handle *handle, int64_t *ends_ns)
{
	json_t *state = handle->version == HANDLE_VERSION
				? json_loadb(handle->bytes, handle->size, 0, NULL)
				: NULL;
	const json_t *ends = json_object_get(state, "Ends");
	bool good = json_is_integer(ends) && json_integer_value(ends) >= 0;
	*ends_ns = good ? (int64_t)json_integer_value(ends) : 0;
	json_decref(state);
	return good;
}
