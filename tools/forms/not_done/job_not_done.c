#include "tools/forms/not_done/job_not_done.h"
#include "state/base/log.h"
#include "state/records/job_traits.h"
#include "tools/forms/not_done/check_not_done.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define PLACE_BYTES 256u
#define NAME_BYTES 96u

// Where something stands: group "g" task "t".
struct place {
	char text[PLACE_BYTES];
};

struct findings {
	struct json_sentences *warnings, *refusals;
};

static struct place place_of(const struct task_group *group, const struct task *task)
{
	struct place place;
	char name[NAME_BYTES];
	int size = snprintf(place.text, sizeof place.text, "group %s",
		log_quote(group->name ? group->name : "", name, sizeof name));
	if (task)
		snprintf(place.text + size, sizeof place.text - (size_t)size, " task %s",
			log_quote(task->name ? task->name : "", name, sizeof name));
	return place;
}

// A block that is kept as JSON. Lists say nothing when they are empty; an empty vault block asks for secrets.
static bool block_is_given(const char *json)
{
	return json && strcmp(json, "null") != 0 && strcmp(json, "[]") != 0;
}

// Whether a block asks for anything beside its defaults, which clients send back.
static bool block_says_more(
	const char *json, const char *const *members, const json_int_t *defaults)
{
	json_t *block = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
	bool more = false;
	for (size_t i = 0; members[i]; i++) {
		const json_t *value = json_object_get(block, members[i]);
		if (json_is_integer(value))
			more |= json_integer_value(value) != defaults[i];
		else
			more |= json_is_true(value) || json_string_length(value) > 0;
	}
	json_decref(block);
	return more;
}

static bool driver_mounts(const char *driver)
{
	static const char *const names[] = {"exec", "docker", "podman"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (driver && strcmp(driver, names[i]) == 0)
			return true;
	return false;
}

static void judge_task_blocks(
	const struct task *task, const struct place *place, const struct findings *found)
{
	const struct {
		const char *json, *text;
	} wrong[] = {
		{task->vault, "Vault: no secrets are handed out, so the task would run without its "
			      "own; leave the block out"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		if (block_is_given(wrong[i].json))
			json_sentence(found->refusals, "%s: %s", place->text, wrong[i].text);
	if (block_is_given(task->volume_mounts) && !driver_mounts(task->driver))
		json_sentence(found->warnings,
			"%s: VolumeMounts: the drivers exec, docker and podman mount volumes, and "
			"no "
			"other; here a volume only decides which nodes qualify",
			place->text);
}

static void judge_services(
	const char *json, bool is_of_group, const struct place *place, const struct findings *found)
{
	json_t *services = block_is_given(json) ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;
	bool connect = false;
	size_t i;
	json_t *service;
	json_array_foreach(services, i, service)
	{
		connect |= json_is_object(json_object_get(service, "Connect"));
	}
	if (connect)
		json_sentence(found->refusals,
			"%s: Services: Connect: no proxy is started, so the service could not be "
			"reached; leave the block out",
			place->text);
	else if (json_array_size(services) > 0)
		json_sentence(
			found->warnings, "%s: Services: not registered anywhere", place->text);
	check_not_done(services, is_of_group, place->text, found->warnings, found->refusals);
	json_decref(services);
}

static void judge_task_settings(
	const struct task *task, const struct place *place, const struct findings *found)
{
	if (task->shutdown_delay_ns > 0)
		json_sentence(found->warnings,
			"%s: ShutdownDelay: not waited for before the task is stopped",
			place->text);
}

static void judge_task_resources(
	const struct task *task, const struct place *place, const struct findings *found)
{
	const struct {
		bool is_given;
		const char *text;
	} kept[] = {
		{task->resources.cores > 0, "Resources.Cores: set aside on the node, but the task "
					    "is not bound to them"},
		{task->resources.devices.count > 0,
			"Resources.Devices: set aside on the node, but the task is not told which "
			"they are"},
		{task->kind && *task->kind, "Kind: has no meaning here"},
	};
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (kept[i].is_given)
			json_sentence(found->warnings, "%s: %s", place->text, kept[i].text);
}

static void judge_networks(
	const struct array *networks, const struct place *place, const struct findings *found)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		const struct network_ask *network = ARRAY_AT(networks, struct network_ask, i);
		const char *mode = network->mode ? network->mode : "";
		if (*mode && strcmp(mode, "host") != 0 && strcmp(mode, "none") != 0)
			json_sentence(found->warnings,
				"%s: Networks[%u].Mode: \"%.32s\" makes no network of its own; "
				"ports are the node's",
				place->text, i, mode);
		if (block_is_given(network->dns))
			json_sentence(found->warnings,
				"%s: Networks[%u].DNS: not set; tasks ask what their node asks",
				place->text, i);
		if (network->mbits > 0)
			json_sentence(found->warnings,
				"%s: Networks[%u].MBits: no bandwidth is set aside", place->text,
				i);
		if (network->hostname && *network->hostname)
			json_sentence(found->warnings,
				"%s: Networks[%u].Hostname: not set; tasks have their node's",
				place->text, i);
	}
}

static void judge_volumes(
	const struct task_group *group, const struct place *place, const struct findings *found)
{
	for (uint32_t i = 0; i < group->volumes.count; i++) {
		const struct volume_ask *volume = ARRAY_AT(&group->volumes, struct volume_ask, i);
		if (volume->type && strcmp(volume->type, "csi") == 0)
			json_sentence(found->refusals,
				"%s: Volumes[\"%.64s\"]: there are no volumes of type \"csi\"; use "
				"one of type \"host\"",
				place->text, volume->name);
	}
}

static bool has_volume(const struct task_group *group, const char *name)
{
	for (uint32_t i = 0; i < group->volumes.count; i++)
		if (strcmp(ARRAY_AT(&group->volumes, struct volume_ask, i)->name, name) == 0)
			return true;
	return false;
}

// As the agent of a node reads it.
static bool propagates_as_nodes_do(const char *mode)
{
	return !*mode || strcmp(mode, "private") == 0 || strcmp(mode, "host-to-task") == 0;
}

static void judge_mount(const struct task_group *group, uint32_t number, const json_t *mount,
	const struct place *place, const struct findings *found)
{
	const char *name = json_string_value(json_object_get(mount, "Volume"));
	const char *mode = json_string_value(json_object_get(mount, "PropagationMode"));
	if (!has_volume(group, name ? name : ""))
		json_sentence(found->refusals,
			"%s: Volume Mount (%u) references undefined volume %.64s", place->text,
			number, name ? name : "");
	if (!propagates_as_nodes_do(mode ? mode : ""))
		json_sentence(found->refusals,
			"%s: Volume Mount (%u) has the propagation mode \"%.40s\"; it is "
			"\"private\" or \"host-to-task\" here: no task mounts on its node",
			place->text, number, mode);
}

static void judge_mounts(const struct task_group *group, const struct task *task,
	const struct place *place, const struct findings *found)
{
	json_t *mounts = block_is_given(task->volume_mounts)
				 ? json_loads(task->volume_mounts, JSON_DECODE_ANY, NULL)
				 : NULL;
	size_t i;
	json_t *mount;
	json_array_foreach(mounts, i, mount)
	{
		judge_mount(group, (uint32_t)i, mount, place, found);
	}
	json_decref(mounts);
}

static void judge_group(const struct task_group *group, const struct findings *found)
{
	static const char *const consul[] = {"Namespace", NULL};
	static const json_int_t no_defaults[1];
	struct place place = place_of(group, NULL);
	judge_services(group->services, true, &place, found);
	judge_networks(&group->networks, &place, found);
	judge_volumes(group, &place, found);
	if (block_says_more(group->consul, consul, no_defaults))
		json_sentence(found->warnings, "%s: Consul: not asked for anything", place.text);
	if (group->disk.sticky || group->disk.migrate)
		json_sentence(found->warnings,
			"%s: EphemeralDisk: data is not carried over to the next allocation, which "
			"only prefers the same node",
			place.text);
	if (group->shutdown_delay_ns.set && group->shutdown_delay_ns.value > 0)
		json_sentence(found->warnings,
			"%s: ShutdownDelay: not waited for before the tasks are stopped",
			place.text);
}

static void judge_task(
	const struct task_group *group, const struct task *task, const struct findings *found)
{
	struct place place = place_of(group, task);
	judge_task_blocks(task, &place, found);
	judge_mounts(group, task, &place, found);
	judge_services(task->services, false, &place, found);
	judge_task_settings(task, &place, found);
	judge_task_resources(task, &place, found);
	judge_networks(&task->resources.networks, &place, found);
}

void job_not_done(
	const struct job *job, struct json_sentences *warnings, struct json_sentences *refusals)
{
	const struct findings found = {warnings, refusals};
	if (job_is_direct(job))
		return;
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		judge_group(group, &found);
		for (uint32_t k = 0; k < group->tasks.count; k++)
			judge_task(group, ARRAY_AT(&group->tasks, struct task, k), &found);
	}
}

void job_warn_of_cron(const struct job *job, struct json_sentences *warnings)
{
	if (job->periodic && job->periodic->spec && *job->periodic->spec)
		json_sentence(warnings,
			"cron is deprecated and may be removed in a future release. "
			"Use crons instead");
}

void job_warn_of_memory_max(
	const struct job *job, bool oversubscription, struct json_sentences *warnings)
{
	for (uint32_t i = 0; !oversubscription && i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		for (uint32_t k = 0; k < group->tasks.count; k++) {
			const struct task *task = ARRAY_AT(&group->tasks, struct task, k);
			if (task->resources.memory_max_mb > task->resources.memory_mb)
				json_sentence(warnings,
					"Memory oversubscription is not enabled; Task "
					"\"%.64s.%.64s\" "
					"memory_max value will be ignored. Update the Scheduler "
					"Configuration to allow oversubscription.",
					group->name, task->name);
		}
	}
}
