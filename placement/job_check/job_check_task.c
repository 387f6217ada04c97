#include "placement/job_check/job_check_task.h"
#include "placement/job_check/job_check_placement.h"
#include "placement/job_check/job_check_policy.h"
#include "state/records/job_traits.h"

static const char *const hooks[] = {"prestart", "poststart", "poststop", NULL};

void check_meta(struct checker *c, const char *what, const struct array *pairs)
{
	for (uint32_t i = 0; i < pairs->count; i++) {
		const struct string_pair *pair = ARRAY_AT(pairs, struct string_pair, i);
		if (!pair->name[0] || !text_is_printable(text_of(pair->name)))
			checker_mistake(
				c, "%s has a name that is empty or not printable UTF-8", what);
	}
}

static bool is_device_name(const char *name)
{
	uint32_t parts = 1;
	for (const char *at = name; *at; at++) {
		if (*at != '/')
			continue;
		if (at == name || at[1] == '/' || !at[1])
			return false;
		parts++;
	}
	return name[0] && parts <= 3;
}

static void check_device(struct checker *c, const struct device_ask *ask)
{
	if (checker_name(c, "Name of a device", ask->name, NAME_BYTES_MAX) &&
		!is_device_name(ask->name))
		checker_mistake(c,
			"device \"%.64s\" must be named by type, vendor/type or vendor/type/name",
			ask->name);
	checker_at_least(c, "Count of a device", ask->count, 1);
	if (ask->count > NODE_DEVICES_MAX)
		checker_mistake(c,
			"Count of a device is %ld, more than the %u that a node can have",
			(long)ask->count, NODE_DEVICES_MAX);
	check_constraints(c, &ask->constraints, true);
	check_affinities(c, &ask->affinities, true);
}

static void check_resources(struct checker *c)
{
	const struct task_resources *ask = &c->task->resources;
	bool tiny = c->allowed & PART_TINY;
	checker_at_least(c, "Resources.Cores", ask->cores, 0);
	if (ask->cores > 0) {
		checker_allow_part(c, PART_PLACED_BY_NOMAD, "Resources.Cores are");
		if (ask->cpu > 0)
			checker_mistake(c, "Resources may have CPU or Cores, not both");
	}
	checker_at_least(c, "Resources.CPU", ask->cpu, tiny || ask->cores > 0 ? 0 : 1);
	checker_at_least(c, "Resources.MemoryMB", ask->memory_mb, tiny ? 0 : 10);
	if (ask->memory_max_mb != 0 && ask->memory_max_mb < ask->memory_mb)
		checker_mistake(c, "Resources.MemoryMaxMB is %ld, less than MemoryMB (%ld)",
			(long)ask->memory_max_mb, (long)ask->memory_mb);
	uint32_t devices = checker_at_most(c, "Devices", ask->devices.count, JOB_LIST_MAX);
	for (uint32_t i = 0; i < devices; i++)
		check_device(c, ARRAY_AT(&ask->devices, struct device_ask, i));
	check_networks(c, &ask->networks);
}

void check_task(struct checker *c)
{
	const struct task *task = c->task;
	if (checker_name(c, "Name", task->name, NAME_BYTES_MAX) && strpbrk(task->name, "/\\"))
		checker_mistake(c, "Name must not contain a slash");
	if (!job_is_direct(c->job)) // clients run the instances of direct jobs themselves
		checker_name(c, "Driver", task->driver, NAME_BYTES_MAX);
	checker_at_least(c, "KillTimeout", task->kill_timeout_ns, 0);
	checker_at_least(c, "ShutdownDelay", task->shutdown_delay_ns, 0);
	if (task->lifecycle)
		checker_one_of(c, "Lifecycle.Hook", task->lifecycle->hook, hooks);
	const struct restart_policy *of_group = c->group->restart;
	bool inherited = task->restart && of_group &&
			 record_equal(&restart_description, task->restart, of_group);
	if (task->restart && !inherited) // the group's check covers an inherited one
		check_restart(c, task->restart);
	check_constraints(c, &task->constraints, false);
	check_affinities(c, &task->affinities, false);
	check_resources(c);
	check_meta(c, "Env", &task->env);
	check_meta(c, "Meta", &task->meta);
}
