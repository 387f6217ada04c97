// Members of a task.
#include "tools/jobfile/apart.h"
#include "tools/jobfile/schema.h"

static const struct member_rule lifecycle_fields[] = {
	{"hook", "Hook", MEMBER_TEXT},
	{"sidecar", "Sidecar", MEMBER_BOOL},
	{0},
};
static const struct block_schema lifecycle_schema = {.fields = lifecycle_fields};

static const struct member_rule device_fields[] = {
	{"count", "Count", MEMBER_INT, MEMBER_NULL, "1", NULL, 0, INT64_MAX},
	{"constraint", "Constraints", MEMBER_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", MEMBER_BLOCKS, 0, NULL, &affinity_schema},
	{0},
};
static const struct block_schema device_schema = {.label = "Name", .fields = device_fields};

static const struct member_rule resources_fields[] = {
	{"cpu", "CPU", MEMBER_INT, MEMBER_NULL},
	{"cores", "Cores", MEMBER_INT, MEMBER_NULL},
	{"memory", "MemoryMB", MEMBER_INT, MEMBER_NULL, "300"},
	{"memory_max", "MemoryMaxMB", MEMBER_INT, MEMBER_NULL},
	{"disk", "DiskMB", MEMBER_INT, MEMBER_NULL},
	{"network", "Networks", MEMBER_BLOCKS, 0, NULL, &network_schema},
	{"device", "Devices", MEMBER_BLOCKS, 0, NULL, &device_schema},
	{"iops", "IOPS", MEMBER_INT, MEMBER_NULL},
	{0},
};
const struct block_schema resources_schema = {.fields = resources_fields};

static const struct member_rule logs_fields[] = {
	{"max_files", "MaxFiles", MEMBER_INT, MEMBER_NULL, "10"},
	{"max_file_size", "MaxFileSizeMB", MEMBER_INT, MEMBER_NULL, "10"},
	{"enabled", "Enabled", MEMBER_BOOL, MEMBER_NULL},
	{"disabled", "Disabled", MEMBER_BOOL, MEMBER_NULL, "false"},
	{0},
};
const struct block_schema logs_schema = {.fields = logs_fields};

static const struct member_rule artifact_fields[] = {
	{"source", "GetterSource", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"options", "GetterOptions", MEMBER_MAP},
	{"headers", "GetterHeaders", MEMBER_MAP},
	{"mode", "GetterMode", MEMBER_TEXT, MEMBER_NULL, "\"any\""},
	{"destination", "RelativeDest", MEMBER_TEXT, MEMBER_NULL},
	{0},
};
static const struct block_schema artifact_schema = {.fields = artifact_fields};

static const struct member_rule vault_fields[] = {
	{"policies", "Policies", MEMBER_TEXTS},
	{"namespace", "Namespace", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"env", "Env", MEMBER_BOOL, MEMBER_NULL, "true"},
	{"disable_file", "DisableFile", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"change_mode", "ChangeMode", MEMBER_TEXT, MEMBER_NULL, "\"restart\""},
	{"change_signal", "ChangeSignal", MEMBER_TEXT, MEMBER_NULL, "\"SIGHUP\""},
	{0},
};
const struct block_schema vault_schema = {.fields = vault_fields, .finish = finish_vault};

static const struct member_rule wait_fields[] = {
	{"min", "Min", MEMBER_DURATION, MEMBER_NULL},
	{"max", "Max", MEMBER_DURATION, MEMBER_NULL},
	{0},
};
static const struct block_schema wait_schema = {.fields = wait_fields};

static const struct member_rule change_script_fields[] = {
	{"command", "Command", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"args", "Args", MEMBER_TEXTS, 0, "[]"},
	{"timeout", "Timeout", MEMBER_DURATION, MEMBER_NULL, "5000000000"},
	{"fail_on_error", "FailOnError", MEMBER_BOOL, MEMBER_NULL, "false"},
	{0},
};
static const struct block_schema change_script_schema = {
	.fields = change_script_fields, .finish = finish_change_script};

static const struct member_rule template_fields[] = {
	{"source", "SourcePath", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"destination", "DestPath", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"data", "EmbeddedTmpl", MEMBER_TEXT, MEMBER_NULL, "\"\""},
	{"change_mode", "ChangeMode", MEMBER_TEXT, MEMBER_NULL, "\"restart\""},
	{"change_script", "ChangeScript", MEMBER_BLOCK, 0, NULL, &change_script_schema},
	{"change_signal", "ChangeSignal", MEMBER_TEXT, MEMBER_NULL},
	{"splay", "Splay", MEMBER_DURATION, MEMBER_NULL, "5000000000"},
	{"perms", "Perms", MEMBER_TEXT, MEMBER_NULL, "\"0644\""},
	{"uid", "Uid", MEMBER_INT, MEMBER_NULL},
	{"gid", "Gid", MEMBER_INT, MEMBER_NULL},
	{"left_delimiter", "LeftDelim", MEMBER_TEXT, MEMBER_NULL, "\"{{\""},
	{"right_delimiter", "RightDelim", MEMBER_TEXT, MEMBER_NULL, "\"}}\""},
	{"env", "Envvars", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"vault_grace", "VaultGrace", MEMBER_DURATION, MEMBER_NULL, "0"},
	{"wait", "Wait", MEMBER_BLOCK, 0, NULL, &wait_schema},
	{"error_on_missing_key", "ErrMissingKey", MEMBER_BOOL, MEMBER_NULL, "false"},
	{0},
};
const struct block_schema template_schema = {.fields = template_fields, .finish = finish_template};

static const struct member_rule payload_fields[] = {{"file", "File", MEMBER_TEXT}, {0}};
static const struct block_schema payload_schema = {.fields = payload_fields};

static const struct member_rule mount_fields[] = {
	{"volume", "Volume", MEMBER_TEXT, MEMBER_NULL},
	{"destination", "Destination", MEMBER_TEXT, MEMBER_NULL},
	{"read_only", "ReadOnly", MEMBER_BOOL, MEMBER_NULL, "false"},
	{"propagation_mode", "PropagationMode", MEMBER_TEXT, MEMBER_NULL, "\"private\""},
	{0},
};
static const struct block_schema mount_schema = {.fields = mount_fields};

static const struct member_rule plugin_fields[] = {
	{"id", "ID", MEMBER_TEXT},
	{"type", "Type", MEMBER_TEXT},
	{"mount_dir", "MountDir", MEMBER_TEXT, 0, "\"/csi\""},
	{"stage_publish_base_dir", "StagePublishBaseDir", MEMBER_TEXT, 0, "\"/local/csi\""},
	{"health_timeout", "HealthTimeout", MEMBER_DURATION, 0, "30000000000"},
	{0},
};
static const struct block_schema plugin_schema = {.fields = plugin_fields};

static const struct member_rule identity_fields[] = {
	{"env", "Env", MEMBER_BOOL},
	{"file", "File", MEMBER_BOOL},
	{0},
};
static const struct block_schema identity_schema = {.fields = identity_fields};

static const struct block_schema task_scaling_schema;

static const struct member_rule task_fields[] = {
	{"driver", "Driver", MEMBER_TEXT},
	{"user", "User", MEMBER_TEXT},
	{"lifecycle", "Lifecycle", MEMBER_BLOCK, 0, NULL, &lifecycle_schema},
	{"config", "Config", MEMBER_FREE},
	{"constraint", "Constraints", MEMBER_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", MEMBER_BLOCKS, 0, NULL, &affinity_schema},
	{"env", "Env", MEMBER_META},
	{"service", "Services", MEMBER_BLOCKS, 0, NULL, &service_schema},
	{"resources", "Resources", MEMBER_BLOCK, 0, "{}", &resources_schema},
	{"restart", "RestartPolicy", MEMBER_BLOCK, 0, NULL, &restart_schema},
	{"meta", "Meta", MEMBER_META},
	{"kill_timeout", "KillTimeout", MEMBER_DURATION, MEMBER_NULL, "5000000000"},
	{"logs", "LogConfig", MEMBER_BLOCK, 0, "{}", &logs_schema},
	{"artifact", "Artifacts", MEMBER_BLOCKS, 0, NULL, &artifact_schema},
	{"vault", "Vault", MEMBER_BLOCK, 0, NULL, &vault_schema},
	{"template", "Templates", MEMBER_BLOCKS, 0, NULL, &template_schema},
	{"dispatch_payload", "DispatchPayload", MEMBER_BLOCK, 0, NULL, &payload_schema},
	{"volume_mount", "VolumeMounts", MEMBER_BLOCKS, 0, NULL, &mount_schema},
	{"csi_plugin", "CSIPluginConfig", MEMBER_BLOCK, MEMBER_OMITTED, NULL, &plugin_schema},
	{"leader", "Leader", MEMBER_BOOL},
	{"shutdown_delay", "ShutdownDelay", MEMBER_DURATION},
	{"kill_signal", "KillSignal", MEMBER_TEXT},
	{"kind", "Kind", MEMBER_TEXT},
	{"scaling", "ScalingPolicies", MEMBER_BLOCKS, 0, NULL, &task_scaling_schema},
	{"identity", "Identity", MEMBER_BLOCK, 0, NULL, &identity_schema},
	{0},
};
const struct block_schema task_schema = {.label = "Name", .fields = task_fields};

// The label says what is scaled, and is no member.
static const struct member_rule task_scaling_members[] = {{NULL, "Type", MEMBER_TEXT}, {0}};
static const struct block_schema task_scaling_schema = {.label = "",
	.fields = task_scaling_members,
	.read = read_task_scaling,
	.label_says = name_task_scaling};
