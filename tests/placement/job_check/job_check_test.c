// Breaks every rule of a job once, and many at once.
#include "placement/job_check/job_check.h"
#include "state/base/prng.h"
#include "state/base/time_units.h"
#include "tests/placement/job_check/job_build.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void name_client(struct job *job, const char *name)
{
	if (!job->direct)
		job->direct = block(&direct_policy_description);
	*(char **)array_append(&job->direct->clients, sizeof(char *)) = text_copy(text_of(name));
}
static void any_direct(struct job *job)
{
	name_client(job, "scaler");
}
static void long_client(struct job *job)
{
	char name[66] = "";
	memset(name, 'x', 65);
	name_client(job, name);
}
static void many_clients(struct job *job)
{
	for (uint32_t i = 0; i < JOB_LIST_MAX + 1; i++)
		name_client(job, "scaler");
}

struct heard {
	uint32_t count;
	char texts[64][300];
};

static void hear(const char *text, void *context)
{
	struct heard *heard = context;
	assert_true(heard->count < COUNT(heard->texts));
	snprintf(heard->texts[heard->count++], sizeof heard->texts[0], "%s", text);
}

static void check(struct job *job, struct heard *heard)
{
	heard->count = 0;
	job_canonicalize(job);
	uint32_t mistakes = job_check(job, hear, heard);
	assert_int_equal(mistakes, heard->count);
}

static void assert_good(struct job *job)
{
	struct heard heard;
	check(job, &heard);
	if (heard.count > 0)
		fail_msg("%s", heard.texts[0]);
	assert_true(job_derive(job));
	job_free(job);
}

static void no_id(struct job *j)
{
	set(&j->id, "");
	set(&j->name, "web");
}
static void space_in_id(struct job *j)
{
	set(&j->id, "a b");
}
static void control_in_snapshot(struct job *job)
{
	set(&group_of(job)->snapshot, "a\nb");
}
static void priority_0(struct job *j)
{
	j->priority = 0;
}
static void priority_101(struct job *j)
{
	j->priority = 101;
}
static void no_groups(struct job *j)
{
	record_release(&task_group_description, group_of(j));
	j->task_groups.count = 0;
}
static void no_tasks(struct job *j)
{
	record_release(&task_description, task_of(j));
	group_of(j)->tasks.count = 0;
}
static void same_groups(struct job *j)
{
	add_task(add_group(j, "front"), "x");
}
static void same_tasks(struct job *j)
{
	add_task(group_of(j), "server");
}
static void no_group_name(struct job *j)
{
	set(&group_of(j)->name, "");
}
static void no_driver(struct job *j)
{
	set(&task_of(j)->driver, "");
}
static void slash_in_task(struct job *j)
{
	set(&task_of(j)->name, "a/b");
}
static void negative_count(struct job *j)
{
	group_of(j)->count = -1;
}
static void huge_count(struct job *j)
{
	group_of(j)->count = INT64_MAX;
}
static void two_leaders(struct job *j)
{
	task_of(j)->leader = true;
	add_task(group_of(j), "second")->leader = true;
}
static void bad_operator(struct job *j)
{
	constrain(&j->constraints, "${attr.a}", "=<", "1");
}
static void bad_regexp(struct job *j)
{
	constrain(&j->constraints, "${attr.a}", "regexp", "(");
}
static void any_regexp(struct job *j)
{
	constrain(&group_of(j)->constraints, "${attr.unique.host}", "regexp", "a");
}
static void device_regexp(struct job *j)
{
	constrain(&ask_device(j, "gpu", 1)->constraints, "${device.model}", "regexp", "a");
}
static void bad_distinct(struct job *j)
{
	constrain(&j->constraints, "${attr.a}", "distinct_property", "0");
}
static void many_constraints(struct job *j)
{
	for (uint32_t i = 0; i <= JOB_CONSTRAINTS_MAX; i++)
		constrain(&j->constraints, "${attr.a}", "=", "1");
}
static void many_device_constraints(struct job *j)
{
	struct array *constraints = &ask_device(j, "gpu", 1)->constraints;
	for (uint32_t i = 0; i <= JOB_CONSTRAINTS_MAX; i++)
		constrain(constraints, "${device.model}", "=", "a");
}
static void many_affinities(struct job *j)
{
	for (uint32_t i = 0; i <= JOB_RANKINGS_MAX; i++)
		prefer(i % 2 ? &j->affinities : &group_of(j)->affinities);
}
static void affinity_0(struct job *j)
{
	prefer(&j->affinities)->weight = 0;
}
static void affinity_101(struct job *j)
{
	prefer(&group_of(j)->affinities)->weight = 101;
}
static void spread_0(struct job *j)
{
	spread_over(&j->spreads, "${meta.rack}")->weight = 0;
}
static void spread_over_100(struct job *j)
{
	struct spread *spread = spread_over(&j->spreads, "${meta.rack}");
	for (int i = 0; i < 2; i++) {
		struct spread_target *target = array_append(&spread->targets, sizeof *target);
		set(&target->value, i ? "a" : "b");
		target->percent = 60;
	}
}
static void spread_twice(struct job *j)
{
	struct spread *spread = spread_over(&j->spreads, "${meta.rack}");
	for (int i = 0; i < 2; i++)
		set(&((struct spread_target *)array_append(
			      &spread->targets, sizeof(struct spread_target)))
				->value,
			"a");
}
static struct update_strategy *update(struct job *j)
{
	return group_of(j)->update = block(&update_description);
}
static void promote_without_canary(struct job *j)
{
	update(j)->auto_promote = (struct optional_bool){true, true};
}
static void healthy_too_late(struct job *j)
{
	update(j)->min_healthy_time_ns = 300 * NS_PER_S;
}
static void progress_too_early(struct job *j)
{
	update(j)->progress_deadline_ns = 300 * NS_PER_S;
}
static void unknown_health_check(struct job *j)
{
	set(&update(j)->health_check, "guess");
}
static void migrate_too_late(struct job *j)
{
	group_of(j)->migrate = block(&migrate_description);
	group_of(j)->migrate->min_healthy_time_ns = 300 * NS_PER_S;
}
static struct restart_policy *restart(struct job *j)
{
	return group_of(j)->restart = block(&restart_description);
}
static void restart_interval(struct job *j)
{
	*restart(j) = (struct restart_policy){1, 4 * NS_PER_S, NS_PER_S, text_copy(TEXT("fail"))};
}
static void restart_does_not_fit(struct job *j)
{
	restart(j)->attempts = 121;
}
static void restart_mode(struct job *j)
{
	set(&restart(j)->mode, "never");
}
static struct reschedule_policy *reschedule(struct job *j)
{
	return group_of(j)->reschedule = block(&reschedule_description);
}
static void reschedule_delay(struct job *j)
{
	reschedule(j)->delay_ns = 4 * NS_PER_S;
}
static void reschedule_interval(struct job *j)
{
	struct reschedule_policy *policy = reschedule(j);
	policy->unlimited = (struct optional_bool){true, false};
	policy->attempts = 1;
	policy->interval_ns = 14 * NS_PER_S;
}
static void reschedule_function(struct job *j)
{
	set(&reschedule(j)->delay_function, "linear");
}
static void reschedule_max(struct job *j)
{
	reschedule(j)->max_delay_ns = NS_PER_S;
}
static void both_disconnects(struct job *j)
{
	group_of(j)->stop_after_client_disconnect_ns = (struct optional_i64){true, NS_PER_S};
	group_of(j)->max_client_disconnect_ns = (struct optional_i64){true, NS_PER_S};
}
static void negative_stop_after(struct job *j)
{
	group_of(j)->stop_after_client_disconnect_ns = (struct optional_i64){true, -1};
}
static void negative_disconnect(struct job *j)
{
	group_of(j)->max_client_disconnect_ns = (struct optional_i64){true, -1};
}
static void cpu_and_cores(struct job *j)
{
	task_of(j)->resources.cpu = 100;
	task_of(j)->resources.cores = 1;
}
static void cpu_0(struct job *j)
{
	task_of(j)->resources.cpu = 0;
}
static void memory_9(struct job *j)
{
	task_of(j)->resources.memory_mb = 9;
}
static void memory_max(struct job *j)
{
	task_of(j)->resources.memory_max_mb = 299;
}
static void memory_huge(struct job *j)
{
	task_of(j)->resources.memory_mb = 1ll << 40;
}
static void disk_negative(struct job *j)
{
	group_of(j)->disk.size_mb = -1;
}
static void device_name(struct job *j)
{
	ask_device(j, "a//b", 1);
}
static void device_count_0(struct job *j)
{
	ask_device(j, "gpu", 0);
}
static void device_count_65(struct job *j)
{
	ask_device(j, "gpu", 65);
}
static void device_sum(struct job *j)
{
	for (int i = 0; i < 3; i++)
		ask_device(j, "gpu", 40);
}
static void device_names(struct job *j)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	for (uint32_t i = 0; i < COUNT(names); i++)
		ask_device(j, names[i], 1);
}
static void device_constraint(struct job *j)
{
	constrain(&ask_device(j, "gpu", 1)->constraints, "", "distinct_hosts", "");
}
static void bad_hook(struct job *j)
{
	task_of(j)->lifecycle = memory_take(sizeof(struct task_lifecycle));
	set(&task_of(j)->lifecycle->hook, "midway");
}
static struct port *port(struct job *j, int64_t value, const char *label)
{
	struct array *networks = &group_of(j)->networks;
	struct network_ask *network =
		networks->count ? networks->items : array_append(networks, sizeof *network);
	struct port *port = array_append(&network->reserved_ports, sizeof *port);
	port->value = value;
	set(&port->label, label);
	return port;
}
static void port_0(struct job *j)
{
	port(j, 0, "http");
}
static void port_twice(struct job *j)
{
	port(j, 80, "http");
	port(j, 81, "http");
}
static void port_value_twice(struct job *j)
{
	port(j, 80, "http");
	port(j, 80, "web");
}
static void network_mode(struct job *j)
{
	port(j, 80, "http");
	set(&((struct network_ask *)group_of(j)->networks.items)->mode, "host ");
}
static struct volume_ask *volume(struct job *j)
{
	struct volume_ask *volume = array_append(&group_of(j)->volumes, sizeof *volume);
	set(&volume->name, "data");
	set(&volume->type, "host");
	set(&volume->source, "data");
	return volume;
}
static void volume_type(struct job *j)
{
	set(&volume(j)->type, "tape");
}
static void volume_per_alloc_canary(struct job *j)
{
	volume(j)->per_alloc = true;
	update(j)->canary = 1;
}
static void volume_per_alloc(struct job *j)
{
	volume(j)->per_alloc = true;
}
static void system_count(struct job *j)
{
	group_of(j)->count = 2;
}
static void any_affinity(struct job *j)
{
	prefer(&j->affinities);
}
static void any_spread(struct job *j)
{
	spread_over(&group_of(j)->spreads, "${meta.rack}");
}
static void any_update(struct job *j)
{
	update(j);
}
static void job_update(struct job *j)
{
	j->update = block(&update_description);
}
static void any_migrate(struct job *j)
{
	group_of(j)->migrate = block(&migrate_description);
}
static void job_migrate(struct job *j)
{
	j->migrate = block(&migrate_description);
}
static void any_reschedule(struct job *j)
{
	reschedule(j);
}
static void any_stop_after(struct job *j)
{
	group_of(j)->stop_after_client_disconnect_ns = (struct optional_i64){true, NS_PER_S};
}
static struct periodic_config *periodic(struct job *j)
{
	j->periodic = memory_take(sizeof *j->periodic);
	j->periodic->enabled = true;
	set(&j->periodic->spec, "*/5 * * * *");
	return j->periodic;
}
static void any_periodic(struct job *j)
{
	periodic(j);
}
static void periodic_without_spec(struct job *j)
{
	set(&periodic(j)->spec, "");
}
static void periodic_not_cron(struct job *j)
{
	set(&periodic(j)->spec, "every day");
}
static void periodic_minute_60(struct job *j)
{
	set(&periodic(j)->spec, "60 * * * *");
}
static void periodic_many(struct job *j)
{
	set(&periodic(j)->spec, "");
	for (uint32_t i = 0; i < 65; i++)
		*(char **)array_append(&j->periodic->specs, sizeof(char *)) =
			text_copy(TEXT("@daily"));
}
static void periodic_zone(struct job *j)
{
	set(&periodic(j)->time_zone, "Europe/Atlantis");
}
static void any_parameterized(struct job *j)
{
	j->parameterized = memory_take(sizeof *j->parameterized);
}
static void payload_kind(struct job *j)
{
	any_parameterized(j);
	set(&j->parameterized->payload, "maybe");
}
static void meta_twice(struct job *j)
{
	any_parameterized(j);
	*(char **)array_append(&j->parameterized->meta_required, sizeof(char *)) =
		text_copy(TEXT("who"));
	*(char **)array_append(&j->parameterized->meta_optional, sizeof(char *)) =
		text_copy(TEXT("who"));
}
static void any_distinct(struct job *j)
{
	constrain(&j->constraints, "", "distinct_hosts", "true");
}
static void any_property(struct job *j)
{
	constrain(&group_of(j)->constraints, "${meta.rack}", "distinct_property", "");
}
static void any_network(struct job *j)
{
	port(j, 80, "http");
}
static void any_volume(struct job *j)
{
	volume(j);
}
static void any_cores(struct job *j)
{
	task_of(j)->resources.cores = 1;
}
static void any_multiregion(struct job *j)
{
	j->multiregion = memory_take(sizeof *j->multiregion);
}
static void negative_kill_timeout(struct job *j)
{
	task_of(j)->kill_timeout_ns = -1;
}
static void negative_cpu(struct job *j)
{
	task_of(j)->resources.cpu = -1;
}

static const struct {
	enum job_type type;
	void (*spoil)(struct job *);
	const char *sentence; // part of it
} rules[] = {
	{JOB_SERVICE, no_id, "ID is missing"},
	{JOB_SERVICE, space_in_id, "ID must not contain a space"},
	{JOB_SERVICE, control_in_snapshot, "Snapshot \"a\\nb\" is not printable UTF-8"},
	{JOB_SERVICE, priority_0, "Priority is 0 but must be between 1 and 100"},
	{JOB_SERVICE, priority_101, "Priority is 101"},
	{JOB_SERVICE, no_groups, "TaskGroups are missing"},
	{JOB_SERVICE, no_tasks, "group \"front\": Tasks are missing"},
	{JOB_SERVICE, same_groups, "another group of the job has the same Name"},
	{JOB_SERVICE, same_tasks, "group \"front\" task \"server\": another task"},
	{JOB_SERVICE, no_group_name, "group \"\": Name is missing"},
	{JOB_SERVICE, no_driver, "task \"server\": Driver is missing"},
	{JOB_SERVICE, slash_in_task, "Name must not contain a slash"},
	{JOB_SERVICE, negative_count, "Count is -1 but must be at least 0"},
	{JOB_SERVICE, huge_count, "Count is 9223372036854775807, more than"},
	{JOB_SERVICE, two_leaders, "2 tasks are Leader"},
	{JOB_SERVICE, bad_operator, "constraint \"${attr.a} =< 1\": "},
	{JOB_SERVICE, bad_regexp, "constraint \"${attr.a} regexp (\": "},
	{JOB_SERVICE, bad_distinct, "RTarget \"0\", which is no number of allocations"},
	{JOB_SERVICE, many_constraints, "65 constraints of job, group and tasks"},
	{JOB_SERVICE, many_device_constraints,
		"65 constraints and affinities of the group's devices are more than the 64"},
	{JOB_SERVICE, many_affinities, "65 affinities and spreads of job, group and tasks"},
	{JOB_SERVICE, affinity_0, "Weight of an affinity is 0"},
	{JOB_SERVICE, affinity_101, "group \"front\": Weight of an affinity is 101"},
	{JOB_SERVICE, spread_0, "Weight of spread \"${meta.rack}\" is 0"},
	{JOB_SERVICE, spread_over_100, "sum up to 120, more than 100"},
	{JOB_SERVICE, spread_twice, "spread target \"a\" comes twice"},
	{JOB_SERVICE, promote_without_canary, "Update.AutoPromote needs a Canary"},
	{JOB_SERVICE, healthy_too_late,
		"Update.MinHealthyTime (300 s) must be less than HealthyDeadline (300 s)"},
	{JOB_SERVICE, progress_too_early,
		"Update.HealthyDeadline (300 s) must be less than ProgressDeadline (300 s)"},
	{JOB_SERVICE, unknown_health_check,
		"Update.HealthCheck \"guess\" is not known; it must be one of \"checks\", "
		"\"task_states\", \"manual\""},
	{JOB_SERVICE, migrate_too_late, "Migrate.MinHealthyTime (300 s)"},
	{JOB_SERVICE, restart_interval, "RestartPolicy.Interval is 4 s but must be at least 5 s"},
	{JOB_SERVICE, restart_does_not_fit,
		"121 Attempts with a Delay of 15 s do not fit into the Interval of 1800 s"},
	{JOB_SERVICE, restart_mode, "RestartPolicy.Mode \"never\" is not known"},
	{JOB_SERVICE, reschedule_delay, "ReschedulePolicy.Delay is 4 s but must be at least 5 s"},
	{JOB_SERVICE, reschedule_interval,
		"ReschedulePolicy.Interval is 14 s but must be at least 15 s"},
	{JOB_SERVICE, reschedule_function, "ReschedulePolicy.DelayFunction \"linear\""},
	{JOB_SERVICE, reschedule_max,
		"ReschedulePolicy.MaxDelay (1 s) must not be less than Delay (30 s)"},
	{JOB_SERVICE, both_disconnects, "exclude each other"},
	{JOB_SERVICE, negative_stop_after, "StopAfterClientDisconnect is -1"},
	{JOB_SERVICE, negative_disconnect, "MaxClientDisconnect is -1"},
	{JOB_SERVICE, cpu_and_cores, "CPU or Cores, not both"},
	{JOB_SERVICE, cpu_0, "Resources.CPU is 0 but must be at least 1"},
	{JOB_SERVICE, memory_9, "Resources.MemoryMB is 9 but must be at least 10"},
	{JOB_SERVICE, memory_max, "Resources.MemoryMaxMB is 299, less than MemoryMB (300)"},
	{JOB_SERVICE, memory_huge, "MemoryMB of the whole group is 1099511627776, more than"},
	{JOB_SERVICE, disk_negative, "EphemeralDisk.SizeMB is -1"},
	{JOB_SERVICE, device_name, "device \"a//b\" must be named by"},
	{JOB_SERVICE, device_count_0, "Count of a device is 0"},
	{JOB_SERVICE, device_count_65, "Count of a device is 65"},
	{JOB_SERVICE, device_sum, "Devices \"gpu\" of the whole group are more than the 64"},
	{JOB_SERVICE, device_names, "Devices of more than 4 names"},
	{JOB_SERVICE, device_constraint, "is of nodes, not of devices"},
	{JOB_SERVICE, bad_hook, "Lifecycle.Hook \"midway\""},
	{JOB_SERVICE, port_0, "port \"http\" has Value 0"},
	{JOB_SERVICE, port_twice, "port label \"http\" comes twice"},
	{JOB_SERVICE, port_value_twice, "Static port 80 already reserved by \"http\""},
	{JOB_SERVICE, network_mode, "Mode of a network \"host \""},
	{JOB_SERVICE, volume_type, "Type of a volume \"tape\""},
	{JOB_SERVICE, volume_per_alloc_canary, "PerAlloc, which canaries cannot share"},
	{JOB_SERVICE, any_periodic, "Periodic is not allowed for jobs of type \"service\""},
	{JOB_SERVICE, negative_kill_timeout, "KillTimeout is -1"},
	{JOB_BATCH, any_update, "Job type \"batch\" does not allow update block"},
	{JOB_BATCH, any_migrate, "Migrate is not allowed for jobs of type \"batch\""},
	{JOB_BATCH, periodic_without_spec, "Periodic.Spec is missing"},
	{JOB_BATCH, periodic_not_cron, "\"every day\" is not a cron expression: it has 2 fields"},
	{JOB_BATCH, periodic_minute_60,
		"\"60 * * * *\" is not a cron expression: \"60\" in the field for the minute is no "
		"value"},
	{JOB_BATCH, periodic_many, "there are 65 Periodic.Specs, more than the 64"},
	{JOB_BATCH, periodic_zone, "\"Europe/Atlantis\" is no time zone"},
	{JOB_BATCH, payload_kind, "ParameterizedJob.Payload \"maybe\""},
	{JOB_BATCH, meta_twice, "\"who\" is in MetaRequired and in MetaOptional"},
	{JOB_SYSTEM, system_count, "Count is 2 but jobs of type \"system\""},
	{JOB_SYSTEM, any_affinity, "Affinities are not allowed for jobs of type \"system\""},
	{JOB_SYSTEM, any_spread, "Spreads are not allowed for jobs of type \"system\""},
	{JOB_SYSTEM, any_reschedule, "ReschedulePolicy is not allowed"},
	{JOB_SYSTEM, any_stop_after, "StopAfterClientDisconnect is not allowed"},
	{JOB_SYSTEM, volume_per_alloc, "Volumes with PerAlloc are not allowed"},
	{JOB_SYSBATCH, any_update, "Job type \"sysbatch\" does not allow update block"},
	{JOB_SYSBATCH, volume_per_alloc, "Volumes with PerAlloc are not allowed"},
	{JOB_DIRECT, any_update, "Job type \"direct\" does not allow update block"},
	{JOB_DIRECT, job_update, "Job type \"direct\" does not allow update block"},
	{JOB_DIRECT, any_migrate, "Migrate is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, job_migrate, "Migrate is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_reschedule, "ReschedulePolicy is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_periodic, "Periodic is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_parameterized,
		"ParameterizedJob is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_affinity, "Affinities are not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_spread, "Spreads are not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_distinct,
		"constraint distinct_hosts is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_regexp, "constraint regexp is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, device_regexp, "constraint regexp is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_property,
		"constraint distinct_property is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_network, "Networks are not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_volume, "Volumes are not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_cores, "Resources.Cores are not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_multiregion, "Multiregion is not allowed for jobs of type \"direct\""},
	{JOB_DIRECT, any_stop_after, "StopAfterClientDisconnect is not allowed"},
	{JOB_DIRECT, negative_cpu, "Resources.CPU is -1 but must be at least 0"},
	{JOB_DIRECT, long_client, "a name in Clients has 65 bytes, more than the 64"},
	{JOB_DIRECT, many_clients, "there are 257 Clients, more than the 256"},
	{JOB_SERVICE, any_direct, "Direct is not allowed for jobs of type \"service\""},
};

static void each_broken_rule_is_one_sentence(void **unused)
{
	for (uint32_t i = 0; i < COUNT(rules); i++) {
		struct job *job = job_of(rules[i].type);
		struct heard heard;
		rules[i].spoil(job);
		check(job, &heard);
		if (heard.count != 1 || !strstr(heard.texts[0], rules[i].sentence))
			fail_msg("row %u: %u mistakes, the first \"%s\" instead of \"%s\"", i,
				heard.count, heard.count ? heard.texts[0] : "", rules[i].sentence);
		job_free(job);
	}
}

// One request breaks all the rules, each with its own sentence.
static void a_job_with_twenty_mistakes_has_twenty_sentences(void **unused)
{
	static void (*const spoils[])(struct job *) = {space_in_id, priority_101, bad_operator,
		bad_regexp, any_affinity, any_spread, job_update, job_migrate, any_periodic,
		any_parameterized, negative_count, any_update, any_migrate, any_reschedule,
		any_stop_after, any_property, any_network, any_volume, disk_negative, two_leaders,
		slash_in_task, negative_cpu, memory_max, device_count_0, negative_kill_timeout};
	struct job *job = job_of(JOB_DIRECT);
	for (uint32_t i = 0; i < COUNT(spoils); i++)
		spoils[i](job);
	struct heard heard;
	check(job, &heard);
	assert_int_equal(heard.count, COUNT(spoils));
	assert_true(heard.count >= 20);
	for (uint32_t i = 0; i < heard.count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(heard.texts[i], heard.texts[k]);
	job_free(job);
}

// Row C13: so it is allowed for every type, and beside the other limit.
static void zero_is_no_stop_after_disconnect(void **unused)
{
	for (enum job_type type = 0; type < JOB_TYPES; type++) {
		struct job *job = job_of(type);
		group_of(job)->stop_after_client_disconnect_ns = (struct optional_i64){true, 0};
		assert_good(job);
	}
	struct job *job = job_of(JOB_SERVICE);
	both_disconnects(job);
	group_of(job)->stop_after_client_disconnect_ns.value = 0;
	assert_good(job);
}

static void good_jobs_of_every_type_pass(void **unused)
{
	for (enum job_type type = 0; type < JOB_TYPES; type++)
		assert_good(job_of(type));
	struct job *job = job_of(JOB_DIRECT);
	group_of(job)->count = 0;
	task_of(job)->resources.memory_mb = 0;
	set(&task_of(job)->driver, "");
	constrain(&job->constraints, "${attr.cpu.arch}", "=", "amd64");
	constrain(&task_of(job)->constraints, "${meta.rack}", "is_set", "");
	ask_device(job, "nvidia/gpu", 8);
	assert_good(job);
	job = job_of(JOB_SERVICE);
	prefer(&job->affinities)->weight = -100;
	spread_over(&job->spreads, "${meta.rack}");
	any_distinct(job);
	any_property(job);
	any_network(job);
	set(&port(job, 80, "admin")->host_network, "admin"); // of another network of the node
	any_volume(job);
	any_stop_after(job);
	assert_good(job);
	job = job_of(JOB_BATCH);
	any_periodic(job);
	assert_good(job);
	job = job_of(JOB_SYSBATCH);
	group_of(job)->count = 3;
	any_affinity(job);
	any_spread(job);
	*reschedule(job) = (struct reschedule_policy){0};
	assert_good(job);
	job = job_of(JOB_SYSTEM);
	job_update(job);
	any_update(job);
	assert_good(job);
}

static int64_t any_number(struct prng *prng)
{
	static const int64_t corners[] = {INT64_MIN, -1, 0, 1, 64, 65, ASK_MAX, ASK_MAX + 1ll,
		UINT32_MAX, UINT32_MAX + 1ll, INT64_MAX};
	return corners[prng_below(prng, COUNT(corners))];
}

static void ignore(const char *text, void *context)
{
}

// Code after the check can rely on what it accepts.
static void what_passes_can_be_derived(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 3);
	uint32_t passed = 0;
	for (int i = 0; i < 20000; i++) {
		struct job *job = job_of(prng_below(&prng, JOB_TYPES));
		for (uint64_t n = prng_below(&prng, 3); n > 0; n--)
			add_task(group_of(job), n == 1 ? "a" : "b");
		for (uint32_t k = 0; k < group_of(job)->tasks.count; k++) {
			struct task *task = ARRAY_AT(&group_of(job)->tasks, struct task, k);
			if (prng_below(&prng, 2))
				task->resources.cpu = any_number(&prng);
			if (prng_below(&prng, 2))
				task->resources.memory_mb = any_number(&prng);
		}
		for (uint64_t n = prng_below(&prng, 4); n > 0; n--)
			ask_device(job, prng_below(&prng, 2) ? "a" : "b",
				prng_below(&prng, 2) ? 20 : any_number(&prng));
		if (prng_below(&prng, 4) == 0)
			group_of(job)->disk.size_mb = any_number(&prng);
		job_canonicalize(job);
		if (job_check(job, ignore, NULL) == 0) {
			assert_true(job_derive(job));
			passed++;
		}
		job_free(job);
	}
	assert_true(passed > 100);
}

static void a_new_version_may_not_be_another_kind_of_job(void **unused)
{
	struct job *before = job_of(JOB_BATCH), *after = job_of(JOB_SERVICE);
	struct heard heard = {0};
	any_periodic(before);
	any_parameterized(after);
	after->dispatched = true;
	assert_int_equal(job_check_update(before, after, hear, &heard), 4);
	assert_non_null(
		strstr(heard.texts[0], "Type may not change from \"batch\" to \"service\""));
	assert_int_equal(job_check_update(before, before, hear, &heard), 0);
	job_free(before);
	job_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_broken_rule_is_one_sentence),
		cmocka_unit_test(a_job_with_twenty_mistakes_has_twenty_sentences),
		cmocka_unit_test(zero_is_no_stop_after_disconnect),
		cmocka_unit_test(good_jobs_of_every_type_pass),
		cmocka_unit_test(what_passes_can_be_derived),
		cmocka_unit_test(a_new_version_may_not_be_another_kind_of_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
