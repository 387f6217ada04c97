#include "tools/agent/task/environment.h"
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

// Tasks do not see these: credentials of the machine, and the agent's own settings.
static const char *const kept_back[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
	"AWS_SESSION_TOKEN", "CONSUL_TOKEN", "CONSUL_HTTP_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS",
	"NOMAD_TOKEN", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "VAULT_TOKEN", "WATCHDOG_USEC",
	"WATCHDOG_PID", "INVOCATION_ID"};

static uint32_t find_variable(const struct environment *e, const char *name, size_t size)
{
	uint32_t at = 0;
	while (at < e->count &&
		(strncmp(e->entries[at], name, size) != 0 || e->entries[at][size] != '='))
		at++;
	return at;
}

static void set_variable(struct environment *e, const char *name, const char *value)
{
	size_t size = strlen(name);
	uint32_t at = find_variable(e, name, size);
	if (size == 0 || strchr(name, '='))
		return;
	if (e->count + 1 >= e->capacity) {
		e->capacity = e->capacity ? e->capacity * 2 : 64;
		e->entries = memory_resize(e->entries, e->capacity * sizeof e->entries[0]);
	}
	if (at == e->count)
		e->entries[++e->count] = NULL;
	else {
		e->bytes -= strlen(e->entries[at]) + 1;
		free(e->entries[at]);
	}
	size_t room = size + strlen(value) + 2;
	e->bytes += room;
	e->entries[at] = memory_take(room);
	snprintf(e->entries[at], room, "%s=%s", name, value);
}

__attribute__((format(printf, 3, 4))) static void set_format(
	struct environment *e, const char *name, const char *format, ...)
{
	char value[1100];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(value, sizeof value, format, arguments);
	va_end(arguments);
	set_variable(e, name, value);
}

const char *environment_get(const struct environment *e, const char *name)
{
	uint32_t at = find_variable(e, name, strlen(name));
	return at < e->count ? e->entries[at] + strlen(name) + 1 : NULL;
}

void environment_free(struct environment *e)
{
	for (uint32_t i = 0; i < e->count; i++)
		free(e->entries[i]);
	free(e->entries);
	*e = (struct environment){0};
}

static void inherit(struct environment *e)
{
	for (char **at = environ; at && *at; at++) {
		const char *equals = strchr(*at, '=');
		char name[256];
		bool hide = !equals || equals == *at || equals - *at >= (int)sizeof name ||
			    strncmp(*at, "BERTH_", 6) == 0;
		if (hide)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)(equals - *at), *at);
		for (uint32_t i = 0; i < sizeof kept_back / sizeof kept_back[0]; i++)
			hide |= strcmp(name, kept_back[i]) == 0;
		if (!hide)
			set_variable(e, name, equals + 1);
	}
}

// Sets a variable under its own name, and under one that every shell can use.
static void set_named(
	struct environment *e, const char *prefix, const char *key, const char *value, bool upper)
{
	char name[400], plain[400];
	snprintf(name, sizeof name, "%s%s", prefix, key);
	snprintf(plain, sizeof plain, "%s", name);
	for (char *at = plain + strlen(prefix); *at; at++) {
		if (!isalnum((unsigned char)*at))
			*at = '_';
		if (upper)
			*at = (char)toupper((unsigned char)*at);
	}
	set_variable(e, name, value);
	set_variable(e, plain, value);
}

static void set_ports(struct environment *e, const json_t *ports)
{
	const json_t *port;
	size_t i;
	json_array_foreach(ports, i, port)
	{
		const char *label = spec_text(port, "Label"), *address = spec_text(port, "HostIP");
		json_int_t value = json_integer_value(json_object_get(port, "Value"));
		json_int_t to = json_integer_value(json_object_get(port, "To"));
		char number[24], inner[24], both[200];
		snprintf(number, sizeof number, "%lld", (long long)value);
		snprintf(inner, sizeof inner, "%lld", (long long)(to > 0 ? to : value));
		snprintf(both, sizeof both, strchr(address, ':') ? "[%.150s]:%s" : "%.150s:%s",
			address, number);
		set_named(e, "NOMAD_PORT_", label, inner, false);
		set_named(e, "NOMAD_HOST_PORT_", label, number, false);
		set_named(e, "NOMAD_IP_", label, address, false);
		set_named(e, "NOMAD_ADDR_", label, both, false);
		set_named(e, "NOMAD_HOST_IP_", label, address, false);
		set_named(e, "NOMAD_HOST_ADDR_", label, both, false);
	}
}

static void set_cores(struct environment *e, const json_t *cores)
{
	char text[1024] = "";
	size_t at = 0, i;
	const json_t *core;
	json_array_foreach(cores, i, core)
	{
		if (at < sizeof text - 16)
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", i ? "," : "",
				(long long)json_integer_value(core));
	}
	if (*text)
		set_variable(e, "NOMAD_CPU_CORES", text);
}

static void set_allocation(struct environment *e, const struct node_facts *node,
	const struct alloc_spec *spec, const struct task_spec *task)
{
	char id[UUID_TEXT_BYTES];
	uuid_format(&spec->id, id);
	set_variable(e, "NOMAD_ALLOC_ID", id);
	set_format(e, "NOMAD_SHORT_ALLOC_ID", "%.8s", id);
	set_variable(e, "NOMAD_ALLOC_NAME", spec->name);
	set_format(e, "NOMAD_ALLOC_INDEX", "%lld", (long long)spec->index);
	set_variable(e, "NOMAD_TASK_NAME", task->name);
	set_variable(e, "NOMAD_GROUP_NAME", spec->group);
	set_variable(e, "NOMAD_JOB_ID", spec->job_id);
	set_variable(e, "NOMAD_JOB_NAME", spec->job_name);
	if (*spec->job_parent_id)
		set_variable(e, "NOMAD_JOB_PARENT_ID", spec->job_parent_id);
	set_variable(e, "NOMAD_DC", node->datacenter);
	set_variable(e, "NOMAD_REGION", spec->region);
	set_variable(e, "NOMAD_NAMESPACE", spec->namespace_name);
	set_format(e, "NOMAD_CPU_LIMIT", "%lld",
		(long long)json_integer_value(json_object_get(task->json, "CPU")));
	set_format(e, "NOMAD_MEMORY_LIMIT", "%lld",
		(long long)json_integer_value(json_object_get(task->json, "MemoryMB")));
	if (json_integer_value(json_object_get(task->json, "MemoryMaxMB")) > 0)
		set_format(e, "NOMAD_MEMORY_MAX_LIMIT", "%lld",
			(long long)json_integer_value(json_object_get(task->json, "MemoryMaxMB")));
	set_cores(e, json_object_get(task->json, "Cores"));
	if (task->token_in_environment && *task->token)
		set_variable(e, "NOMAD_TOKEN", task->token);
}

__attribute__((format(printf, 3, 4))) static bool refuse_environment(
	char *message, uint32_t message_size, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, message_size, format, arguments);
	va_end(arguments);
	return false;
}

// Sets a variable of the task's own; its name may be a pattern too.
static bool set_own(struct environment *e, const struct node_facts *node, const char *prefix,
	const char *key, const char *text, char *message, uint32_t message_size)
{
	char *name = environment_expand(e, node, key), *value = environment_expand(e, node, text);
	bool fits = name && value && strlen(name) < EXPANDED_BYTES_MAX;
	if (fits && *prefix)
		set_named(e, prefix, key, value, true);
	else if (fits)
		set_variable(e, name, value);
	free(name);
	free(value);
	if (!fits)
		return refuse_environment(message, message_size,
			"the variable %.64s expands to more than %u bytes; shorten it", key,
			EXPANDED_BYTES_MAX);
	if (e->bytes > ENVIRONMENT_BYTES_MAX)
		return refuse_environment(message, message_size,
			"with the variable %.64s the environment is larger than %u bytes; shorten "
			"it",
			key, ENVIRONMENT_BYTES_MAX);
	return true;
}

// What templates made counts most.
static bool set_rendered(
	struct environment *e, char *const *variables, char *message, uint32_t message_size)
{
	for (; variables && *variables; variables++) {
		const char *equals = strchr(*variables, '=');
		char name[300];
		snprintf(name, sizeof name, "%.*s", (int)(equals - *variables), *variables);
		set_variable(e, name, equals + 1);
		if (e->bytes > ENVIRONMENT_BYTES_MAX)
			return refuse_environment(message, message_size,
				"with the variable %.64s of a template the environment is larger "
				"than %u bytes; shorten it",
				name, ENVIRONMENT_BYTES_MAX);
	}
	return true;
}

bool environment_build(struct environment *e, const struct node_facts *node,
	const struct alloc_spec *spec, const struct task_spec *task,
	const struct task_folders *folders, char *message, uint32_t message_size)
{
	const char *key;
	json_t *value;
	*e = (struct environment){0};
	inherit(e);
	set_allocation(e, node, spec, task);
	set_variable(e, "NOMAD_ALLOC_DIR", folders->alloc);
	set_variable(e, "NOMAD_TASK_DIR", folders->local);
	set_variable(e, "NOMAD_SECRETS_DIR", folders->secrets);
	set_ports(e, json_object_get(spec->root, "Ports"));
	set_ports(e, json_object_get(task->json, "Ports"));
	json_object_foreach(json_object_get(task->json, "Meta"), key, value)
	{
		if (!set_own(e, node, "NOMAD_META_", key, json_string_value(value), message,
			    message_size))
			return false;
	}
	json_object_foreach(json_object_get(task->json, "Env"), key, value)
	{
		if (!set_own(e, node, "", key, json_string_value(value), message, message_size))
			return false;
	}
	return set_rendered(e, folders->variables, message, message_size);
}

static const char *pair_value(
	const struct node_facts *node, uint8_t kind, const char *name, char *buffer, size_t size)
{
	for (uint32_t i = 0; i < node->pair_count; i++) {
		const struct wire_pair *pair = &node->pairs[i];
		if (pair->kind != kind || !text_equal(pair->name, text_of(name)))
			continue;
		snprintf(buffer, size, "%.*s", (int)pair->value.size, pair->value.data);
		return buffer;
	}
	return NULL;
}

static const char *node_value(
	const struct node_facts *node, const char *name, char *buffer, size_t size)
{
	if (strcmp(name, "unique.id") == 0 && size >= UUID_TEXT_BYTES)
		return uuid_format(&node->id, buffer);
	if (strcmp(name, "unique.name") == 0)
		return node->name;
	if (strcmp(name, "datacenter") == 0)
		return node->datacenter;
	if (strcmp(name, "class") == 0)
		return node->class_name;
	return strcmp(name, "pool") == 0 ? node->pool : NULL;
}

// The value of a name between the braces; NULL: unknown.
static const char *lookup(const struct environment *e, const struct node_facts *node, char *name,
	char *buffer, size_t size)
{
	if (strncmp(name, "attr.", 5) == 0)
		return pair_value(node, WIRE_PAIR_ATTRIBUTE, name + 5, buffer, size);
	if (strncmp(name, "meta.", 5) == 0)
		return pair_value(node, WIRE_PAIR_META, name + 5, buffer, size);
	if (strncmp(name, "node.", 5) == 0)
		return node_value(node, name + 5, buffer, size);
	if (strncmp(name, "env.", 4) == 0)
		return environment_get(e, name + 4);
	size_t length = strlen(name);
	if (strncmp(name, "env[\"", 5) == 0 && length > 7 &&
		strcmp(name + length - 2, "\"]") == 0) {
		name[length - 2] = '\0';
		const char *value = environment_get(e, name + 5);
		name[length - 2] = '"';
		return value;
	}
	return environment_get(e, name);
}

const char *environment_look_up(
	const struct environment *e, const struct node_facts *node, const char *name)
{
	static char buffer[ATTRIBUTE_VALUE_BYTES_MAX + 1];
	char own[300];
	snprintf(own, sizeof own, "%s", name);
	return lookup(e, node, own, buffer, sizeof buffer);
}

char *environment_expand(
	const struct environment *e, const struct node_facts *node, const char *text)
{
	struct bytes_writer w = bytes_writer_growing(256);
	char name[300], buffer[ATTRIBUTE_VALUE_BYTES_MAX + 1];
	while (text && *text) {
		const char *end = strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;
		const char *value = NULL;
		if (end && end - text - 2 < (int)sizeof name) {
			snprintf(name, sizeof name, "%.*s", (int)(end - text - 2), text + 2);
			value = lookup(e, node, name, buffer, sizeof buffer);
		}
		if (value) {
			bytes_put(&w, value, strlen(value));
			text = end + 1;
		} else {
			bytes_put(&w, text++, 1);
		}
		if (w.size > EXPANDED_BYTES_MAX) {
			bytes_writer_free(&w);
			return NULL;
		}
	}
	bytes_put_u8(&w, 0);
	return (char *)w.data;
}
