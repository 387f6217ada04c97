#include "tools/agent/container/plan_build.h"
#include <stdio.h>
#include <string.h>

static bool has_nodes_network(const struct plan_build *b)
{
	return strcmp(spec_text(b->config, "network_mode"), "host") == 0;
}

// Another's network is nothing that a task may ask for.
bool plan_network_mode(struct plan_build *b, const json_t *value)
{
	const char *mode = json_string_value(value);
	if (!mode || strchr(mode, ':') || strchr(mode, '/'))
		return plan_refuse(b,
			"network_mode is host, none, bridge or the name of a network, not "
			"\"%.64s\"",
			mode ? mode : "");
	if (*mode)
		json_object_set_new(b->host, "NetworkMode", json_string(mode));
	return true;
}

static json_t *object_in(json_t *object, const char *key)
{
	if (!json_object_get(object, key))
		json_object_set_new(object, key, json_object());
	return json_object_get(object, key);
}

// The node's port leads to the container's, by TCP and UDP.
static void publish(struct plan_build *b, const json_t *port, json_int_t inner)
{
	static const char *const protocols[] = {"tcp", "udp"};
	char key[32], outer[24];
	snprintf(outer, sizeof outer, "%lld",
		(long long)json_integer_value(json_object_get(port, "Value")));
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(key, sizeof key, "%lld/%s", (long long)inner, protocols[i]);
		json_object_set_new(object_in(b->create, "ExposedPorts"), key, json_object());
		json_t *bindings = object_in(b->host, "PortBindings");
		if (!json_object_get(bindings, key))
			json_object_set_new(bindings, key, json_array());
		json_array_append_new(json_object_get(bindings, key),
			json_pack("{s:s s:s}", "HostIp", spec_text(port, "HostIP"), "HostPort",
				outer));
	}
}

bool plan_ports(struct plan_build *b, const json_t *value)
{
	size_t i;
	const json_t *one;
	json_array_foreach(value, i, one)
	{
		const char *label = json_string_value(one);
		const json_t *port =
			label ? alloc_spec_port(b->start->alloc, b->task->spec, label) : NULL;
		if (!port)
			return plan_refuse(b, "Port \"%.64s\" not found, check network block",
				label ? label : "");
		json_int_t to = json_integer_value(json_object_get(port, "To"));
		json_int_t outer = json_integer_value(json_object_get(port, "Value"));
		if (!has_nodes_network(b))
			publish(b, port, to > 0 ? to : outer);
	}
	return true;
}

bool plan_port_map(struct plan_build *b, const json_t *value)
{
	const char *label;
	json_t *inner;
	json_object_foreach((json_t *)plan_map(value), label, inner)
	{
		const json_t *port = alloc_spec_port(b->start->alloc, b->task->spec, label);
		if (!port || json_integer_value(inner) <= 0 || json_integer_value(inner) > 65535)
			return plan_refuse(b,
				"port_map \"%.64s\" wants the label of a port and the number that "
				"it has in the container",
				label);
		if (!has_nodes_network(b))
			publish(b, port, json_integer_value(inner));
	}
	return true;
}
