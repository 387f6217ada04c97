// Commands for operators: servers, garbage collection, the schedulers' configuration.
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mark_leader(json_t *members, const char *leader)
{
	size_t i;
	json_t *member;
	json_array_foreach(members, i, member)
	{
		char address[400];
		snprintf(address, sizeof address, "%s:%s", field_text(member, "Addr"),
			field_text(json_object_get(member, "Tags"), "port"));
		json_object_set_new(member, "Leader", json_boolean(strcmp(address, leader) == 0));
	}
}

static enum exit_status put_members(struct session *session, json_t *members, const char *leader)
{
	struct flags *flags = &session->flags;
	mark_leader(members, leader);
	if (flag_given(flags, FLAG_DETAILED) && !flag_given(flags, FLAG_COLUMNS))
		flags->values[FLAG_COLUMNS] = "name,address,port,tags";
	return list_print_items(session, &list_servers, members);
}

enum exit_status server_members(struct session *session, const char **arguments, int count)
{
	json_t *members, *leader = NULL;
	enum exit_status result = http_get_json(session, "/v1/agent/members", &members);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		field_print(members);
	} else if (result == STATUS_OK) {
		result = http_get_json(session, "/v1/status/leader", &leader);
		const char *address = json_string_value(leader);
		if (result == STATUS_OK)
			result = put_members(session, json_object_get(members, "Members"),
				address ? address : "");
	}
	json_decref(leader);
	json_decref(members);
	return result;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The names of an object's members, sorted; the caller frees the array.
static const char **sorted_names(json_t *object, size_t *count)
{
	size_t at = 0;
	const char *name;
	json_t *value;
	const char **names = memory_take_array(json_object_size(object) + 1, sizeof names[0]);
	json_object_foreach(object, name, value) names[at++] = name;
	*count = at;
	if (at)
		qsort(names, at, sizeof names[0], by_name);
	return names;
}

enum exit_status agent_info(struct session *session, const char **arguments, int count)
{
	json_t *self;
	enum exit_status result = http_get_json(session, "/v1/agent/self", &self);
	if (result != STATUS_OK)
		return result;
	json_t *stats = json_object_get(self, "stats");
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(stats);
		json_decref(self);
		return STATUS_OK;
	}
	size_t parts, values;
	const char **names = sorted_names(stats, &parts);
	for (size_t i = 0; i < parts; i++) {
		json_t *part = json_object_get(stats, names[i]);
		const char **of_part = sorted_names(part, &values);
		printf("%s\n", names[i]);
		for (size_t k = 0; k < values; k++)
			printf("  %s = %s\n", of_part[k], field_text(part, of_part[k]));
		free(of_part);
	}
	free(names);
	json_decref(self);
	return STATUS_OK;
}

enum exit_status system_gc(struct session *session, const char **arguments, int count)
{
	json_t *reply;
	enum exit_status result = http_put_json(session, "/v1/system/gc", NULL, &reply);
	json_decref(reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		puts("{}");
	return result;
}

enum exit_status system_reconcile(struct session *session, const char **arguments, int count)
{
	json_t *reply;
	enum exit_status result =
		http_put_json(session, "/v1/system/reconcile/summaries", NULL, &reply);
	json_decref(reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		puts("{}");
	return result;
}

static const char config_path[] = "/v1/operator/scheduler/configuration";

// The member that each flag sets, of the configuration or of its preemption part.
static const struct {
	enum flag flag;
	const char *member, *shown;
	bool preemption;
} switches[] = {
	{FLAG_MEMORY_OVERSUBSCRIPTION, "MemoryOversubscriptionEnabled", "Memory Oversubscription",
		false},
	{FLAG_REJECT_REGISTRATION, "RejectJobRegistration", "Reject Job Registration", false},
	{FLAG_PAUSE_BROKER, "PauseEvalBroker", "Pause Eval Broker", false},
	{FLAG_PREEMPT_SYSTEM, "SystemSchedulerEnabled", "Preemption System Scheduler", true},
	{FLAG_PREEMPT_SYSBATCH, "SysBatchSchedulerEnabled", "Preemption SysBatch Scheduler", true},
	{FLAG_PREEMPT_BATCH, "BatchSchedulerEnabled", "Preemption Batch Scheduler", true},
	{FLAG_PREEMPT_SERVICE, "ServiceSchedulerEnabled", "Preemption Service Scheduler", true},
};
#define SWITCHES (sizeof switches / sizeof switches[0])

static json_t *part_of(json_t *config, bool preemption)
{
	return preemption ? json_object_get(config, "PreemptionConfig") : config;
}

static void show_config(json_t *reply)
{
	json_t *config = json_object_get(reply, "SchedulerConfig");
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Scheduler Algorithm", "= %s", field_text(config, "SchedulerAlgorithm"));
	for (size_t i = 0; i < SWITCHES; i++)
		table_pair(&t, switches[i].shown, "= %s",
			json_is_true(json_object_get(
				part_of(config, switches[i].preemption), switches[i].member))
				? "true"
				: "false");
	table_pair(&t, "Modify Index", "= %lld", (long long)field_number(config, "ModifyIndex"));
	table_print(&t, 0);
}

enum exit_status config_get(struct session *session, const char **arguments, int count)
{
	return http_show(session, config_path, show_config);
}

// False after a complaint.
static bool apply_switch(const struct flags *flags, size_t number, json_t *config)
{
	const char *value = flags->values[switches[number].flag];
	if (!value)
		return true;
	bool on = strcmp(value, "true") == 0;
	if (!on && strcmp(value, "false") != 0) {
		complain(STATUS_USAGE, "--%s must be true or false, not \"%s\"",
			flag_descriptions[switches[number].flag].name, value);
		return false;
	}
	json_object_set_new(part_of(config, switches[number].preemption), switches[number].member,
		json_boolean(on));
	return true;
}

static bool apply_flags(const struct flags *flags, json_t *config)
{
	if (flag_given(flags, FLAG_ALGORITHM))
		json_object_set_new(
			config, "SchedulerAlgorithm", json_string(flags->values[FLAG_ALGORITHM]));
	for (size_t i = 0; i < SWITCHES; i++)
		if (!apply_switch(flags, i, config))
			return false;
	return true;
}

// Puts the configuration with the index that was read, so that the write does not undo a change by others.
static enum exit_status put_config(struct session *session, json_t *config, json_t **reply)
{
	char path[HTTP_PATH_BYTES], message[256];
	uint64_t index = (uint64_t)field_number(config, "ModifyIndex");
	if (!flag_number(&session->flags, FLAG_CHECK_INDEX, 0, INT64_MAX, &index, message,
		    sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	snprintf(path, sizeof path, "%s?cas=%llu", config_path, (unsigned long long)index);
	return http_put_json(session, path, config, reply);
}

enum exit_status config_set(struct session *session, const char **arguments, int count)
{
	json_t *before, *reply = NULL;
	enum exit_status result = http_get_json(session, config_path, &before);
	if (result != STATUS_OK)
		return result;
	json_t *config = json_object_get(before, "SchedulerConfig");
	result = apply_flags(&session->flags, config) ? put_config(session, config, &reply)
						      : STATUS_USAGE;
	if (reply && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	if (reply && !json_is_true(json_object_get(reply, "Updated")))
		result = complain(STATUS_REFUSED,
			"the configuration was changed by somebody else meanwhile; look at it "
			"and try again");
	else if (reply && !flag_given(&session->flags, FLAG_JSON))
		printf("Scheduler configuration updated!\n");
	json_decref(reply);
	json_decref(before);
	return result;
}
