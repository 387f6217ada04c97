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

static const struct field affinity_fields[] = {
	{"LTarget", FIELD_STRING, OF(affinity, l_target)},
	{"RTarget", FIELD_STRING, OF(affinity, r_target)},
	{"Operand", FIELD_STRING, OF(affinity, operand)},
	{"Weight", FIELD_I64, OF(affinity, weight), INITIALLY(50)},
};
DESCRIBE(affinity_description, affinity);

static const struct field spread_target_fields[] = {
	{"Value", FIELD_STRING, OF(spread_target, value)},
	{"Percent", FIELD_I64, OF(spread_target, percent)},
};
static DESCRIBE(spread_target_description, spread_target);

static const struct field spread_fields[] = {
	{"Attribute", FIELD_STRING, OF(spread, attribute)},
	{"Weight", FIELD_I64, OF(spread, weight), INITIALLY(50)},
	{"SpreadTarget", FIELD_ARRAY, OF(spread, targets), OR_NULL(spread_target_description)},
};
DESCRIBE(spread_description, spread);

static const struct field device_ask_fields[] = {
	{"Name", FIELD_STRING, OF(device_ask, name)},
	{"Count", FIELD_I64, OF(device_ask, count), INITIALLY(1)},
	{"Constraints", FIELD_ARRAY, OF(device_ask, constraints), OR_NULL(constraint_description)},
	{"Affinities", FIELD_ARRAY, OF(device_ask, affinities), OR_NULL(affinity_description)},
};
DESCRIBE(device_ask_description, device_ask);

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
	{"ReservedPorts", FIELD_ARRAY, OF(network_ask, reserved_ports), OR_NULL(port_description)},
	{"DynamicPorts", FIELD_ARRAY, OF(network_ask, dynamic_ports), OR_NULL(port_description)},
	ALWAYS("Device", blank),
	ALWAYS("CIDR", blank),
	ALWAYS("IP", blank),
};
DESCRIBE(network_ask_description, network_ask);

static const struct field task_resources_fields[] = {
	{"CPU", FIELD_I64, OF(task_resources, cpu), INITIALLY(JOB_UNSET)},
	{"Cores", FIELD_I64, OF(task_resources, cores)},
	{"MemoryMB", FIELD_I64, OF(task_resources, memory_mb), INITIALLY(300)},
	{"MemoryMaxMB", FIELD_I64, OF(task_resources, memory_max_mb)},
	{"Networks", FIELD_ARRAY, OF(task_resources, networks), OR_NULL(network_ask_description)},
	{"Devices", FIELD_ARRAY, OF(task_resources, devices), OR_NULL(device_ask_description)},
	ALWAYS("DiskMB", zero),
	ALWAYS("IOPS", zero),
};
static DESCRIBE(task_resources_description, task_resources);

static const struct field restart_policy_fields[] = {
	{"Attempts", FIELD_I64, OF(restart_policy, attempts), INITIALLY(JOB_UNSET)},
	{"Interval", FIELD_I64, OF(restart_policy, interval_ns), DURATION, JOB_UNSET},
	{"Delay", FIELD_I64, OF(restart_policy, delay_ns), DURATION, JOB_UNSET},
	{"Mode", FIELD_STRING, OF(restart_policy, mode)},
	{"RenderTemplates", FIELD_BOOL, OF(restart_policy, render_templates)},
};
DESCRIBE(restart_description, restart_policy);

static const struct field reschedule_policy_fields[] = {
	{"Attempts", FIELD_I64, OF(reschedule_policy, attempts), INITIALLY(JOB_UNSET)},
	{"Interval", FIELD_I64, OF(reschedule_policy, interval_ns), DURATION, JOB_UNSET},
	{"Delay", FIELD_I64, OF(reschedule_policy, delay_ns), DURATION, JOB_UNSET},
	{"DelayFunction", FIELD_STRING, OF(reschedule_policy, delay_function)},
	{"MaxDelay", FIELD_I64, OF(reschedule_policy, max_delay_ns), DURATION, JOB_UNSET},
	{"Unlimited", FIELD_OPTIONAL_BOOL, OF(reschedule_policy, unlimited)},
};
DESCRIBE(reschedule_description, reschedule_policy);

static const struct field update_strategy_fields[] = {
	{"Stagger", FIELD_I64, OF(update_strategy, stagger_ns), DURATION, JOB_UNSET},
	{"MaxParallel", FIELD_I64, OF(update_strategy, max_parallel), INITIALLY(JOB_UNSET)},
	{"HealthCheck", FIELD_STRING, OF(update_strategy, health_check)},
	{"MinHealthyTime", FIELD_I64, OF(update_strategy, min_healthy_time_ns), DURATION,
		JOB_UNSET},
	{"HealthyDeadline", FIELD_I64, OF(update_strategy, healthy_deadline_ns), DURATION,
		JOB_UNSET},
	{"ProgressDeadline", FIELD_I64, OF(update_strategy, progress_deadline_ns), DURATION,
		JOB_UNSET},
	{"AutoRevert", FIELD_OPTIONAL_BOOL, OF(update_strategy, auto_revert)},
	{"AutoPromote", FIELD_OPTIONAL_BOOL, OF(update_strategy, auto_promote)},
	{"Canary", FIELD_I64, OF(update_strategy, canary), INITIALLY(JOB_UNSET)},
};
DESCRIBE(update_description, update_strategy);

static const struct field migrate_strategy_fields[] = {
	{"MaxParallel", FIELD_I64, OF(migrate_strategy, max_parallel), INITIALLY(JOB_UNSET)},
	{"HealthCheck", FIELD_STRING, OF(migrate_strategy, health_check)},
	{"MinHealthyTime", FIELD_I64, OF(migrate_strategy, min_healthy_time_ns), DURATION,
		JOB_UNSET},
	{"HealthyDeadline", FIELD_I64, OF(migrate_strategy, healthy_deadline_ns), DURATION,
		JOB_UNSET},
};
DESCRIBE(migrate_description, migrate_strategy);

static const struct field ephemeral_disk_fields[] = {
	{"Sticky", FIELD_BOOL, OF(ephemeral_disk, sticky)},
	{"SizeMB", FIELD_I64, OF(ephemeral_disk, size_mb), INITIALLY(300)},
	{"Migrate", FIELD_BOOL, OF(ephemeral_disk, migrate)},
};
static DESCRIBE(ephemeral_disk_description, ephemeral_disk);

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

static const struct field task_fields[] = {
	{"Name", FIELD_STRING, OF(task, name)},
	{"Driver", FIELD_STRING, OF(task, driver)},
	{"User", FIELD_STRING, OF(task, user)},
	{"Config", FIELD_JSON, OF(task, config)},
	{"Env", FIELD_MAP, OF(task, env), NULLABLE},
	{"Services", FIELD_JSON, OF(task, services)},
	{"Vault", FIELD_JSON, OF(task, vault)},
	{"Templates", FIELD_JSON, OF(task, templates)},
	{"Constraints", FIELD_ARRAY, OF(task, constraints), OR_NULL(constraint_description)},
	{"Affinities", FIELD_ARRAY, OF(task, affinities), OR_NULL(affinity_description)},
	{"Resources", FIELD_STRUCT, OF(task, resources), &task_resources_description},
	{"RestartPolicy", FIELD_OPTIONAL, OF(task, restart), &restart_description},
	{"DispatchPayload", FIELD_JSON, OF(task, dispatch_payload)},
	{"Lifecycle", FIELD_OPTIONAL, OF(task, lifecycle), &task_lifecycle_description},
	{"Meta", FIELD_MAP, OF(task, meta), NULLABLE},
	{"KillTimeout", FIELD_I64, OF(task, kill_timeout_ns), DURATION, 5 * NS_PER_S},
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
DESCRIBE(task_description, task);

static const struct field task_group_fields[] = {
	{"Name", FIELD_STRING, OF(task_group, name)},
	{"Count", FIELD_I64, OF(task_group, count), INITIALLY(1)},
	{"Update", FIELD_OPTIONAL, OF(task_group, update), &update_description},
	{"Migrate", FIELD_OPTIONAL, OF(task_group, migrate), &migrate_description},
	{"Constraints", FIELD_ARRAY, OF(task_group, constraints), OR_NULL(constraint_description)},
	{"Scaling", FIELD_JSON, OF(task_group, scaling)},
	{"RestartPolicy", FIELD_OPTIONAL, OF(task_group, restart), &restart_description},
	{"Tasks", FIELD_ARRAY, OF(task_group, tasks), OR_NULL(task_description)},
	{"EphemeralDisk", FIELD_STRUCT, OF(task_group, disk), &ephemeral_disk_description},
	{"Meta", FIELD_MAP, OF(task_group, meta), NULLABLE},
	{"ReschedulePolicy", FIELD_OPTIONAL, OF(task_group, reschedule), &reschedule_description},
	{"Affinities", FIELD_ARRAY, OF(task_group, affinities), OR_NULL(affinity_description)},
	{"Spreads", FIELD_ARRAY, OF(task_group, spreads), OR_NULL(spread_description)},
	{"Networks", FIELD_ARRAY, OF(task_group, networks), OR_NULL(network_ask_description)},
	{"Consul", FIELD_JSON, OF(task_group, consul), NULL, no_consul},
	{"Services", FIELD_JSON, OF(task_group, services)},
	{"Volumes", FIELD_STRUCT_MAP, OF(task_group, volumes), OR_NULL(volume_ask_description)},
	{"ShutdownDelay", FIELD_OPTIONAL_I64, OF(task_group, shutdown_delay_ns), DURATION},
	{"StopAfterClientDisconnect", FIELD_OPTIONAL_I64,
		OF(task_group, stop_after_client_disconnect_ns), DURATION},
	{"MaxClientDisconnect", FIELD_OPTIONAL_I64, OF(task_group, max_client_disconnect_ns),
		DURATION},
	{"Snapshot", FIELD_STRING, OF(task_group, snapshot), FLAGS(FIELD_OMIT_EMPTY)},
};
DESCRIBE(task_group_description, task_group);

static const struct field periodic_config_fields[] = {
	{"Enabled", FIELD_BOOL, OF(periodic_config, enabled), INITIALLY(true)},
	{"Spec", FIELD_STRING, OF(periodic_config, spec)},
	{"Specs", FIELD_STRINGS, OF(periodic_config, specs), NULLABLE},
	{"SpecType", FIELD_STRING, OF(periodic_config, spec_type)},
	{"ProhibitOverlap", FIELD_BOOL, OF(periodic_config, prohibit_overlap)},
	{"TimeZone", FIELD_STRING, OF(periodic_config, time_zone)},
};
DESCRIBE(periodic_config_description, periodic_config);

static const struct field parameterized_config_fields[] = {
	{"Payload", FIELD_STRING, OF(parameterized_config, payload)},
	{"MetaRequired", FIELD_STRINGS, OF(parameterized_config, meta_required), NULLABLE},
	{"MetaOptional", FIELD_STRINGS, OF(parameterized_config, meta_optional), NULLABLE},
};
static DESCRIBE(parameterized_config_description, parameterized_config);

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

static const struct field direct_policy_fields[] = {
	{"Clients", FIELD_STRINGS, OF(direct_policy, clients), NULLABLE},
};
DESCRIBE(direct_policy_description, direct_policy);

static const struct field job_fields[] = {
	{"Stop", FIELD_BOOL, OF(job, stop), FLAGS(FIELD_IN_LIST)},
	{"Region", FIELD_STRING, OF(job, region)},
	{"Namespace", FIELD_STRING, OF(job, namespace_name), FLAGS(FIELD_IN_LIST)},
	{"ID", FIELD_STRING, OF(job, id), FLAGS(FIELD_IN_LIST)},
	{"ParentID", FIELD_STRING, OF(job, parent_id), FLAGS(FIELD_IN_LIST)},
	{"Name", FIELD_STRING, OF(job, name), FLAGS(FIELD_IN_LIST)},
	{"Type", FIELD_ENUM, OF(job, type), NULL, job_type_names, FIELD_IN_LIST},
	{"Priority", FIELD_I64, OF(job, priority), FLAGS(FIELD_IN_LIST), 50},
	{"AllAtOnce", FIELD_BOOL, OF(job, all_at_once)},
	{"Datacenters", FIELD_STRINGS, OF(job, datacenters), FLAGS(FIELD_IN_LIST)},
	{"NodePool", FIELD_STRING, OF(job, node_pool), FLAGS(FIELD_IN_LIST)},
	{"Constraints", FIELD_ARRAY, OF(job, constraints), OR_NULL(constraint_description)},
	{"Affinities", FIELD_ARRAY, OF(job, affinities), OR_NULL(affinity_description)},
	{"Spreads", FIELD_ARRAY, OF(job, spreads), OR_NULL(spread_description)},
	{"TaskGroups", FIELD_ARRAY, OF(job, task_groups), OR_NULL(task_group_description)},
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
	{"Direct", FIELD_OPTIONAL, OF(job, direct), &direct_policy_description, NULL,
		FIELD_OMIT_EMPTY},
};
DESCRIBE(job_type_description, job);
