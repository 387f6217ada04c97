// Members of a job and of its groups.
#include "tools/jobfile/apart.h"
#include "tools/jobfile/schema.h"

static const struct field update_fields[] = {
	{"stagger", "Stagger", FIELD_DURATION, FIELD_NULL, "30000000000"},
	{"max_parallel", "MaxParallel", FIELD_INT, FIELD_NULL, "1"},
	{"health_check", "HealthCheck", FIELD_TEXT, FIELD_NULL, "\"checks\""},
	{"min_healthy_time", "MinHealthyTime", FIELD_DURATION, FIELD_NULL, "10000000000"},
	{"healthy_deadline", "HealthyDeadline", FIELD_DURATION, FIELD_NULL, "300000000000"},
	{"progress_deadline", "ProgressDeadline", FIELD_DURATION, FIELD_NULL, "600000000000"},
	{"canary", "Canary", FIELD_INT, FIELD_NULL, "0"},
	{"auto_revert", "AutoRevert", FIELD_BOOL, FIELD_NULL, "false"},
	{"auto_promote", "AutoPromote", FIELD_BOOL, FIELD_NULL, "false"},
	{0},
};
const struct schema update_schema = {.fields = update_fields};

// What is canonical of these depends on the job's type, and is for groups alone.
static const struct field migrate_fields[] = {
	{"max_parallel", "MaxParallel", FIELD_INT, FIELD_NULL},
	{"health_check", "HealthCheck", FIELD_TEXT, FIELD_NULL},
	{"min_healthy_time", "MinHealthyTime", FIELD_DURATION, FIELD_NULL},
	{"healthy_deadline", "HealthyDeadline", FIELD_DURATION, FIELD_NULL},
	{0},
};
static const struct schema migrate_schema = {.fields = migrate_fields};

static const struct field reschedule_fields[] = {
	{"attempts", "Attempts", FIELD_INT, FIELD_NULL},
	{"interval", "Interval", FIELD_DURATION, FIELD_NULL},
	{"delay", "Delay", FIELD_DURATION, FIELD_NULL},
	{"delay_function", "DelayFunction", FIELD_TEXT, FIELD_NULL},
	{"max_delay", "MaxDelay", FIELD_DURATION, FIELD_NULL},
	{"unlimited", "Unlimited", FIELD_BOOL, FIELD_NULL},
	{0},
};
static const struct schema reschedule_schema = {.fields = reschedule_fields};

static const struct field restart_fields[] = {
	{"interval", "Interval", FIELD_DURATION, FIELD_NULL},
	{"attempts", "Attempts", FIELD_INT, FIELD_NULL},
	{"delay", "Delay", FIELD_DURATION, FIELD_NULL},
	{"mode", "Mode", FIELD_TEXT, FIELD_NULL},
	{"render_templates", "RenderTemplates", FIELD_BOOL, FIELD_NULL},
	{0},
};
const struct schema restart_schema = {.fields = restart_fields};

static const struct field target_fields[] = {
	{"percent", "Percent", FIELD_INT, 0, NULL, NULL, 0, 255},
	{0},
};
static const struct schema target_schema = {.label = "Value", .fields = target_fields};

static const struct field spread_fields[] = {
	{"attribute", "Attribute", FIELD_TEXT},
	{"weight", "Weight", FIELD_INT, FIELD_NULL, "50", NULL, -128, 127},
	{"target", "SpreadTarget", FIELD_BLOCKS, 0, NULL, &target_schema},
	{0},
};
static const struct schema spread_schema = {.fields = spread_fields};

static const struct field constraint_fields[] = {
	{NULL, "LTarget", FIELD_TEXT},
	{NULL, "RTarget", FIELD_TEXT},
	{NULL, "Operand", FIELD_TEXT},
	{0},
};
const struct schema constraint_schema = {.fields = constraint_fields, .read = read_constraint};

static const struct field affinity_fields[] = {
	{NULL, "LTarget", FIELD_TEXT},
	{NULL, "RTarget", FIELD_TEXT},
	{NULL, "Operand", FIELD_TEXT},
	{NULL, "Weight", FIELD_INT, FIELD_NULL, "50"},
	{0},
};
const struct schema affinity_schema = {.fields = affinity_fields, .read = read_affinity};

static const struct field periodic_fields[] = {
	{"enabled", "Enabled", FIELD_BOOL, FIELD_NULL, "true"},
	{"cron", "Spec", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"crons", "Specs", FIELD_TEXTS, 0, "[]"},
	{NULL, "SpecType", FIELD_TEXT, FIELD_NULL, "\"cron\""},
	{"prohibit_overlap", "ProhibitOverlap", FIELD_BOOL, FIELD_NULL, "false"},
	{"time_zone", "TimeZone", FIELD_TEXT, FIELD_NULL | FIELD_OR_EMPTY, "\"UTC\""},
	{0},
};
static const struct schema periodic_schema = {.fields = periodic_fields, .finish = finish_periodic};

static const struct field parameterized_fields[] = {
	{"payload", "Payload", FIELD_TEXT},
	{"meta_required", "MetaRequired", FIELD_TEXTS},
	{"meta_optional", "MetaOptional", FIELD_TEXTS},
	{0},
};
static const struct schema parameterized_schema = {.fields = parameterized_fields};

static const struct field strategy_fields[] = {
	{"max_parallel", "MaxParallel", FIELD_INT, FIELD_NULL, "0"},
	{"on_failure", "OnFailure", FIELD_TEXT, FIELD_NULL, "\"\""},
	{0},
};
static const struct schema strategy_schema = {.fields = strategy_fields};

static const struct field region_fields[] = {
	{"count", "Count", FIELD_INT, FIELD_NULL, "1"},
	{"datacenters", "Datacenters", FIELD_TEXTS, 0, "[]"},
	{"node_pool", "NodePool", FIELD_TEXT},
	{"meta", "Meta", FIELD_MAP, 0, "{}"},
	{0},
};
static const struct schema region_schema = {.label = "Name", .fields = region_fields};

static const struct field multiregion_fields[] = {
	{"strategy", "Strategy", FIELD_BLOCK, 0, "{}", &strategy_schema},
	{"region", "Regions", FIELD_BLOCKS, 0, NULL, &region_schema},
	{0},
};
static const struct schema multiregion_schema = {.fields = multiregion_fields};

static const struct field scaling_fields[] = {
	{NULL, "ID", FIELD_TEXT},
	{NULL, "Namespace", FIELD_TEXT},
	{"min", "Min", FIELD_INT, FIELD_NULL},
	{"max", "Max", FIELD_INT, FIELD_NULL},
	{"policy", "Policy", FIELD_FREE},
	{"enabled", "Enabled", FIELD_BOOL, FIELD_NULL, "true"},
	{"type", "Type", FIELD_TEXT, 0, "\"horizontal\""},
	{NULL, "Target", FIELD_HIDDEN},
	{NULL, "CreateIndex", FIELD_INT},
	{NULL, "ModifyIndex", FIELD_INT},
	{0},
};
const struct schema scaling_schema = {.fields = scaling_fields};

static const struct field mount_options_fields[] = {
	{"fs_type", "FSType", FIELD_TEXT},
	{"mount_flags", "MountFlags", FIELD_TEXTS},
	{0},
};
static const struct schema mount_options_schema = {.fields = mount_options_fields};

static const struct field volume_fields[] = {
	{"type", "Type", FIELD_TEXT},
	{"source", "Source", FIELD_TEXT},
	{"read_only", "ReadOnly", FIELD_BOOL},
	{"access_mode", "AccessMode", FIELD_TEXT},
	{"attachment_mode", "AttachmentMode", FIELD_TEXT},
	{"mount_options", "MountOptions", FIELD_BLOCK, 0, NULL, &mount_options_schema},
	{"per_alloc", "PerAlloc", FIELD_BOOL},
	{0},
};
static const struct schema volume_schema = {.label = "Name", .fields = volume_fields};

static const struct field disk_fields[] = {
	{"sticky", "Sticky", FIELD_BOOL, FIELD_NULL, "false"},
	{"migrate", "Migrate", FIELD_BOOL, FIELD_NULL, "false"},
	{"size", "SizeMB", FIELD_INT, FIELD_NULL, "300"},
	{0},
};
static const struct schema disk_schema = {.fields = disk_fields};

static const struct field consul_fields[] = {{"namespace", "Namespace", FIELD_TEXT}, {0}};
static const struct schema consul_schema = {.fields = consul_fields};

static const struct field port_fields[] = {
	{"static", "Value", FIELD_INT},
	{"to", "To", FIELD_INT},
	{"host_network", "HostNetwork", FIELD_TEXT},
	{0},
};
static const struct schema port_schema = {.label = "Label", .fields = port_fields};

static const struct field dns_fields[] = {
	{"servers", "Servers", FIELD_TEXTS},
	{"searches", "Searches", FIELD_TEXTS},
	{"options", "Options", FIELD_TEXTS},
	{0},
};
static const struct schema dns_schema = {.fields = dns_fields};

static const struct field network_fields[] = {
	{"mode", "Mode", FIELD_TEXT},
	{"device", "Device", FIELD_TEXT},
	{"cidr", "CIDR", FIELD_TEXT},
	{"ip", "IP", FIELD_TEXT},
	{"dns", "DNS", FIELD_BLOCK, 0, NULL, &dns_schema},
	{"reserved_ports", "ReservedPorts", FIELD_BLOCKS, 0, NULL, &port_schema},
	{"port", "DynamicPorts", FIELD_BLOCKS, 0, NULL, &port_schema},
	{"hostname", "Hostname", FIELD_TEXT},
	{"mbits", "MBits", FIELD_INT, FIELD_NULL},
	{0},
};
const struct schema network_schema = {.fields = network_fields, .finish = finish_network};

static const struct field group_fields[] = {
	{"count", "Count", FIELD_INT, FIELD_NULL},
	{"constraint", "Constraints", FIELD_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", FIELD_BLOCKS, 0, NULL, &affinity_schema},
	{"task", "Tasks", FIELD_BLOCKS, 0, NULL, &task_schema},
	{"spread", "Spreads", FIELD_BLOCKS, 0, NULL, &spread_schema},
	{"volume", "Volumes", FIELD_NAMED, 0, NULL, &volume_schema},
	{"restart", "RestartPolicy", FIELD_BLOCK, 0, NULL, &restart_schema},
	{"reschedule", "ReschedulePolicy", FIELD_BLOCK, 0, NULL, &reschedule_schema},
	{"ephemeral_disk", "EphemeralDisk", FIELD_BLOCK, 0, "{}", &disk_schema},
	{"update", "Update", FIELD_BLOCK, 0, NULL, &update_schema},
	{"migrate", "Migrate", FIELD_BLOCK, 0, NULL, &migrate_schema},
	{"network", "Networks", FIELD_BLOCKS, 0, NULL, &network_schema},
	{"meta", "Meta", FIELD_META},
	{"service", "Services", FIELD_BLOCKS, 0, NULL, &service_schema},
	{"shutdown_delay", "ShutdownDelay", FIELD_DURATION, FIELD_NULL},
	{"stop_after_client_disconnect", "StopAfterClientDisconnect", FIELD_DURATION, FIELD_NULL},
	{"max_client_disconnect", "MaxClientDisconnect", FIELD_DURATION, FIELD_NULL},
	{"scaling", "Scaling", FIELD_BLOCK, 0, NULL, &scaling_schema},
	{"consul", "Consul", FIELD_BLOCK, 0, "{}", &consul_schema},
	{"vault", "Vault", FIELD_BLOCKS, FIELD_APART | FIELD_OMITTED, NULL, &vault_schema},
	{0},
};
const struct schema group_schema = {
	.label = "Name", .fields = group_fields, .finish = finish_group};

static const struct field job_fields[] = {
	{"region", "Region", FIELD_TEXT, FIELD_NULL, "\"global\""},
	{"namespace", "Namespace", FIELD_TEXT, FIELD_NULL, "\"default\""},
	{"id", "ID", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"name", "Name", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"type", "Type", FIELD_TEXT, FIELD_NULL, "\"service\""},
	{"priority", "Priority", FIELD_INT, FIELD_NULL, "50"},
	{"all_at_once", "AllAtOnce", FIELD_BOOL, FIELD_NULL, "false"},
	{"datacenters", "Datacenters", FIELD_TEXTS},
	{"node_pool", "NodePool", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"constraint", "Constraints", FIELD_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", FIELD_BLOCKS, 0, NULL, &affinity_schema},
	{"group", "TaskGroups", FIELD_BLOCKS, 0, NULL, &group_schema},
	{"update", "Update", FIELD_BLOCK, 0, NULL, &update_schema},
	{"multiregion", "Multiregion", FIELD_BLOCK, 0, NULL, &multiregion_schema},
	{"spread", "Spreads", FIELD_BLOCKS, 0, NULL, &spread_schema},
	{"periodic", "Periodic", FIELD_BLOCK, 0, NULL, &periodic_schema},
	{"parameterized", "ParameterizedJob", FIELD_BLOCK, 0, NULL, &parameterized_schema},
	{"reschedule", "Reschedule", FIELD_BLOCK, 0, NULL, &reschedule_schema},
	{"migrate", "Migrate", FIELD_BLOCK, 0, NULL, &migrate_schema},
	{"meta", "Meta", FIELD_META},
	{"consul_token", "ConsulToken", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"vault_token", "VaultToken", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"vault", "Vault", FIELD_BLOCK, FIELD_APART | FIELD_OMITTED, NULL, &vault_schema},
	{"task", "Tasks", FIELD_BLOCKS, FIELD_APART | FIELD_OMITTED, NULL, &task_schema},
	{NULL, "Stop", FIELD_BOOL, FIELD_NULL, "false"},
	{NULL, "ParentID", FIELD_TEXT, FIELD_NULL, "\"\""},
	{NULL, "Dispatched", FIELD_BOOL},
	{NULL, "DispatchIdempotencyToken", FIELD_HIDDEN},
	{NULL, "Payload", FIELD_HIDDEN},
	{NULL, "ConsulNamespace", FIELD_TEXT, FIELD_NULL, "\"\""},
	{NULL, "VaultNamespace", FIELD_TEXT, FIELD_NULL, "\"\""},
	{NULL, "NomadTokenID", FIELD_TEXT, FIELD_NULL, "\"\""},
	{NULL, "Status", FIELD_TEXT, FIELD_NULL, "\"\""},
	{NULL, "StatusDescription", FIELD_TEXT, FIELD_NULL, "\"\""},
	{NULL, "Stable", FIELD_BOOL, FIELD_NULL, "false"},
	{NULL, "Version", FIELD_INT, FIELD_NULL, "0"},
	{NULL, "SubmitTime", FIELD_HIDDEN},
	{NULL, "CreateIndex", FIELD_INT, FIELD_NULL, "0"},
	{NULL, "ModifyIndex", FIELD_INT, FIELD_NULL, "0"},
	{NULL, "JobModifyIndex", FIELD_INT, FIELD_NULL, "0"},
	{0},
};
const struct schema job_schema = {.fields = job_fields, .finish = finish_job};
