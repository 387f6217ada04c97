// Members of a task.
#include "tools/jobfile/apart.h"
#include "tools/jobfile/schema.h"

static const struct field lifecycle_fields[] = {
	{"hook", "Hook", FIELD_TEXT},
	{"sidecar", "Sidecar", FIELD_BOOL},
	{0},
};
static const struct schema lifecycle_schema = {.fields = lifecycle_fields};

static const struct field device_fields[] = {
	{"count", "Count", FIELD_INT, FIELD_NULL, "1", NULL, 0, INT64_MAX},
	{"constraint", "Constraints", FIELD_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", FIELD_BLOCKS, 0, NULL, &affinity_schema},
	{0},
};
static const struct schema device_schema = {.label = "Name", .fields = device_fields};

static const struct field resources_fields[] = {
	{"cpu", "CPU", FIELD_INT, FIELD_NULL},
	{"cores", "Cores", FIELD_INT, FIELD_NULL},
	{"memory", "MemoryMB", FIELD_INT, FIELD_NULL, "300"},
	{"memory_max", "MemoryMaxMB", FIELD_INT, FIELD_NULL},
	{"disk", "DiskMB", FIELD_INT, FIELD_NULL},
	{"network", "Networks", FIELD_BLOCKS, 0, NULL, &network_schema},
	{"device", "Devices", FIELD_BLOCKS, 0, NULL, &device_schema},
	{"iops", "IOPS", FIELD_INT, FIELD_NULL},
	{0},
};
const struct schema resources_schema = {.fields = resources_fields};

static const struct field logs_fields[] = {
	{"max_files", "MaxFiles", FIELD_INT, FIELD_NULL, "10"},
	{"max_file_size", "MaxFileSizeMB", FIELD_INT, FIELD_NULL, "10"},
	{"enabled", "Enabled", FIELD_BOOL, FIELD_NULL},
	{"disabled", "Disabled", FIELD_BOOL, FIELD_NULL, "false"},
	{0},
};
const struct schema logs_schema = {.fields = logs_fields};

static const struct field artifact_fields[] = {
	{"source", "GetterSource", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"options", "GetterOptions", FIELD_MAP},
	{"headers", "GetterHeaders", FIELD_MAP},
	{"mode", "GetterMode", FIELD_TEXT, FIELD_NULL, "\"any\""},
	{"destination", "RelativeDest", FIELD_TEXT, FIELD_NULL},
	{0},
};
static const struct schema artifact_schema = {.fields = artifact_fields};

static const struct field vault_fields[] = {
	{"policies", "Policies", FIELD_TEXTS},
	{"namespace", "Namespace", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"env", "Env", FIELD_BOOL, FIELD_NULL, "true"},
	{"disable_file", "DisableFile", FIELD_BOOL, FIELD_NULL, "false"},
	{"change_mode", "ChangeMode", FIELD_TEXT, FIELD_NULL, "\"restart\""},
	{"change_signal", "ChangeSignal", FIELD_TEXT, FIELD_NULL, "\"SIGHUP\""},
	{0},
};
const struct schema vault_schema = {.fields = vault_fields, .finish = finish_vault};

static const struct field wait_fields[] = {
	{"min", "Min", FIELD_DURATION, FIELD_NULL},
	{"max", "Max", FIELD_DURATION, FIELD_NULL},
	{0},
};
static const struct schema wait_schema = {.fields = wait_fields};

static const struct field change_script_fields[] = {
	{"command", "Command", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"args", "Args", FIELD_TEXTS, 0, "[]"},
	{"timeout", "Timeout", FIELD_DURATION, FIELD_NULL, "5000000000"},
	{"fail_on_error", "FailOnError", FIELD_BOOL, FIELD_NULL, "false"},
	{0},
};
static const struct schema change_script_schema = {
	.fields = change_script_fields, .finish = finish_change_script};

static const struct field template_fields[] = {
	{"source", "SourcePath", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"destination", "DestPath", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"data", "EmbeddedTmpl", FIELD_TEXT, FIELD_NULL, "\"\""},
	{"change_mode", "ChangeMode", FIELD_TEXT, FIELD_NULL, "\"restart\""},
	{"change_script", "ChangeScript", FIELD_BLOCK, 0, NULL, &change_script_schema},
	{"change_signal", "ChangeSignal", FIELD_TEXT, FIELD_NULL},
	{"splay", "Splay", FIELD_DURATION, FIELD_NULL, "5000000000"},
	{"perms", "Perms", FIELD_TEXT, FIELD_NULL, "\"0644\""},
	{"uid", "Uid", FIELD_INT, FIELD_NULL},
	{"gid", "Gid", FIELD_INT, FIELD_NULL},
	{"left_delimiter", "LeftDelim", FIELD_TEXT, FIELD_NULL, "\"{{\""},
	{"right_delimiter", "RightDelim", FIELD_TEXT, FIELD_NULL, "\"}}\""},
	{"env", "Envvars", FIELD_BOOL, FIELD_NULL, "false"},
	{"vault_grace", "VaultGrace", FIELD_DURATION, FIELD_NULL, "0"},
	{"wait", "Wait", FIELD_BLOCK, 0, NULL, &wait_schema},
	{"error_on_missing_key", "ErrMissingKey", FIELD_BOOL, FIELD_NULL, "false"},
	{0},
};
const struct schema template_schema = {.fields = template_fields, .finish = finish_template};

static const struct field payload_fields[] = {{"file", "File", FIELD_TEXT}, {0}};
static const struct schema payload_schema = {.fields = payload_fields};

static const struct field mount_fields[] = {
	{"volume", "Volume", FIELD_TEXT, FIELD_NULL},
	{"destination", "Destination", FIELD_TEXT, FIELD_NULL},
	{"read_only", "ReadOnly", FIELD_BOOL, FIELD_NULL, "false"},
	{"propagation_mode", "PropagationMode", FIELD_TEXT, FIELD_NULL, "\"private\""},
	{0},
};
static const struct schema mount_schema = {.fields = mount_fields};

static const struct field plugin_fields[] = {
	{"id", "ID", FIELD_TEXT},
	{"type", "Type", FIELD_TEXT},
	{"mount_dir", "MountDir", FIELD_TEXT, 0, "\"/csi\""},
	{"stage_publish_base_dir", "StagePublishBaseDir", FIELD_TEXT, 0, "\"/local/csi\""},
	{"health_timeout", "HealthTimeout", FIELD_DURATION, 0, "30000000000"},
	{0},
};
static const struct schema plugin_schema = {.fields = plugin_fields};

static const struct field identity_fields[] = {
	{"env", "Env", FIELD_BOOL},
	{"file", "File", FIELD_BOOL},
	{0},
};
static const struct schema identity_schema = {.fields = identity_fields};

static const struct schema task_scaling_schema;

static const struct field task_fields[] = {
	{"driver", "Driver", FIELD_TEXT},
	{"user", "User", FIELD_TEXT},
	{"lifecycle", "Lifecycle", FIELD_BLOCK, 0, NULL, &lifecycle_schema},
	{"config", "Config", FIELD_FREE},
	{"constraint", "Constraints", FIELD_BLOCKS, 0, NULL, &constraint_schema},
	{"affinity", "Affinities", FIELD_BLOCKS, 0, NULL, &affinity_schema},
	{"env", "Env", FIELD_META},
	{"service", "Services", FIELD_BLOCKS, 0, NULL, &service_schema},
	{"resources", "Resources", FIELD_BLOCK, 0, "{}", &resources_schema},
	{"restart", "RestartPolicy", FIELD_BLOCK, 0, NULL, &restart_schema},
	{"meta", "Meta", FIELD_META},
	{"kill_timeout", "KillTimeout", FIELD_DURATION, FIELD_NULL, "5000000000"},
	{"logs", "LogConfig", FIELD_BLOCK, 0, "{}", &logs_schema},
	{"artifact", "Artifacts", FIELD_BLOCKS, 0, NULL, &artifact_schema},
	{"vault", "Vault", FIELD_BLOCK, 0, NULL, &vault_schema},
	{"template", "Templates", FIELD_BLOCKS, 0, NULL, &template_schema},
	{"dispatch_payload", "DispatchPayload", FIELD_BLOCK, 0, NULL, &payload_schema},
	{"volume_mount", "VolumeMounts", FIELD_BLOCKS, 0, NULL, &mount_schema},
	{"csi_plugin", "CSIPluginConfig", FIELD_BLOCK, FIELD_OMITTED, NULL, &plugin_schema},
	{"leader", "Leader", FIELD_BOOL},
	{"shutdown_delay", "ShutdownDelay", FIELD_DURATION},
	{"kill_signal", "KillSignal", FIELD_TEXT},
	{"kind", "Kind", FIELD_TEXT},
	{"scaling", "ScalingPolicies", FIELD_BLOCKS, 0, NULL, &task_scaling_schema},
	{"identity", "Identity", FIELD_BLOCK, 0, NULL, &identity_schema},
	{0},
};
const struct schema task_schema = {.label = "Name", .fields = task_fields};

// The label says what is scaled, and is no member.
static const struct field task_scaling_fields[] = {{NULL, "Type", FIELD_TEXT}, {0}};
static const struct schema task_scaling_schema = {
	.label = "", .fields = task_scaling_fields, .read = read_task_scaling};
