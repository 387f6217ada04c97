// Members of a job and of its groups.
#include "tools/jobfile/apart.h"
#include "tools/jobfile/schema.h"

static const struct member_rule update_fields[] = {
	{"stagger", "Stagger", MEMBER_DURATION, MEMBER_NULL, "30000000000"},
	{"max_parallel", "MaxParallel", MEMBER_INT, MEMBER_NULL, "1"},
	{"health_check", "HealthCheck", MEMBER_TEXT, MEMBER_NULL, "\"checks\""},
	{"min_healthy_time", "MinHealthyTime", MEMBER_DURATION, MEMBER_NULL, "10000000000"},
	{"healthy_deadline", "HealthyDeadline", MEMBER_DURATION, MEMBER_NULL, "300000000000"},
	{"progress_deadline", "ProgressDeadline", MEMBER_DURATION, MEMBER_NULL, "600000000000"},
	{"canary", "Canary", MEMBER_INT, MEMBER_NULL, "0"},
	{"auto_revert", "AutoRevert", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"auto_promote", "AutoPromote", MEMBER_BOOL, MEMBER_NULL, "false"},
	{0},
};
const struct block_schema update_schema = {.fields = update_fields};

// What is canonical of these depends on the job's type, and is for groups alone.
static const struct member_rule migrate_fields[] = {
	{"max_parallel", "MaxParallel", MEMBER_INT, MEMBER_NULL},
	{"health_check", "HealthCheck", MEMBER_TEXT, MEMBER_NULL},
	{"min_healthy_time", "MinHealthyTime", MEMBER_DURATION, MEMBER_NULL},
	{"healthy_deadline", "HealthyDeadline", MEMBER_DURATION, MEMBER_NULL},
	{0},
};
static const struct block_schema migrate_schema = {.fields = migrate_fields};

static const struct member_rule reschedule_fields[] = {
	{"attempts", "Attempts", MEMBER_INT, MEMBER_NULL},
	{"interval", "Interval", MEMBER_DURATION, MEMBER_NULL},
	{"delay", "Delay", MEMBER_DURATION, MEMBER_NULL},
	{"delay_function", "DelayFunction", MEMBER_TEXT, MEMBER_NULL},
	{"max_delay", "MaxDelay", MEMBER_DURATION, MEMBER_NULL},
	{"unlimited", "Unlimited", MEMBER_BOOL, MEMBER_NULL},
	{0},
};
static const struct block_schema reschedule_schema = {.fields = reschedule_fields};

static const struct member_rule restart_fields[] = {
	{"interval", "Interval", MEMBER_DURATION, MEMBER_NULL},
	{"attempts", "Attempts", MEMBER_INT, MEMBER_NULL},
	{"delay", "Delay", MEMBER_DURATION, MEMBER_NULL},
	{"mode", "Mode", MEMBER_TEXT, MEMBER_NULL},
	{"render_templates", "RenderTemplates", MEMBER_BOOL, MEMBER_NULL},
	{0},
};
const struct block_schema restart_schema = {.fields = restart_fields};

static const struct member_rule target_fields[] = {
	{"percent", "Percent", MEMBER_INT, 0, NULL, NULL, 0, 255},
	{0},
};
static const struct block_schema target_schema = {.label = "Value", .fields = target_fields};

static const struct member_rule spread_fields[] = {
	{"attribute", "Attribute", MEMBER_TEXT},
	{"weight", "Weight", MEMBER_INT, MEMBER_NULL, "50", NULL, -128, 127},
	{"target", "SpreadTarget", MEMBER_BLOCKS, 0, NULL, &target_schema},
	{0},
};
static const struct block_schema spread_schema = {.fields = spread_fields};

static const struct member_rule constraint_fields[] = {
	{NULL, "LTarget", MEMBER_TEXT},
	{NULL, "RTarget", MEMBER_TEXT},
	{NULL, "Operand", MEMBER_TEXT},
	{0},
};
const struct block_schema constraint_schema = {
	.fields = constraint_fields, .read = read_constraint};

static const struct member_rule affinity_fields[] = {
	{NULL, "LTarget", MEMBER_TEXT},
	{NULL, "RTarget", MEMBER_TEXT},
	{NULL, "Operand", MEMBER_TEXT},
	{NULL, "Weight", MEMBER_INT, MEMBER_NULL, "50"},
	{0},
};
const struct block_schema affinity_schema = {.fields = affinity_fields, .read = read_affinity};

static const struct member_rule periodic_fields[] = {
	{"enabled", "Enabled", MEMBER_BOOL, MEMBER_NULL, "true"},
	{"cron", "Spec", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"crons", "Specs", MEMBER_TEXTS, 0, "[]"},
	{NULL, "SpecType", MEMBER_TEXT, MEMBER_NULL, "\"cron\""},
	{"prohibit_overlap", "ProhibitOverlap", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"time_zone", "TimeZone", MEMBER_TEXT, MEMBER_NULL | MEMBER_OR_EMPTY, "\"UTC\""},
	{0},
};
static const struct block_schema periodic_schema = {
	.fields = periodic_fields, .finish = finish_periodic};

static const struct member_rule parameterized_fields[] = {
	{"payload", "Payload", MEMBER_TEXT},
	{"meta_required", "MetaRequired", MEMBER_TEXTS},
	{"meta_optional", "MetaOptional", MEMBER_TEXTS},
	{0},
};
static const struct block_schema parameterized_schema = {.fields = parameterized_fields};

static const struct member_rule strategy_fields[] = {
	{"max_parallel", "MaxParallel", MEMBER_INT, MEMBER_NULL, "0"},
	{"on_failure", "OnFailure", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{0},
};
static const struct block_schema strategy_schema = {.fields = strategy_fields};

static const struct member_rule region_fields[] = {
	{"count", "Count", MEMBER_INT, MEMBER_NULL, "1"},
	{"datacenters", "Datacenters", MEMBER_TEXTS, 0, "[]"},
	{"node_pool", "NodePool", MEMBER_TEXT},
	{"meta", "Meta", MEMBER_MAP, 0, "{}"},
	{0},
};
static const struct block_schema region_schema = {.label = "Name", .fields = region_fields};

static const struct member_rule multiregion_fields[] = {
	{"strategy", "Strategy", MEMBER_BLOCK, 0, "{}", &strategy_schema},
	{"region", "Regions", MEMBER_BLOCKS, 0, NULL, &region_schema},
	{0},
};
static const struct block_schema multiregion_schema = {.fields = multiregion_fields};

static const struct member_rule scaling_fields[] = {
	{NULL, "ID", MEMBER_TEXT},
	{NULL, "Namespace", MEMBER_TEXT},
	{"min", "Min", MEMBER_INT, MEMBER_NULL},
	{"max", "Max", MEMBER_INT, MEMBER_NULL},
	{"policy", "Policy", MEMBER_FREE},
	{"enabled", "Enabled", MEMBER_BOOL, MEMBER_NULL, "true"},
	{"type", "Type", MEMBER_TEXT, 0, "\"horizontal\""},
	{NULL, "Target", MEMBER_HIDDEN},
	{NULL, "CreateIndex", MEMBER_INT},
	{NULL, "ModifyIndex", MEMBER_INT},
	{0},
};
const struct block_schema scaling_schema = {.fields = scaling_fields};

static const struct member_rule mount_options_fields[] = {
	{"fs_type", "FSType", MEMBER_TEXT},
	{"mount_flags", "MountFlags", MEMBER_TEXTS},
	{0},
};
static const struct block_schema mount_options_schema = {.fields = mount_options_fields};

static const struct member_rule volume_fields[] = {
	{"type", "Type", MEMBER_TEXT},
	{"source", "Source", MEMBER_TEXT},
	{"read_only", "ReadOnly", MEMBER_BOOL},
	{"access_mode", "AccessMode", MEMBER_TEXT},
	{"attachment_mode", "AttachmentMode", MEMBER_TEXT},
	{"mount_options", "MountOptions", MEMBER_BLOCK, 0, NULL, &mount_options_schema},
	{"per_alloc", "PerAlloc", MEMBER_BOOL},
	{0},
};
static const struct block_schema volume_schema = {.label = "Name", .fields = volume_fields};

static const struct member_rule disk_fields[] = {
	{"sticky", "Sticky", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"migrate", "Migrate", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"size", "SizeMB", MEMBER_INT, MEMBER_NULL, "300"},
	{0},
};
static const struct block_schema disk_schema = {.fields = disk_fields};

static const struct member_rule consul_fields[] = {{"namespace", "Namespace", MEMBER_TEXT}, {0}};
static const struct block_schema consul_schema = {.fields = consul_fields};

static const struct member_rule port_fields[] = {
	{"static", "Value", MEMBER_INT},
	{"to", "To", MEMBER_INT},
	{"host_network", "HostNetwork", MEMBER_TEXT},
	{0},
};
static const struct block_schema port_schema = {.label = "Label", .fields = port_fields};

static const struct member_rule dns_fields[] = {
	{"servers", "Servers", MEMBER_TEXTS},
	{"searches", "Searches", MEMBER_TEXTS},
	{"options", "Options", MEMBER_TEXTS},
	{0},
};
static const struct block_schema dns_schema = {.fields = dns_fields};

static const struct member_rule network_fields[] = {
	{"mode", "Mode", MEMBER_TEXT},
	{"device", "Device", MEMBER_TEXT},
	{"cidr", "CIDR", MEMBER_TEXT},
	{"ip", "IP", MEMBER_TEXT},
	{"dns", "DNS", MEMBER_BLOCK, 0, NULL, &dns_schema},
	{"reserved_ports", "ReservedPorts", MEMBER_BLOCKS, 0, NULL, &port_schema},
	{"port", "DynamicPorts", MEMBER_BLOCKS, 0, NULL, &port_schema},
	{"hostname", "Hostname", MEMBER_TEXT},
	{"mbits", "MBits", MEMBER_INT, MEMBER_NULL},
	{0},
};
const struct block_schema network_schema = {.fields = network_fields, .finish = finish_network};

static const struct member_rule group_fields[] = {
	{"count", "Count", MEMBER_INT, MEMBER_NULL},
	{"constraint", "Constraints", MEMBER_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", MEMBER_BLOCKS, 0, NULL, &affinity_schema},
	{"task", "Tasks", MEMBER_BLOCKS, 0, NULL, &task_schema},
	{"spread", "Spreads", MEMBER_BLOCKS, 0, NULL, &spread_schema},
	{"volume", "Volumes", MEMBER_NAMED, 0, NULL, &volume_schema},
	{"restart", "RestartPolicy", MEMBER_BLOCK, 0, NULL, &restart_schema},
	{"reschedule", "ReschedulePolicy", MEMBER_BLOCK, 0, NULL, &reschedule_schema},
	{"ephemeral_disk", "EphemeralDisk", MEMBER_BLOCK, 0, "{}", &disk_schema},
	{"update", "Update", MEMBER_BLOCK, 0, NULL, &update_schema},
	{"migrate", "Migrate", MEMBER_BLOCK, 0, NULL, &migrate_schema},
	{"network", "Networks", MEMBER_BLOCKS, 0, NULL, &network_schema},
	{"meta", "Meta", MEMBER_META},
	{"service", "Services", MEMBER_BLOCKS, 0, NULL, &service_schema},
	{"shutdown_delay", "ShutdownDelay", MEMBER_DURATION, MEMBER_NULL},
	{"stop_after_client_disconnect", "StopAfterClientDisconnect", MEMBER_DURATION, MEMBER_NULL},
	{"max_client_disconnect", "MaxClientDisconnect", MEMBER_DURATION, MEMBER_NULL},
	{"scaling", "Scaling", MEMBER_BLOCK, 0, NULL, &scaling_schema},
	{"consul", "Consul", MEMBER_BLOCK, 0, "{}", &consul_schema},
	{"vault", "Vault", MEMBER_BLOCKS, MEMBER_APART | MEMBER_OMITTED, NULL, &vault_schema},
	{0},
};
const struct block_schema group_schema = {
	.label = "Name", .fields = group_fields, .finish = finish_group};

static const struct member_rule job_fields[] = {
	{"region", "Region", MEMBER_TEXT, MEMBER_NULL, "\"global\""},
	{"namespace", "Namespace", MEMBER_TEXT, MEMBER_NULL, "\"default\""},
	{"id", "ID", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"name", "Name", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"type", "Type", MEMBER_TEXT, MEMBER_NULL, "\"service\""},
	{"priority", "Priority", MEMBER_INT, MEMBER_NULL, "50"},
	{"all_at_once", "AllAtOnce", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"datacenters", "Datacenters", MEMBER_TEXTS},
	{"node_pool", "NodePool", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"constraint", "Constraints", MEMBER_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", MEMBER_BLOCKS, 0, NULL, &affinity_schema},
	{"group", "TaskGroups", MEMBER_BLOCKS, 0, NULL, &group_schema},
	{"update", "Update", MEMBER_BLOCK, 0, NULL, &update_schema},
	{"multiregion", "Multiregion", MEMBER_BLOCK, 0, NULL, &multiregion_schema},
	{"spread", "Spreads", MEMBER_BLOCKS, 0, NULL, &spread_schema},
	{"periodic", "Periodic", MEMBER_BLOCK, 0, NULL, &periodic_schema},
	{"parameterized", "ParameterizedJob", MEMBER_BLOCK, 0, NULL, &parameterized_schema},
	{"reschedule", "Reschedule", MEMBER_BLOCK, 0, NULL, &reschedule_schema},
	{"migrate", "Migrate", MEMBER_BLOCK, 0, NULL, &migrate_schema},
	{"meta", "Meta", MEMBER_META},
	{"consul_token", "ConsulToken", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"vault_token", "VaultToken", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"vault", "Vault", MEMBER_BLOCK, MEMBER_APART | MEMBER_OMITTED, NULL, &vault_schema},
	{"task", "Tasks", MEMBER_BLOCKS, MEMBER_APART | MEMBER_OMITTED, NULL, &task_schema},
	{NULL, "Stop", MEMBER_BOOL, MEMBER_NULL, "false"},
	{NULL, "ParentID", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{NULL, "Dispatched", MEMBER_BOOL},
	{NULL, "DispatchIdempotencyToken", MEMBER_HIDDEN},
	{NULL, "Payload", MEMBER_HIDDEN},
	{NULL, "ConsulNamespace", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{NULL, "VaultNamespace", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{NULL, "NomadTokenID", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{NULL, "Status", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{NULL, "StatusDescription", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{NULL, "Stable", MEMBER_BOOL, MEMBER_NULL, "false"},
	{NULL, "Version", MEMBER_INT, MEMBER_NULL, "0"},
	{NULL, "SubmitTime", MEMBER_HIDDEN},
	{NULL, "CreateIndex", MEMBER_INT, MEMBER_NULL, "0"},
	{NULL, "ModifyIndex", MEMBER_INT, MEMBER_NULL, "0"},
	{NULL, "JobModifyIndex", MEMBER_INT, MEMBER_NULL, "0"},
	{0},
};
const struct block_schema job_schema = {.fields = job_fields, .finish = finish_job};
