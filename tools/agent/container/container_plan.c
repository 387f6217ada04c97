#include "tools/agent/container/container_plan.h"
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/container/plan_build.h"
#include "tools/agent/task/spec.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PULL_TIMEOUT_NS (5 * NS_PER_MIN)

extern char **environ;

bool plan_refuse(struct plan_build *b, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(b->message, b->message_size, format, values);
	va_end(values);
	return false;
}

const json_t *plan_map(const json_t *value)
{
	value = json_is_array(value) ? json_array_get(value, 0) : value;
	return json_is_object(value) ? value : NULL;
}

static bool plan_image(struct plan_build *b, const json_t *value)
{
	const char *image = json_string_value(value);
	if (!image || !*image || strlen(image) > 500)
		return plan_refuse(b, "image is the name of an image");
	if (strncmp(image, "docker://", 9) == 0)
		image += 9;
	// A name without a tag would mean all of them.
	const char *last = strrchr(image, '/');
	bool is_tagged = strchr(last ? last : image, ':') || strchr(image, '@');
	json_object_set_new(
		b->plan, "Image", json_sprintf("%s%s", image, is_tagged ? "" : ":latest"));
	return true;
}

static bool plan_pull_timeout(struct plan_build *b, const json_t *value)
{
	int64_t ns;
	if (!spec_duration(value, &ns) || ns <= 0)
		return plan_refuse(b, "image_pull_timeout is a duration, such as \"5m\"");
	json_object_set_new(b->plan, "PullTimeout", json_integer(ns));
	return true;
}

// The engine wants the alphabet of URLs.
static bool plan_auth(struct plan_build *b, const json_t *value)
{
	const json_t *auth = plan_map(value);
	const char *server = spec_text(auth, "server_address");
	json_t *said = json_pack("{s:s s:s s:s s:s}", "username", spec_text(auth, "username"),
		"password", spec_text(auth, "password"), "email", spec_text(auth, "email"),
		"serveraddress", server);
	char *text = spec_dump(said);
	char *encoded = base64_encode(text_of(text));
	for (char *at = encoded; *at; at++)
		*at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
	json_object_set_new(b->plan, "Auth", json_string(encoded));
	json_decref(said);
	free(encoded);
	free(text);
	return true;
}

static bool plan_privileged(struct plan_build *b, const json_t *value)
{
	if (json_is_true(value) && !b->settings->allows_privileged)
		return plan_refuse(b, "a privileged container is allowed on this node only with "
				      "--container-privileged");
	json_object_set(b->host, "Privileged", (json_t *)value);
	return true;
}

static bool plan_tty(struct plan_build *b, const json_t *value)
{
	json_object_set(b->plan, "Tty", (json_t *)value);
	json_object_set(b->create, "Tty", (json_t *)value);
	return true;
}

static bool plan_labels(struct plan_build *b, const json_t *value)
{
	const json_t *map = plan_map(value);
	if (map)
		json_object_update(json_object_get(b->create, "Labels"), (json_t *)map);
	return true;
}

enum option_kind { OPTION_TEXT, OPTION_TEXTS, OPTION_NUMBER, OPTION_FLAG, OPTION_MAP, OPTION_ANY };
enum option_place { IN_CREATE, IN_HOST, ELSEWHERE };

// Nomad's options of both drivers; what one of them names otherwise has two rows. What would hand the node over
// (pid_mode, ipc_mode, userns_mode, security_opt, devices) is not among them.
static const struct option {
	const char *name;
	enum option_kind kind;
	enum option_place place;
	const char *key;
	bool (*plan)(struct plan_build *, const json_t *);
} options[] = {
	{"args", OPTION_TEXTS, ELSEWHERE},
	{"auth", OPTION_MAP, ELSEWHERE, NULL, plan_auth},
	{"cap_add", OPTION_TEXTS, ELSEWHERE},
	{"cap_drop", OPTION_TEXTS, ELSEWHERE},
	{"command", OPTION_TEXT, ELSEWHERE},
	{"dns", OPTION_TEXTS, IN_HOST, "Dns"},
	{"dns_options", OPTION_TEXTS, IN_HOST, "DnsOptions"},
	{"dns_search_domains", OPTION_TEXTS, IN_HOST, "DnsSearch"},
	{"dns_servers", OPTION_TEXTS, IN_HOST, "Dns"},
	{"entrypoint", OPTION_TEXTS, IN_CREATE, "Entrypoint"},
	{"extra_hosts", OPTION_TEXTS, IN_HOST, "ExtraHosts"},
	{"force_pull", OPTION_FLAG, ELSEWHERE},
	{"group_add", OPTION_TEXTS, IN_HOST, "GroupAdd"},
	{"hostname", OPTION_TEXT, IN_CREATE, "Hostname"},
	{"image", OPTION_TEXT, ELSEWHERE, NULL, plan_image},
	{"image_pull_timeout", OPTION_ANY, ELSEWHERE, NULL, plan_pull_timeout},
	{"init", OPTION_FLAG, IN_HOST, "Init"},
	{"interactive", OPTION_FLAG, IN_CREATE, "OpenStdin"},
	{"labels", OPTION_MAP, ELSEWHERE, NULL, plan_labels},
	{"memory_hard_limit", OPTION_NUMBER, ELSEWHERE},
	{"mount", OPTION_ANY, ELSEWHERE, NULL, plan_mounts},
	{"mounts", OPTION_ANY, ELSEWHERE, NULL, plan_mounts},
	{"network_mode", OPTION_TEXT, ELSEWHERE, NULL, plan_network_mode},
	{"pids_limit", OPTION_NUMBER, IN_HOST, "PidsLimit"},
	{"port_map", OPTION_MAP, ELSEWHERE, NULL, plan_port_map},
	{"ports", OPTION_TEXTS, ELSEWHERE, NULL, plan_ports},
	{"privileged", OPTION_FLAG, ELSEWHERE, NULL, plan_privileged},
	{"readonly_rootfs", OPTION_FLAG, IN_HOST, "ReadonlyRootfs"},
	{"shm_size", OPTION_NUMBER, IN_HOST, "ShmSize"},
	{"sysctl", OPTION_MAP, IN_HOST, "Sysctls"},
	{"tmpfs", OPTION_TEXTS, ELSEWHERE, NULL, plan_tmpfs},
	{"tty", OPTION_FLAG, ELSEWHERE, NULL, plan_tty},
	{"ulimit", OPTION_MAP, ELSEWHERE, NULL, plan_ulimits},
	{"volumes", OPTION_TEXTS, ELSEWHERE, NULL, plan_volumes},
	{"work_dir", OPTION_TEXT, IN_CREATE, "WorkingDir"},
	{"working_dir", OPTION_TEXT, IN_CREATE, "WorkingDir"},
};

static bool is_of_kind(const json_t *value, enum option_kind kind)
{
	size_t i;
	const json_t *one;
	switch (kind) {
	case OPTION_TEXT: return json_is_string(value);
	case OPTION_NUMBER: return json_is_integer(value);
	case OPTION_FLAG: return json_is_boolean(value);
	case OPTION_MAP: return plan_map(value) != NULL;
	case OPTION_ANY: return true;
	case OPTION_TEXTS:
		json_array_foreach(value, i, one) if (!json_is_string(one)) return false;
		return json_is_array(value);
	}
	return false;
}

static bool plan_option(struct plan_build *b, const char *name, const json_t *value)
{
	static const char *const kinds[] = {"a text", "a list of texts", "a whole number",
		"true or false", "a map", "anything"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		const struct option *o = &options[i];
		if (strcmp(o->name, name) != 0)
			continue;
		if (!is_of_kind(value, o->kind))
			return plan_refuse(b, "%s is %s", name, kinds[o->kind]);
		if (o->plan)
			return o->plan(b, value);
		const json_t *kept = o->kind == OPTION_MAP ? plan_map(value) : value;
		if (o->place != ELSEWHERE)
			json_object_set(
				o->place == IN_HOST ? b->host : b->create, o->key, (json_t *)kept);
		return true;
	}
	return plan_refuse(
		b, "the driver %s has no option \"%.64s\" here", b->task->driver->name, name);
}

// Texts with what ${…} stands for. One that would be too long stays as it is.
static json_t *expand_texts(
	const json_t *value, const struct environment *e, const struct node_facts *node)
{
	const char *key;
	json_t *one, *made = json_is_object(value) ? json_object() : json_array();
	size_t i;
	if (json_is_string(value)) {
		char *text = environment_expand(e, node, json_string_value(value));
		json_decref(made);
		made = json_string(text ? text : json_string_value(value));
		free(text);
		return made;
	}
	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, one)
			json_object_set_new(made, key, expand_texts(one, e, node));
		return made;
	}
	if (json_is_array(value)) {
		json_array_foreach(value, i, one)
			json_array_append_new(made, expand_texts(one, e, node));
		return made;
	}
	json_decref(made);
	return json_incref((json_t *)value);
}

static bool is_agents_own(const char *entry)
{
	for (char **at = environ; at && *at; at++)
		if (strcmp(*at, entry) == 0)
			return true;
	return false;
}

// The image has an environment of its own: nothing of the agent's is added to it.
static void plan_environment(struct plan_build *b, const struct environment *e)
{
	json_t *entries = json_array();
	for (uint32_t i = 0; i < e->count; i++)
		if (!is_agents_own(e->entries[i]))
			json_array_append_new(entries, json_string(e->entries[i]));
	json_object_set_new(b->create, "Env", entries);
}

static void plan_command(struct plan_build *b)
{
	const char *command = spec_text(b->config, "command");
	const json_t *args = json_object_get(b->config, "args");
	json_t *all = json_array();
	if (*command)
		json_array_append_new(all, json_string(command));
	json_array_extend(all, (json_t *)args);
	if (json_array_size(all) > 0)
		json_object_set(b->create, "Cmd", all);
	json_decref(all);
}

// Docker asks the registry again for what may have moved.
static void plan_pulls(struct plan_build *b)
{
	const char *image = spec_text(b->plan, "Image");
	size_t size = strlen(image);
	bool may_move = size > 7 && strcmp(image + size - 7, ":latest") == 0;
	bool always = json_is_true(json_object_get(b->config, "force_pull")) ||
		      (b->engine == ENGINE_DOCKER && may_move);
	json_object_set_new(b->plan, "Pulls", json_string(always ? "always" : "missing"));
}

// What tasks write is kept by the agent; the engine keeps what it has to.
static json_t *log_config(enum container_engine engine)
{
	if (engine == ENGINE_PODMAN)
		return json_pack("{s:s}", "Type", "k8s-file");
	return json_pack("{s:s s:{s:s s:s}}", "Type", "json-file", "Config", "max-size", "2m",
		"max-file", "2");
}

// Names of containers have fewer characters than those of tasks.
void container_name(
	char name[static CONTAINER_NAME_BYTES], const char *task, const struct uuid *alloc)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	char id[UUID_TEXT_BYTES];
	snprintf(name, CONTAINER_NAME_BYTES, "%.128s-%s", task, uuid_format(alloc, id));
	for (char *at = name; *at; at++)
		if (!strchr(at == name ? "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       : letters,
			    *at))
			*at = at == name ? 't' : '_';
}

static void begin_plan(struct plan_build *b)
{
	const struct task_spec *spec = b->task->spec;
	const struct alloc_spec *alloc = b->start->alloc;
	char id[UUID_TEXT_BYTES], node[UUID_TEXT_BYTES], name[CONTAINER_NAME_BYTES];
	uuid_format(&alloc->id, id);
	uuid_format(&b->start->node->id, node);
	b->host = json_pack(
		"{s:{s:s} s:o}", "RestartPolicy", "Name", "no", "LogConfig", log_config(b->engine));
	b->create = json_pack("{s:o s:{s:s s:s s:s}}", "HostConfig", b->host, "Labels",
		"com.hashicorp.nomad.alloc_id", id, "com.hashicorp.nomad.task_name", spec->name,
		"com.hashicorp.nomad.node_id", node);
	if (*spec->user)
		json_object_set_new(b->create, "User", json_string(spec->user));
	if (*spec->kill_signal)
		json_object_set_new(b->create, "StopSignal", json_string(spec->kill_signal));
	b->plan = json_pack("{s:s s:s s:s s:I s:s s:o}", "Socket", b->settings->sockets[b->engine],
		"Engine", b->task->driver->name, "Auth", "", "PullTimeout",
		(json_int_t)PULL_TIMEOUT_NS, "Exit", b->start->exit_path, "Create", b->create);
	container_name(name, spec->name, &alloc->id);
	json_object_set_new(b->plan, "Name", json_string(name));
}

static bool fill_plan(struct plan_build *b, const struct environment *e)
{
	const char *name;
	json_t *value;
	if (!json_object_get(b->config, "image"))
		return plan_refuse(
			b, "the configuration of %s has no image", b->task->driver->name);
	if (!plan_folders(b, e) || !plan_resources(b))
		return false;
	json_object_foreach((json_t *)b->config, name, value)
	{
		if (!plan_option(b, name, value))
			return false;
	}
	if (!json_is_true(json_object_get(b->host, "Privileged")) && !plan_capabilities(b))
		return false;
	json_object_set(b->create, "Image", json_object_get(b->plan, "Image"));
	plan_environment(b, e);
	plan_command(b);
	plan_pulls(b);
	return true;
}

json_t *container_plan(const struct container_settings *settings, enum container_engine engine,
	const struct task *task, const struct task_start *start, char *message,
	uint32_t message_size)
{
	struct task_folders within = *start->folders;
	struct environment environment;
	struct plan_build b = {.settings = settings,
		.engine = engine,
		.task = task,
		.start = start,
		.message = message,
		.message_size = message_size};
	snprintf(within.alloc, sizeof within.alloc, "/alloc");
	snprintf(within.local, sizeof within.local, "/local");
	snprintf(within.secrets, sizeof within.secrets, "/secrets");
	bool is_good = environment_build(&environment, start->node, start->alloc, task->spec,
		&within, message, message_size);
	if (is_good) {
		json_t *config = expand_texts(task->spec->config, &environment, start->node);
		b.config = config;
		begin_plan(&b);
		is_good = fill_plan(&b, &environment);
		json_decref(config);
	}
	environment_free(&environment);
	if (is_good)
		return b.plan;
	json_decref(b.plan);
	return NULL;
}
