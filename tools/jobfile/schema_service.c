// Members of a service, its checks and its mesh.
#include "tools/jobfile/schema.h"

static const struct member_rule check_restart_fields[] = {
	{"limit", "Limit", MEMBER_INT},
	{"grace", "Grace", MEMBER_DURATION, MEMBER_NULL},
	{"ignore_warnings", "IgnoreWarnings", MEMBER_BOOL},
	{0},
};
static const struct block_schema check_restart_schema = {.fields = check_restart_fields};

static const struct member_rule check_fields[] = {
	{"name", "Name", MEMBER_TEXT},
	{"type", "Type", MEMBER_TEXT},
	{"command", "Command", MEMBER_TEXT},
	{"args", "Args", MEMBER_TEXTS},
	{"path", "Path", MEMBER_TEXT},
	{"protocol", "Protocol", MEMBER_TEXT},
	{"port", "PortLabel", MEMBER_TEXT},
	{"expose", "Expose", MEMBER_BOOL},
	{"address_mode", "AddressMode", MEMBER_TEXT},
	{"advertise", "Advertise", MEMBER_TEXT},
	{"interval", "Interval", MEMBER_DURATION},
	{"timeout", "Timeout", MEMBER_DURATION},
	{"initial_status", "InitialStatus", MEMBER_TEXT},
	{"tls_server_name", "TLSServerName", MEMBER_TEXT},
	{"tls_skip_verify", "TLSSkipVerify", MEMBER_BOOL},
	{"header", "Header", MEMBER_HEADERS},
	{"method", "Method", MEMBER_TEXT},
	{"check_restart", "CheckRestart", MEMBER_BLOCK, 0, NULL, &check_restart_schema},
	{"grpc_service", "GRPCService", MEMBER_TEXT},
	{"grpc_use_tls", "GRPCUseTLS", MEMBER_BOOL},
	{"task", "TaskName", MEMBER_TEXT},
	{"success_before_passing", "SuccessBeforePassing", MEMBER_INT},
	{"failures_before_critical", "FailuresBeforeCritical", MEMBER_INT},
	{"body", "Body", MEMBER_TEXT},
	{"on_update", "OnUpdate", MEMBER_TEXT},
	{0},
};
static const struct block_schema check_schema = {.fields = check_fields};

static const struct member_rule mesh_gateway_fields[] = {{"mode", "Mode", MEMBER_TEXT}, {0}};
static const struct block_schema mesh_gateway_schema = {.fields = mesh_gateway_fields};

static const struct member_rule upstream_fields[] = {
	{"destination_name", "DestinationName", MEMBER_TEXT},
	{"destination_namespace", "DestinationNamespace", MEMBER_TEXT},
	{"destination_peer", "DestinationPeer", MEMBER_TEXT},
	{"destination_type", "DestinationType", MEMBER_TEXT},
	{"local_bind_port", "LocalBindPort", MEMBER_INT},
	{"datacenter", "Datacenter", MEMBER_TEXT},
	{"local_bind_address", "LocalBindAddress", MEMBER_TEXT},
	{"local_bind_socket_path", "LocalBindSocketPath", MEMBER_TEXT},
	{"local_bind_socket_mode", "LocalBindSocketMode", MEMBER_TEXT},
	{"mesh_gateway", "MeshGateway", MEMBER_BLOCK, 0, NULL, &mesh_gateway_schema},
	{"config", "Config", MEMBER_FREE},
	{0},
};
static const struct block_schema upstream_schema = {.fields = upstream_fields};

static const struct member_rule expose_path_fields[] = {
	{"path", "Path", MEMBER_TEXT},
	{"protocol", "Protocol", MEMBER_TEXT},
	{"local_path_port", "LocalPathPort", MEMBER_INT},
	{"listener_port", "ListenerPort", MEMBER_TEXT},
	{0},
};
static const struct block_schema expose_path_schema = {.fields = expose_path_fields};

static const struct member_rule expose_fields[] = {
	{"path", "Paths", MEMBER_BLOCKS, 0, NULL, &expose_path_schema},
	{NULL, "Path", MEMBER_HIDDEN},
	{0},
};
static const struct block_schema expose_schema = {.fields = expose_fields};

static const struct member_rule proxy_fields[] = {
	{"local_service_address", "LocalServiceAddress", MEMBER_TEXT},
	{"local_service_port", "LocalServicePort", MEMBER_INT},
	{"expose", "Expose", MEMBER_BLOCK, 0, NULL, &expose_schema},
	{NULL, "ExposeConfig", MEMBER_HIDDEN},
	{"upstreams", "Upstreams", MEMBER_BLOCKS, 0, NULL, &upstream_schema},
	{"config", "Config", MEMBER_FREE},
	{0},
};
static const struct block_schema proxy_schema = {.fields = proxy_fields};

static const struct member_rule sidecar_service_fields[] = {
	{"tags", "Tags", MEMBER_TEXTS},
	{"port", "Port", MEMBER_TEXT},
	{"proxy", "Proxy", MEMBER_BLOCK, 0, NULL, &proxy_schema},
	{"disable_default_tcp_check", "DisableDefaultTCPCheck", MEMBER_BOOL},
	{"meta", "Meta", MEMBER_MAP},
	{0},
};
static const struct block_schema sidecar_service_schema = {.fields = sidecar_service_fields};

static const struct member_rule sidecar_task_fields[] = {
	{"name", "Name", MEMBER_TEXT},
	{"driver", "Driver", MEMBER_TEXT},
	{"user", "User", MEMBER_TEXT},
	{"config", "Config", MEMBER_FREE},
	{"env", "Env", MEMBER_MAP},
	{"resources", "Resources", MEMBER_BLOCK, 0, "{}", &resources_schema},
	{"meta", "Meta", MEMBER_MAP},
	{"kill_timeout", "KillTimeout", MEMBER_DURATION, MEMBER_NULL, "5000000000"},
	{"logs", "LogConfig", MEMBER_BLOCK, 0, "{}", &logs_schema},
	{"shutdown_delay", "ShutdownDelay", MEMBER_DURATION, MEMBER_NULL, "0"},
	{"kill_signal", "KillSignal", MEMBER_TEXT},
	{0},
};
static const struct block_schema sidecar_task_schema = {.fields = sidecar_task_fields};

static const struct member_rule bind_address_fields[] = {
	{"address", "Address", MEMBER_TEXT},
	{"port", "Port", MEMBER_INT},
	{0},
};
static const struct block_schema bind_address_schema = {
	.label = "Name", .fields = bind_address_fields};

static const struct member_rule gateway_proxy_fields[] = {
	{"connect_timeout", "ConnectTimeout", MEMBER_DURATION, MEMBER_NULL, "5000000000"},
	{"envoy_gateway_bind_tagged_addresses", "EnvoyGatewayBindTaggedAddresses", MEMBER_BOOL},
	{"envoy_gateway_bind_addresses", "EnvoyGatewayBindAddresses", MEMBER_NAMED, 0, NULL,
		&bind_address_schema},
	{"envoy_gateway_no_default_bind", "EnvoyGatewayNoDefaultBind", MEMBER_BOOL},
	{"envoy_dns_discovery_type", "EnvoyDNSDiscoveryType", MEMBER_TEXT},
	{"config", "Config", MEMBER_FREE},
	{0},
};
static const struct block_schema gateway_proxy_schema = {.fields = gateway_proxy_fields};

static const struct member_rule tls_fields[] = {
	{"enabled", "Enabled", MEMBER_BOOL},
	{"tls_min_version", "TLSMinVersion", MEMBER_TEXT},
	{"tls_max_version", "TLSMaxVersion", MEMBER_TEXT},
	{"cipher_suites", "CipherSuites", MEMBER_TEXTS},
	{0},
};
static const struct block_schema tls_schema = {.fields = tls_fields};

static const struct member_rule ingress_service_fields[] = {
	{"name", "Name", MEMBER_TEXT},
	{"hosts", "Hosts", MEMBER_TEXTS},
	{0},
};
static const struct block_schema ingress_service_schema = {.fields = ingress_service_fields};

static const struct member_rule listener_fields[] = {
	{"port", "Port", MEMBER_INT},
	{"protocol", "Protocol", MEMBER_TEXT, 0, "\"tcp\""},
	{"service", "Services", MEMBER_BLOCKS, 0, NULL, &ingress_service_schema},
	{0},
};
static const struct block_schema listener_schema = {.fields = listener_fields};

static const struct member_rule ingress_fields[] = {
	{"tls", "TLS", MEMBER_BLOCK, 0, NULL, &tls_schema},
	{"listener", "Listeners", MEMBER_BLOCKS, 0, NULL, &listener_schema},
	{0},
};
static const struct block_schema ingress_schema = {.fields = ingress_fields};

static const struct member_rule linked_fields[] = {
	{"name", "Name", MEMBER_TEXT},
	{"ca_file", "CAFile", MEMBER_TEXT},
	{"cert_file", "CertFile", MEMBER_TEXT},
	{"key_file", "KeyFile", MEMBER_TEXT},
	{"sni", "SNI", MEMBER_TEXT},
	{0},
};
static const struct block_schema linked_schema = {.fields = linked_fields};

static const struct member_rule terminating_fields[] = {
	{"service", "Services", MEMBER_BLOCKS, 0, NULL, &linked_schema},
	{0},
};
static const struct block_schema terminating_schema = {.fields = terminating_fields};

static const struct member_rule mesh_fields[] = {{0}};
static const struct block_schema mesh_schema = {.fields = mesh_fields};

static const struct member_rule gateway_fields[] = {
	{"proxy", "Proxy", MEMBER_BLOCK, 0, NULL, &gateway_proxy_schema},
	{"ingress", "Ingress", MEMBER_BLOCK, 0, NULL, &ingress_schema},
	{"terminating", "Terminating", MEMBER_BLOCK, 0, NULL, &terminating_schema},
	{"mesh", "Mesh", MEMBER_BLOCK, 0, NULL, &mesh_schema},
	{0},
};
static const struct block_schema gateway_schema = {.fields = gateway_fields};

static const struct member_rule connect_fields[] = {
	{"native", "Native", MEMBER_BOOL},
	{"gateway", "Gateway", MEMBER_BLOCK, 0, NULL, &gateway_schema},
	{"sidecar_service", "SidecarService", MEMBER_BLOCK, 0, NULL, &sidecar_service_schema},
	{"sidecar_task", "SidecarTask", MEMBER_BLOCK, 0, NULL, &sidecar_task_schema},
	{0},
};
static const struct block_schema connect_schema = {.fields = connect_fields};

static const struct member_rule service_fields[] = {
	{"name", "Name", MEMBER_TEXT},
	{"tags", "Tags", MEMBER_TEXTS},
	{"canary_tags", "CanaryTags", MEMBER_TEXTS},
	{"enable_tag_override", "EnableTagOverride", MEMBER_BOOL},
	{"port", "PortLabel", MEMBER_TEXT},
	{"address_mode", "AddressMode", MEMBER_TEXT, 0, "\"auto\""},
	{"address", "Address", MEMBER_TEXT},
	{"check", "Checks", MEMBER_BLOCKS, 0, NULL, &check_schema},
	{"check_restart", "CheckRestart", MEMBER_BLOCK, 0, NULL, &check_restart_schema},
	{"connect", "Connect", MEMBER_BLOCK, 0, NULL, &connect_schema},
	{"meta", "Meta", MEMBER_MAP},
	{"canary_meta", "CanaryMeta", MEMBER_MAP},
	{"tagged_addresses", "TaggedAddresses", MEMBER_MAP},
	{"task", "TaskName", MEMBER_TEXT},
	{"on_update", "OnUpdate", MEMBER_TEXT, 0, "\"require_healthy\""},
	{"provider", "Provider", MEMBER_TEXT, 0, "\"consul\""},
	{0},
};
const struct block_schema service_schema = {.fields = service_fields};
