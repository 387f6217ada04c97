// Members of a service, its checks and its mesh.
#include "tools/jobfile/schema.h"

static const struct field check_restart_fields[] = {
	{"limit", "Limit", FIELD_INT},
	{"grace", "Grace", FIELD_DURATION, FIELD_NULL},
	{"ignore_warnings", "IgnoreWarnings", FIELD_BOOL},
	{0},
};
static const struct schema check_restart_schema = {.fields = check_restart_fields};

static const struct field check_fields[] = {
	{"name", "Name", FIELD_TEXT},
	{"type", "Type", FIELD_TEXT},
	{"command", "Command", FIELD_TEXT},
	{"args", "Args", FIELD_TEXTS},
	{"path", "Path", FIELD_TEXT},
	{"protocol", "Protocol", FIELD_TEXT},
	{"port", "PortLabel", FIELD_TEXT},
	{"expose", "Expose", FIELD_BOOL},
	{"address_mode", "AddressMode", FIELD_TEXT},
	{"advertise", "Advertise", FIELD_TEXT},
	{"interval", "Interval", FIELD_DURATION},
	{"timeout", "Timeout", FIELD_DURATION},
	{"initial_status", "InitialStatus", FIELD_TEXT},
	{"tls_server_name", "TLSServerName", FIELD_TEXT},
	{"tls_skip_verify", "TLSSkipVerify", FIELD_BOOL},
	{"header", "Header", FIELD_HEADERS},
	{"method", "Method", FIELD_TEXT},
	{"check_restart", "CheckRestart", FIELD_BLOCK, 0, NULL, &check_restart_schema},
	{"grpc_service", "GRPCService", FIELD_TEXT},
	{"grpc_use_tls", "GRPCUseTLS", FIELD_BOOL},
	{"task", "TaskName", FIELD_TEXT},
	{"success_before_passing", "SuccessBeforePassing", FIELD_INT},
	{"failures_before_critical", "FailuresBeforeCritical", FIELD_INT},
	{"body", "Body", FIELD_TEXT},
	{"on_update", "OnUpdate", FIELD_TEXT},
	{0},
};
static const struct schema check_schema = {.fields = check_fields};

static const struct field mesh_gateway_fields[] = {{"mode", "Mode", FIELD_TEXT}, {0}};
static const struct schema mesh_gateway_schema = {.fields = mesh_gateway_fields};

static const struct field upstream_fields[] = {
	{"destination_name", "DestinationName", FIELD_TEXT},
	{"destination_namespace", "DestinationNamespace", FIELD_TEXT},
	{"destination_peer", "DestinationPeer", FIELD_TEXT},
	{"destination_type", "DestinationType", FIELD_TEXT},
	{"local_bind_port", "LocalBindPort", FIELD_INT},
	{"datacenter", "Datacenter", FIELD_TEXT},
	{"local_bind_address", "LocalBindAddress", FIELD_TEXT},
	{"local_bind_socket_path", "LocalBindSocketPath", FIELD_TEXT},
	{"local_bind_socket_mode", "LocalBindSocketMode", FIELD_TEXT},
	{"mesh_gateway", "MeshGateway", FIELD_BLOCK, 0, NULL, &mesh_gateway_schema},
	{"config", "Config", FIELD_FREE},
	{0},
};
static const struct schema upstream_schema = {.fields = upstream_fields};

static const struct field expose_path_fields[] = {
	{"path", "Path", FIELD_TEXT},
	{"protocol", "Protocol", FIELD_TEXT},
	{"local_path_port", "LocalPathPort", FIELD_INT},
	{"listener_port", "ListenerPort", FIELD_TEXT},
	{0},
};
static const struct schema expose_path_schema = {.fields = expose_path_fields};

static const struct field expose_fields[] = {
	{"path", "Paths", FIELD_BLOCKS, 0, NULL, &expose_path_schema},
	{NULL, "Path", FIELD_HIDDEN},
	{0},
};
static const struct schema expose_schema = {.fields = expose_fields};

static const struct field proxy_fields[] = {
	{"local_service_address", "LocalServiceAddress", FIELD_TEXT},
	{"local_service_port", "LocalServicePort", FIELD_INT},
	{"expose", "Expose", FIELD_BLOCK, 0, NULL, &expose_schema},
	{NULL, "ExposeConfig", FIELD_HIDDEN},
	{"upstreams", "Upstreams", FIELD_BLOCKS, 0, NULL, &upstream_schema},
	{"config", "Config", FIELD_FREE},
	{0},
};
static const struct schema proxy_schema = {.fields = proxy_fields};

static const struct field sidecar_service_fields[] = {
	{"tags", "Tags", FIELD_TEXTS},
	{"port", "Port", FIELD_TEXT},
	{"proxy", "Proxy", FIELD_BLOCK, 0, NULL, &proxy_schema},
	{"disable_default_tcp_check", "DisableDefaultTCPCheck", FIELD_BOOL},
	{"meta", "Meta", FIELD_MAP},
	{0},
};
static const struct schema sidecar_service_schema = {.fields = sidecar_service_fields};

static const struct field sidecar_task_fields[] = {
	{"name", "Name", FIELD_TEXT},
	{"driver", "Driver", FIELD_TEXT},
	{"user", "User", FIELD_TEXT},
	{"config", "Config", FIELD_FREE},
	{"env", "Env", FIELD_MAP},
	{"resources", "Resources", FIELD_BLOCK, 0, "{}", &resources_schema},
	{"meta", "Meta", FIELD_MAP},
	{"kill_timeout", "KillTimeout", FIELD_DURATION, FIELD_NULL, "5000000000"},
	{"logs", "LogConfig", FIELD_BLOCK, 0, "{}", &logs_schema},
	{"shutdown_delay", "ShutdownDelay", FIELD_DURATION, FIELD_NULL, "0"},
	{"kill_signal", "KillSignal", FIELD_TEXT},
	{0},
};
static const struct schema sidecar_task_schema = {.fields = sidecar_task_fields};

static const struct field bind_address_fields[] = {
	{"address", "Address", FIELD_TEXT},
	{"port", "Port", FIELD_INT},
	{0},
};
static const struct schema bind_address_schema = {.label = "Name", .fields = bind_address_fields};

static const struct field gateway_proxy_fields[] = {
	{"connect_timeout", "ConnectTimeout", FIELD_DURATION, FIELD_NULL, "5000000000"},
	{"envoy_gateway_bind_tagged_addresses", "EnvoyGatewayBindTaggedAddresses", FIELD_BOOL},
	{"envoy_gateway_bind_addresses", "EnvoyGatewayBindAddresses", FIELD_NAMED, 0, NULL,
		&bind_address_schema},
	{"envoy_gateway_no_default_bind", "EnvoyGatewayNoDefaultBind", FIELD_BOOL},
	{"envoy_dns_discovery_type", "EnvoyDNSDiscoveryType", FIELD_TEXT},
	{"config", "Config", FIELD_FREE},
	{0},
};
static const struct schema gateway_proxy_schema = {.fields = gateway_proxy_fields};

static const struct field tls_fields[] = {
	{"enabled", "Enabled", FIELD_BOOL},
	{"tls_min_version", "TLSMinVersion", FIELD_TEXT},
	{"tls_max_version", "TLSMaxVersion", FIELD_TEXT},
	{"cipher_suites", "CipherSuites", FIELD_TEXTS},
	{0},
};
static const struct schema tls_schema = {.fields = tls_fields};

static const struct field ingress_service_fields[] = {
	{"name", "Name", FIELD_TEXT},
	{"hosts", "Hosts", FIELD_TEXTS},
	{0},
};
static const struct schema ingress_service_schema = {.fields = ingress_service_fields};

static const struct field listener_fields[] = {
	{"port", "Port", FIELD_INT},
	{"protocol", "Protocol", FIELD_TEXT, 0, "\"tcp\""},
	{"service", "Services", FIELD_BLOCKS, 0, NULL, &ingress_service_schema},
	{0},
};
static const struct schema listener_schema = {.fields = listener_fields};

static const struct field ingress_fields[] = {
	{"tls", "TLS", FIELD_BLOCK, 0, NULL, &tls_schema},
	{"listener", "Listeners", FIELD_BLOCKS, 0, NULL, &listener_schema},
	{0},
};
static const struct schema ingress_schema = {.fields = ingress_fields};

static const struct field linked_fields[] = {
	{"name", "Name", FIELD_TEXT},
	{"ca_file", "CAFile", FIELD_TEXT},
	{"cert_file", "CertFile", FIELD_TEXT},
	{"key_file", "KeyFile", FIELD_TEXT},
	{"sni", "SNI", FIELD_TEXT},
	{0},
};
static const struct schema linked_schema = {.fields = linked_fields};

static const struct field terminating_fields[] = {
	{"service", "Services", FIELD_BLOCKS, 0, NULL, &linked_schema},
	{0},
};
static const struct schema terminating_schema = {.fields = terminating_fields};

static const struct field mesh_fields[] = {{0}};
static const struct schema mesh_schema = {.fields = mesh_fields};

static const struct field gateway_fields[] = {
	{"proxy", "Proxy", FIELD_BLOCK, 0, NULL, &gateway_proxy_schema},
	{"ingress", "Ingress", FIELD_BLOCK, 0, NULL, &ingress_schema},
	{"terminating", "Terminating", FIELD_BLOCK, 0, NULL, &terminating_schema},
	{"mesh", "Mesh", FIELD_BLOCK, 0, NULL, &mesh_schema},
	{0},
};
static const struct schema gateway_schema = {.fields = gateway_fields};

static const struct field connect_fields[] = {
	{"native", "Native", FIELD_BOOL},
	{"gateway", "Gateway", FIELD_BLOCK, 0, NULL, &gateway_schema},
	{"sidecar_service", "SidecarService", FIELD_BLOCK, 0, NULL, &sidecar_service_schema},
	{"sidecar_task", "SidecarTask", FIELD_BLOCK, 0, NULL, &sidecar_task_schema},
	{0},
};
static const struct schema connect_schema = {.fields = connect_fields};

static const struct field service_fields[] = {
	{"name", "Name", FIELD_TEXT},
	{"tags", "Tags", FIELD_TEXTS},
	{"canary_tags", "CanaryTags", FIELD_TEXTS},
	{"enable_tag_override", "EnableTagOverride", FIELD_BOOL},
	{"port", "PortLabel", FIELD_TEXT},
	{"address_mode", "AddressMode", FIELD_TEXT, 0, "\"auto\""},
	{"address", "Address", FIELD_TEXT},
	{"check", "Checks", FIELD_BLOCKS, 0, NULL, &check_schema},
	{"check_restart", "CheckRestart", FIELD_BLOCK, 0, NULL, &check_restart_schema},
	{"connect", "Connect", FIELD_BLOCK, 0, NULL, &connect_schema},
	{"meta", "Meta", FIELD_MAP},
	{"canary_meta", "CanaryMeta", FIELD_MAP},
	{"tagged_addresses", "TaggedAddresses", FIELD_MAP},
	{"task", "TaskName", FIELD_TEXT},
	{"on_update", "OnUpdate", FIELD_TEXT, 0, "\"require_healthy\""},
	{"provider", "Provider", FIELD_TEXT, 0, "\"consul\""},
	{0},
};
const struct schema service_schema = {.fields = service_fields};
