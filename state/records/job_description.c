// One row per field of a job, named as in Nomad's JSON. Rows are only ever appended to a table:
// their order is the binary form (state/base/schema.h).
#include "state/base/schema_table.h"
#include "state/base/time_units.h"
#include "state/records/job.h"

#define NULLABLE NULL, NULL, FIELD_NULL_EMPTY
#define DURATION NULL, NULL, FIELD_DURATION

// Members of Nomad's form that mean nothing here; its clients expect them.
static const char *const zero[] = {"0"}, *const null[] = {"null"}, *const blank[] = {"\"\""};

// What a block says that is left out, as clients send it back; the first is how it is shown.
static const char *const no_consul[] = {"{\"Namespace\":\"\"}", NULL};
static const char *const usual_logs[] = {
	"{\"Disabled\":false,\"MaxFileSizeMB\":10,\"MaxFiles\":10}",
	"{\"MaxFileSizeMB\":10,\"MaxFiles\":10}", NULL};

static const struct field constraint_fields[] = {
	{"LTarget", FIELD_STRING, OF(constraint, l_target)},
	{"RTarget", FIELD_STRING, OF(constraint, r_target)},
	{"Operand", FIELD_STRING, OF(constraint, operand)},
};
DESCRIBE(constraint_description, constraint);

static void affinity_defaults(void *record)
{
	struct affinity *affinity = record;
	affinity->weight = 50;
}

static const struct field affinity_fields[] = {
	{"LTarget", FIELD_STRING, OF(affinity, l_target)},
	{"RTarget", FIELD_STRING, OF(affinity, r_target)},
	{"Operand", FIELD_STRING, OF(affinity, operand)},
	{"Weight", FIELD_I64, OF(affinity, weight)},
};
DESCRIBE_WITH(affinity_description, affinity, affinity_defaults);

static const struct field spread_target_fields[] = {
	{"Value", FIELD_STRING, OF(spread_target, value)},
	{"Percent", FIELD_I64, OF(spread_target, percent)},
};
static DESCRIBE(spread_target_description, spread_target);

static void spread_defaults(void *record)
{
	struct spread *spread = record;
	spread->weight = 50;
}

static const struct field spread_fields[] = {
	{"Attribute", FIELD_STRING, OF(spread, attribute)},
	{"Weight", FIELD_I64, OF(spread, weight)},
	{"SpreadTarget", FIELD_ARRAY, OF(spread, targets), &spread_target_description, NULL,
		FIELD_NULL_EMPTY},
};
DESCRIBE_WITH(spread_description, spread, spread_defaults);

// Jobs, groups and tasks have the same three rows for what constrains or ranks nodes.
#define CONSTRAINTS(type)                                                                         \
	{                                                                                         \
		"Constraints", FIELD_ARRAY, OF(type, constraints), &constraint_description, NULL, \
			FIELD_NULL_EMPTY                                                          \
	}
#define AFFINITIES(type)                                                                      \
	{                                                                                     \
		"Affinities", FIELD_ARRAY, OF(type, affinities), &affinity_description, NULL, \
			FIELD_NULL_EMPTY                                                      \
	}
#define SPREADS(type)                                                                 \
	{                                                                             \
		"Spreads", FIELD_ARRAY, OF(type, spreads), &spread_description, NULL, \
			FIELD_NULL_EMPTY                                              \
	}

static void device_ask_defaults(void *record)
{
	struct device_ask *ask = record;
	ask->count = 1;
}

static const struct field device_ask_fields[] = {
	{"Name", FIELD_STRING, OF(device_ask, name)},
	{"Count", FIELD_I64, OF(device_ask, count)},
	CONSTRAINTS(device_ask),
	AFFINITIES(device_ask),
};
DESCRIBE_WITH(device_ask_description, device_ask, device_ask_defaults);

static const struct field port_fields[] = {
	{"Label", FIELD_STRING, OF(port, label)},
	{"Value", FIELD_I64, OF(port, value)},
	{"To", FIELD_I64, OF(port, to)},
	{"HostNetwork", FIELD_STRING, OF(port, host_network)},
};
DESCRIBE(port_description, port);

static const struct field network_ask_fields[] = {
	{"Mode", FIELD_STRING, OF(network_ask, mode)},
	{"Hostname", FIELD_STRING, OF(network_ask, hostname)},
	{"MBits", FIELD_I64, OF(network_ask, mbits)},
	{"DNS", FIELD_JSON, OF(network_ask, dns)},
	{"ReservedPorts", FIELD_ARRAY, OF(network_ask, reserved_ports), &port_description, NULL,
		FIELD_NULL_EMPTY},
	{"DynamicPorts", FIELD_ARRAY, OF(network_ask, dynamic_ports), &port_description, NULL,
		FIELD_NULL_EMPTY},
	ALWAYS("Device", blank),
	ALWAYS("CIDR", blank),
	ALWAYS("IP", blank),
};
DESCRIBE(network_ask_description, network_ask);

static void task_resources_defaults(void *record)
{
	struct task_resources *resources = record;
	resources->cpu = JOB_UNSET;
	resources->memory_mb = 300;
}

static const struct field task_resources_fields[] = {
	{"CPU", FIELD_I64, OF(task_resources, cpu)},
	{"Cores", FIELD_I64, OF(task_resources, cores)},
	{"MemoryMB", FIELD_I64, OF(task_resources, memory_mb)},
	{"MemoryMaxMB", FIELD_I64, OF(task_resources, memory_max_mb)},
	{"Networks", FIELD_ARRAY, OF(task_resources, networks), &network_ask_description, NULL,
		FIELD_NULL_EMPTY},
	{"Devices", FIELD_ARRAY, OF(task_resources, devices), &device_ask_description, NULL,
		FIELD_NULL_EMPTY},
	ALWAYS("DiskMB", zero),
	ALWAYS("IOPS", zero),
};
static DESCRIBE_WITH(task_resources_description, task_resources, task_resources_defaults);

static void restart_policy_defaults(void *record)
{
	struct restart_policy *policy = record;
	policy->attempts = policy->interval_ns = policy->delay_ns = JOB_UNSET;
}

static const struct field restart_policy_fields[] = {
	{"Attempts", FIELD_I64, OF(restart_policy, attempts)},
	{"Interval", FIELD_I64, OF(restart_policy, interval_ns), DURATION},
	{"Delay", FIELD_I64, OF(restart_policy, delay_ns), DURATION},
	{"Mode", FIELD_STRING, OF(restart_policy, mode)},
	{"RenderTemplates", FIELD_BOOL, OF(restart_policy, render_templates)},
};
DESCRIBE_WITH(restart_description, restart_policy, restart_policy_defaults);

static void reschedule_policy_defaults(void *record)
{
	struct reschedule_policy *policy = record;
	policy->attempts = policy->interval_ns = policy->delay_ns = policy->max_delay_ns =
		JOB_UNSET;
}

static const struct field reschedule_policy_fields[] = {
	{"Attempts", FIELD_I64, OF(reschedule_policy, attempts)},
	{"Interval", FIELD_I64, OF(reschedule_policy, interval_ns), DURATION},
	{"Delay", FIELD_I64, OF(reschedule_policy, delay_ns), DURATION},
	{"DelayFunction", FIELD_STRING, OF(reschedule_policy, delay_function)},
	{"MaxDelay", FIELD_I64, OF(reschedule_policy, max_delay_ns), DURATION},
	{"Unlimited", FIELD_OPTIONAL_BOOL, OF(reschedule_policy, unlimited)},
};
DESCRIBE_WITH(reschedule_description, reschedule_policy, reschedule_policy_defaults);

static void update_strategy_defaults(void *record)
{
	struct update_strategy *update = record;
	update->stagger_ns = update->max_parallel = update->canary = JOB_UNSET;
	update->min_healthy_time_ns = update->healthy_deadline_ns = JOB_UNSET;
	update->progress_deadline_ns = JOB_UNSET;
}

static const struct field update_strategy_fields[] = {
	{"Stagger", FIELD_I64, OF(update_strategy, stagger_ns), DURATION},
	{"MaxParallel", FIELD_I64, OF(update_strategy, max_parallel)},
	{"HealthCheck", FIELD_STRING, OF(update_strategy, health_check)},
	{"MinHealthyTime", FIELD_I64, OF(update_strategy, min_healthy_time_ns), DURATION},
	{"HealthyDeadline", FIELD_I64, OF(update_strategy, healthy_deadline_ns), DURATION},
	{"ProgressDeadline", FIELD_I64, OF(update_strategy, progress_deadline_ns), DURATION},
	{"AutoRevert", FIELD_OPTIONAL_BOOL, OF(update_strategy, auto_revert)},
	{"AutoPromote", FIELD_OPTIONAL_BOOL, OF(update_strategy, auto_promote)},
	{"Canary", FIELD_I64, OF(update_strategy, canary)},
};
DESCRIBE_WITH(update_description, update_strategy, update_strategy_defaults);

static void migrate_strategy_defaults(void *record)
{
	struct migrate_strategy *migrate = record;
	migrate->max_parallel = JOB_UNSET;
	migrate->min_healthy_time_ns = migrate->healthy_deadline_ns = JOB_UNSET;
}

static const struct field migrate_strategy_fields[] = {
	{"MaxParallel", FIELD_I64, OF(migrate_strategy, max_parallel)},
	{"HealthCheck", FIELD_STRING, OF(migrate_strategy, health_check)},
	{"MinHealthyTime", FIELD_I64, OF(migrate_strategy, min_healthy_time_ns), DURATION},
	{"HealthyDeadline", FIELD_I64, OF(migrate_strategy, healthy_deadline_ns), DURATION},
};
DESCRIBE_WITH(migrate_description, migrate_strategy, migrate_strategy_defaults);

static void ephemeral_disk_defaults(void *record)
{
	struct ephemeral_disk *disk = record;
	disk->size_mb = 300;
}

static const struct field ephemeral_disk_fields[] = {
	{"Sticky", FIELD_BOOL, OF(ephemeral_disk, sticky)},
	{"SizeMB", FIELD_I64, OF(ephemeral_disk, size_mb)},
	{"Migrate", FIELD_BOOL, OF(ephemeral_disk, migrate)},
};
static DESCRIBE_WITH(ephemeral_disk_description, ephemeral_disk, ephemeral_disk_defaults);

static const struct field volume_ask_fields[] = {
	{"Name", FIELD_STRING, OF(volume_ask, name)},
	{"Type", FIELD_STRING, OF(volume_ask, type)},
	{"Source", FIELD_STRING, OF(volume_ask, source)},
	{"ReadOnly", FIELD_BOOL, OF(volume_ask, read_only)},
	{"PerAlloc", FIELD_BOOL, OF(volume_ask, per_alloc)},
};
static DESCRIBE(volume_ask_description, volume_ask);

static const struct field task_lifecycle_fields[] = {
	{"Hook", FIELD_STRING, OF(task_lifecycle, hook)},
	{"Sidecar", FIELD_BOOL, OF(task_lifecycle, sidecar)},
};
DESCRIBE(task_lifecycle_description, task_lifecycle);

static void task_defaults(void *record)
{
	struct task *task = record;
	task->kill_timeout_ns = 5 * NS_PER_S;
}

static const struct field task_fields[] = {
	{"Name", FIELD_STRING, OF(task, name)},
	{"Driver", FIELD_STRING, OF(task, driver)},
	{"User", FIELD_STRING, OF(task, user)},
	{"Config", FIELD_JSON, OF(task, config)},
	{"Env", FIELD_MAP, OF(task, env), NULLABLE},
	{"Services", FIELD_JSON, OF(task, services)},
	{"Vault", FIELD_JSON, OF(task, vault)},
	{"Templates", FIELD_JSON, OF(task, templates)},
	CONSTRAINTS(task),
	AFFINITIES(task),
	{"Resources", FIELD_STRUCT, OF(task, resources), &task_resources_description},
	{"RestartPolicy", FIELD_OPTIONAL, OF(task, restart), &restart_description},
	{"DispatchPayload", FIELD_JSON, OF(task, dispatch_payload)},
	{"Lifecycle", FIELD_OPTIONAL, OF(task, lifecycle), &task_lifecycle_description},
	{"Meta", FIELD_MAP, OF(task, meta), NULLABLE},
	{"KillTimeout", FIELD_I64, OF(task, kill_timeout_ns), DURATION},
	{"LogConfig", FIELD_JSON, OF(task, log_config), NULL, usual_logs},
	{"Artifacts", FIELD_JSON, OF(task, artifacts)},
	{"Leader", FIELD_BOOL, OF(task, leader)},
	{"ShutdownDelay", FIELD_I64, OF(task, shutdown_delay_ns), DURATION},
	{"VolumeMounts", FIELD_JSON, OF(task, volume_mounts)},
	{"KillSignal", FIELD_STRING, OF(task, kill_signal)},
	{"Kind", FIELD_STRING, OF(task, kind)},
	{"Identity", FIELD_JSON, OF(task, identity)},
	ALWAYS("ScalingPolicies", null),
	ALWAYS("CSIPluginConfig", null),
};
DESCRIBE_WITH(task_description, task, task_defaults);

static void task_group_defaults(void *record)
{
	struct task_group *group = record;
	group->count = 1;
}

static const struct field task_group_fields[] = {
	{"Name", FIELD_STRING, OF(task_group, name)},
	{"Count", FIELD_I64, OF(task_group, count)},
	{"Update", FIELD_OPTIONAL, OF(task_group, update), &update_description},
	{"Migrate", FIELD_OPTIONAL, OF(task_group, migrate), &migrate_description},
	CONSTRAINTS(task_group),
	{"Scaling", FIELD_JSON, OF(task_group, scaling)},
	{"RestartPolicy", FIELD_OPTIONAL, OF(task_group, restart), &restart_description},
	{"Tasks", FIELD_ARRAY, OF(task_group, tasks), &task_description, NULL, FIELD_NULL_EMPTY},
	{"EphemeralDisk", FIELD_STRUCT, OF(task_group, disk), &ephemeral_disk_description},
	{"Meta", FIELD_MAP, OF(task_group, meta), NULLABLE},
	{"ReschedulePolicy", FIELD_OPTIONAL, OF(task_group, reschedule), &reschedule_description},
	AFFINITIES(task_group),
	SPREADS(task_group),
	{"Networks", FIELD_ARRAY, OF(task_group, networks), &network_ask_description, NULL,
		FIELD_NULL_EMPTY},
	{"Consul", FIELD_JSON, OF(task_group, consul), NULL, no_consul},
	{"Services", FIELD_JSON, OF(task_group, services)},
	{"Volumes", FIELD_STRUCT_MAP, OF(task_group, volumes), &volume_ask_description, NULL,
		FIELD_NULL_EMPTY},
	{"ShutdownDelay", FIELD_OPTIONAL_I64, OF(task_group, shutdown_delay_ns), DURATION},
	{"StopAfterClientDisconnect", FIELD_OPTIONAL_I64,
		OF(task_group, stop_after_client_disconnect_ns), DURATION},
	{"MaxClientDisconnect", FIELD_OPTIONAL_I64, OF(task_group, max_client_disconnect_ns),
		DURATION},
	{"Snapshot", FIELD_STRING, OF(task_group, snapshot), FLAGS(FIELD_OMIT_EMPTY)},
};
DESCRIBE_WITH(task_group_description, task_group, task_group_defaults);

static void periodic_config_defaults(void *record)
{
	struct periodic_config *periodic = record;
	periodic->enabled = true;
}

static const struct field periodic_config_fields[] = {
	{"Enabled", FIELD_BOOL, OF(periodic_config, enabled)},
	{"Spec", FIELD_STRING, OF(periodic_config, spec)},
	{"Specs", FIELD_STRINGS, OF(periodic_config, specs), NULLABLE},
	{"SpecType", FIELD_STRING, OF(periodic_config, spec_type)},
	{"ProhibitOverlap", FIELD_BOOL, OF(periodic_config, prohibit_overlap)},
	{"TimeZone", FIELD_STRING, OF(periodic_config, time_zone)},
};
DESCRIBE_WITH(periodic_config_description, periodic_config, periodic_config_defaults);

static const struct field parameterized_config_fields[] = {
	{"Payload", FIELD_STRING, OF(parameterized_config, payload)},
	{"MetaRequired", FIELD_STRINGS, OF(parameterized_config, meta_required), NULLABLE},
	{"MetaOptional", FIELD_STRINGS, OF(parameterized_config, meta_optional), NULLABLE},
};
static DESCRIBE(parameterized_config_description, parameterized_config);

static void job_defaults(void *record)
{
	struct job *job = record;
	job->priority = 50;
}

static const struct field region_strategy_fields[] = {
	{"MaxParallel", FIELD_I64, OF(region_strategy, max_parallel)},
	{"OnFailure", FIELD_STRING, OF(region_strategy, on_failure)},
};
static DESCRIBE(region_strategy_description, region_strategy);

static const struct field job_region_fields[] = {
	{"Name", FIELD_STRING, OF(job_region, name)},
	{"Count", FIELD_I64, OF(job_region, count)},
	{"Datacenters", FIELD_STRINGS, OF(job_region, datacenters), NULLABLE},
	{"NodePool", FIELD_STRING, OF(job_region, node_pool)},
	{"Meta", FIELD_MAP, OF(job_region, meta), NULLABLE},
};
static DESCRIBE(job_region_description, job_region);

static const struct field multiregion_fields[] = {
	{"Strategy", FIELD_OPTIONAL, OF(multiregion, strategy), &region_strategy_description},
	{"Regions", FIELD_ARRAY, OF(multiregion, regions), &job_region_description},
	{"Rollout", FIELD_STRING, OF(multiregion, rollout), FLAGS(FIELD_OMIT_EMPTY)},
	{"Submission", FIELD_STRING, OF(multiregion, submission), FLAGS(FIELD_HIDDEN)},
	{"StopEverywhere", FIELD_I64, OF(multiregion, stop_everywhere_ns),
		FLAGS(FIELD_HIDDEN | FIELD_DERIVED)},
	{"PurgeEverywhere", FIELD_BOOL, OF(multiregion, purge_everywhere),
		FLAGS(FIELD_HIDDEN | FIELD_DERIVED)},
	{"EvalPriority", FIELD_I64, OF(multiregion, eval_priority),
		FLAGS(FIELD_HIDDEN | FIELD_DERIVED)},
};
DESCRIBE(multiregion_description, multiregion);

static const struct field job_fields[] = {
	{"Stop", FIELD_BOOL, OF(job, stop), FLAGS(FIELD_IN_LIST)},
	{"Region", FIELD_STRING, OF(job, region)},
	{"Namespace", FIELD_STRING, OF(job, namespace_name), FLAGS(FIELD_IN_LIST)},
	{"ID", FIELD_STRING, OF(job, id), FLAGS(FIELD_IN_LIST)},
	{"ParentID", FIELD_STRING, OF(job, parent_id), FLAGS(FIELD_IN_LIST)},
	{"Name", FIELD_STRING, OF(job, name), FLAGS(FIELD_IN_LIST)},
	{"Type", FIELD_ENUM, OF(job, type), NULL, job_type_names, FIELD_IN_LIST},
	{"Priority", FIELD_I64, OF(job, priority), FLAGS(FIELD_IN_LIST)},
	{"AllAtOnce", FIELD_BOOL, OF(job, all_at_once)},
	{"Datacenters", FIELD_STRINGS, OF(job, datacenters), FLAGS(FIELD_IN_LIST)},
	{"NodePool", FIELD_STRING, OF(job, node_pool), FLAGS(FIELD_IN_LIST)},
	CONSTRAINTS(job),
	AFFINITIES(job),
	SPREADS(job),
	{"TaskGroups", FIELD_ARRAY, OF(job, task_groups), &task_group_description, NULL,
		FIELD_NULL_EMPTY},
	{"Update", FIELD_OPTIONAL, OF(job, update), &update_description},
	{"Migrate", FIELD_OPTIONAL, OF(job, migrate), &migrate_description, NULL, FIELD_HIDDEN},
	{"Reschedule", FIELD_OPTIONAL, OF(job, reschedule), &reschedule_description, NULL,
		FIELD_HIDDEN},
	{"Multiregion", FIELD_OPTIONAL, OF(job, multiregion), &multiregion_description, NULL,
		FIELD_IN_LIST},
	{"Periodic", FIELD_OPTIONAL, OF(job, periodic), &periodic_config_description},
	{"ParameterizedJob", FIELD_OPTIONAL, OF(job, parameterized),
		&parameterized_config_description},
	{"Dispatched", FIELD_BOOL, OF(job, dispatched)},
	{"DispatchIdempotencyToken", FIELD_STRING, OF(job, dispatch_idempotency_token)},
	{"Payload", FIELD_STRING, OF(job, payload), NULLABLE},
	{"Meta", FIELD_MAP, OF(job, meta), NULLABLE},
	{"Status", FIELD_ENUM, OF(job, status), NULL, job_status_names,
		FIELD_DERIVED | FIELD_IN_LIST},
	{"StatusDescription", FIELD_STRING, OF(job, status_description),
		FLAGS(FIELD_DERIVED | FIELD_IN_LIST)},
	{"Stable", FIELD_BOOL, OF(job, stable), FLAGS(FIELD_DERIVED)},
	{"Version", FIELD_U64, OF(job, version), FLAGS(FIELD_DERIVED)},
	{"SubmitTime", FIELD_I64, OF(job, submit_time_ns), FLAGS(FIELD_DERIVED | FIELD_IN_LIST)},
	{"CreateIndex", FIELD_U64, OF(job, record.create_index),
		FLAGS(FIELD_DERIVED | FIELD_IN_LIST)},
	{"ModifyIndex", FIELD_U64, OF(job, record.modify_index),
		FLAGS(FIELD_DERIVED | FIELD_IN_LIST)},
	{"JobModifyIndex", FIELD_U64, OF(job, job_modify_index),
		FLAGS(FIELD_DERIVED | FIELD_IN_LIST)},
	ALWAYS("ConsulToken", blank),
	ALWAYS("ConsulNamespace", blank),
	ALWAYS("VaultToken", blank),
	ALWAYS("VaultNamespace", blank),
	ALWAYS("NomadTokenID", blank),
};
DESCRIBE_WITH(job_type_description, job, job_defaults);
