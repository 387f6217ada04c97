#include "tools/agent/confine/capabilities.h"
#include "tools/agent/container/plan_build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1ll << 20)
#define CPU_SHARES_MIN 2

// What runtimes give where nobody asks.
static const char usual[] = CAPABILITIES_DEFAULT ",net_raw";

static json_int_t number_in(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void pin_to_cores(struct plan_build *b, const json_t *cores)
{
	char text[1024] = "";
	size_t size = 0, i;
	const json_t *core;
	json_array_foreach(cores, i, core)
	{
		if (size < sizeof text - 16)
			size += (size_t)snprintf(text + size, sizeof text - size, "%s%lld",
				i ? "," : "", (long long)json_integer_value(core));
	}
	if (*text)
		json_object_set_new(b->host, "CpusetCpus", json_string(text));
}

// A task that may borrow memory is reclaimed from down to what it asked for.
bool plan_resources(struct plan_build *b)
{
	const json_t *task = b->task->spec->json;
	json_int_t cpu = number_in(task, "CPU"), memory = number_in(task, "MemoryMB");
	json_int_t most = number_in(task, "MemoryMaxMB"),
		   own = number_in(b->config, "memory_hard_limit");
	json_int_t limit = own > memory ? own : most > memory ? most : memory;
	if (memory > 0) {
		json_object_set_new(b->host, "Memory", json_integer(limit * MIB));
		json_object_set_new(b->host, "MemorySwap", json_integer(limit * MIB));
	}
	if (memory > 0 && limit > memory)
		json_object_set_new(b->host, "MemoryReservation", json_integer(memory * MIB));
	if (cpu > 0)
		json_object_set_new(b->host, "CpuShares",
			json_integer(cpu > CPU_SHARES_MIN ? cpu : CPU_SHARES_MIN));
	pin_to_cores(b, json_object_get(task, "Cores"));
	return true;
}

// The name without CAP_, in small letters.
static void plain_name(const char *name, char plain[static 40])
{
	if (strncasecmp(name, "cap_", 4) == 0)
		name += 4;
	snprintf(plain, 40, "%s", name);
	for (char *at = plain; *at; at++)
		*at |= *at >= 'A' && *at <= 'Z' ? 0x20 : 0;
}

static bool list_has(const char *list, const char *name)
{
	size_t size = strlen(name);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0'))
			return true;
	}
	return false;
}

static bool names_have(const json_t *names, const char *name)
{
	size_t i;
	const json_t *one;
	char plain[40];
	json_array_foreach(names, i, one)
	{
		plain_name(json_string_value(one) ? json_string_value(one) : "", plain);
		if (strcmp(plain, name) == 0 || strcmp(plain, "all") == 0)
			return true;
	}
	return false;
}

static void give_capability(json_t *list, const char *name)
{
	char upper[48];
	snprintf(upper, sizeof upper, "%s%s", strcmp(name, "all") == 0 ? "" : "CAP_", name);
	for (char *at = upper; *at; at++)
		*at &= *at >= 'a' && *at <= 'z' ? ~0x20 : ~0;
	json_array_append_new(list, json_string(upper));
}

// All are taken away, and those that are left given one by one: those of runtimes that this node allows, without
// those that the task drops, with those that it asks for.
bool plan_capabilities(struct plan_build *b)
{
	const char *allowed = b->settings->capabilities;
	const json_t *wanted = json_object_get(b->config, "cap_add"), *name;
	const json_t *dropped = json_object_get(b->config, "cap_drop");
	bool all = list_has(allowed, "all");
	char plain[40];
	size_t i;
	json_t *given = json_array();
	json_object_set_new(b->host, "CapDrop", json_pack("[s]", "ALL"));
	json_object_set_new(b->host, "CapAdd", given);
	for (const char *at = usual; *at; at += strcspn(at, ","), at += *at == ',') {
		snprintf(plain, sizeof plain, "%.*s", (int)strcspn(at, ","), at);
		if ((all || list_has(allowed, plain)) && !names_have(dropped, plain))
			give_capability(given, plain);
	}
	json_array_foreach(wanted, i, name)
	{
		plain_name(json_string_value(name) ? json_string_value(name) : "", plain);
		if (!all && !list_has(allowed, plain))
			return plan_refuse(b,
				"this node does not allow the capability \"%.40s\"; it allows "
				"%.200s",
				plain, *allowed ? allowed : "none");
		give_capability(given, plain);
	}
	return true;
}

// "2048:4096", "2048" or 2048.
bool plan_ulimits(struct plan_build *b, const json_t *value)
{
	const char *name;
	json_t *limit, *made = json_array();
	json_object_set_new(b->host, "Ulimits", made);
	json_object_foreach((json_t *)plan_map(value), name, limit)
	{
		const char *text = json_string_value(limit);
		char *end = NULL;
		long long soft = text ? strtoll(text, &end, 10) : json_integer_value(limit);
		long long hard = end && *end == ':' ? strtoll(end + 1, &end, 10) : soft;
		if ((text && (end == text || *end)) || (!text && !json_is_integer(limit)))
			return plan_refuse(b, "ulimit %.32s is a number, or SOFT:HARD", name);
		json_array_append_new(made, json_pack("{s:s s:I s:I}", "Name", name, "Soft",
						    (json_int_t)soft, "Hard", (json_int_t)hard));
	}
	return true;
}
