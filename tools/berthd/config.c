#include "tools/berthd/config.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/cluster/keys.h"
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum setting_kind {
	SETTING_TEXT,
	SETTING_U16,
	SETTING_U32,
	SETTING_NAMED,
	SETTING_BOOL,
	SETTING_MODE, // of a file, in octal
	SETTING_ADDRESSES
};

struct setting {
	const char *name;
	enum setting_kind kind;
	uint32_t offset, size; // size: of a text
	int64_t least, most;
	const char *preset;       // default, as text
	const char *const *names; // NAMED
	const char *help;
	bool is_list; // a file may give it as a list of words
	bool is_map;  // a file may give it as words with names, which are lines here: "NAME: VALUE"
};

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"logfmt", "json", NULL};
static const char *const admissions[] = {"open", "known", NULL};
static const char *const poll_modes[] = {"adaptive", "spin", NULL};
static const char *const algorithms[] = {"binpack", "spread", NULL};
static const char *const booleans[] = {"false", "true", NULL};

#define AT(field) offsetof(struct config, field), sizeof(((struct config *)0)->field)
#define PORT(field) \
	offsetof(struct port_settings, field), sizeof(((struct port_settings *)0)->field)
#define NUMBER(low, high) .least = (low), .most = (high)

static const struct setting settings[] = {
	{"data_dir", SETTING_TEXT, AT(data_dir), .preset = "/var/lib/berth",
		.help = "directory of the log and the snapshots"},
	{"user", SETTING_TEXT, AT(user), .preset = "",
		.help = "started by root, berthd becomes this user and keeps no right of root's "
			"once its ports are open; empty: the owner of data_dir"},
	{"master_key_file", SETTING_TEXT, AT(master_key_file), .preset = "/etc/berth/master.key",
		.help = "master keys, as written by berthd genkey"},
	{"keyring_file", SETTING_TEXT, AT(keyring_file), .preset = "",
		.help = "keys that variables are encrypted with; empty: keyring in data_dir"},
	{"region", SETTING_TEXT, AT(region), .preset = "global", .help = "region shown by the API"},
	{"datacenter", SETTING_TEXT, AT(datacenter), .preset = "dc1",
		.help = "datacenter of this controller, shown by the API"},
	{"name", SETTING_TEXT, AT(name), .preset = "",
		.help = "name of this controller; empty: the host's"},
	{"log.level", SETTING_NAMED, AT(log_level), .preset = "info", .names = log_levels,
		.help = "least level that is written"},
	{"log.format", SETTING_NAMED, AT(log_format), .preset = "logfmt", .names = log_formats,
		.help = "form of a log line"},
	{"http.address", SETTING_TEXT, AT(http_address), .preset = "127.0.0.1",
		.help = "address the HTTP API listens on; empty: none, only http.socket"},
	{"http.port", SETTING_U32, AT(http_port), NUMBER(0, 65535), .preset = "4646",
		.help = "TCP port of the HTTP API; 0: any free one"},
	{"http.insecure", SETTING_BOOL, AT(http_insecure), .preset = "false", .names = booleans,
		.help = "allow an address that other machines reach without TLS and tokens: who "
			"reaches it may do all"},
	{"http.ui", SETTING_BOOL, AT(http_ui), .preset = "true", .names = booleans,
		.help = "serve the web page below /ui/"},
	{"http.tls.certificate", SETTING_TEXT, AT(tls_certificate), .preset = "",
		.help = "certificate of the HTTP API in PEM, its authorities after it; empty: no "
			"TLS"},
	{"http.tls.key", SETTING_TEXT, AT(tls_key), .preset = "", .help = "its private key"},
	{"http.tls.client_ca", SETTING_TEXT, AT(tls_client_ca), .preset = "",
		.help = "authorities one of which must have signed what clients show; empty: they "
			"show nothing"},
	{"http.socket.path", SETTING_TEXT, AT(socket_path), .preset = "",
		.help = "socket in the file system that the HTTP API listens on, too; empty: none"},
	{"http.socket.mode", SETTING_MODE, AT(socket_mode), NUMBER(0, 0777), .preset = "0660",
		.help = "its mode, in octal"},
	{"http.socket.group", SETTING_TEXT, AT(socket_group), .preset = "",
		.help = "its group; empty: the daemon's"},
	{"http.hosts", SETTING_TEXT, AT(http_hosts), .preset = "",
		.help = "names of this server in requests, beside localhost and the machine's",
		.is_list = true},
	{"http.origins", SETTING_TEXT, AT(http_origins), .preset = "",
		.help = "other sites whose pages may read: https://dash.example; *: all",
		.is_list = true},
	{"http.response_headers", SETTING_TEXT, AT(http_response_headers), .preset = "",
		.help = "headers added to every answer, one a line: X-Frame-Options: DENY",
		.is_map = true},
	{"http.connections_max", SETTING_U32, AT(http_connections_max), NUMBER(1, 65536),
		.preset = "4096", .help = "open HTTP connections, parked queries included"},
	{"http.connections_per_ip_max", SETTING_U32, AT(http_connections_per_ip_max),
		NUMBER(1, 65536), .preset = "2048",
		.help = "open HTTP connections of one client address"},
	{"http.memory_mb", SETTING_U32, AT(http_memory_mb), NUMBER(8, 65536), .preset = "256",
		.help = "memory of bodies that came and of answers that are being sent"},
	{"audit.path", SETTING_TEXT, AT(audit_path), .preset = "",
		.help = "file of who asked what of the HTTP API; empty: none"},
	{"agents.address", SETTING_TEXT, AT(agents_address), .preset = "any",
		.help = "address that nodes dial when they are called; any: all; empty: none, and "
			"nothing is asked of nodes"},
	{"agents.port", SETTING_U32, AT(agents_port), NUMBER(0, 65535), .preset = "0",
		.help = "TCP port that they dial; 0: the number of wire.udp_port"},
	{"agents.advertise_port", SETTING_U32, AT(agents_advertise_port), NUMBER(0, 65535),
		.preset = "0",
		.help = "TCP port that they are told, where another one is translated to it; 0: "
			"agents.port"},
	{"acl.token_min_expiration_ttl_s", SETTING_U32, AT(token_ttl_min_s), NUMBER(1, 31536000),
		.preset = "1", .help = "a token with an end holds at least this long"},
	{"acl.token_max_expiration_ttl_s", SETTING_U32, AT(token_ttl_max_s), NUMBER(1, 315360000),
		.preset = "86400", .help = "and at most this long"},
	{"wire.udp_port", SETTING_U16, AT(dataplane.udp_port), NUMBER(1, 65535), .preset = "4647",
		.help = "UDP port of the wire protocol"},
	{"wire.ttl_ms", SETTING_U32, AT(dataplane.ttl_ms), NUMBER(100, 86400000), .preset = "5000",
		.help = "silence longer than this makes a node down; nodes beat three times in it"},
	{"wire.restart_grace_ms", SETTING_U32, AT(dataplane.restart_grace_ms), NUMBER(0, 86400000),
		.preset = "5000", .help = "on top of ttl_ms for every known node after a start"},
	{"wire.stall_ms", SETTING_U32, AT(dataplane.stall_ms), NUMBER(10, 60000), .preset = "200",
		.help = "a gap in a worker's loop that counts as its own fault and freezes expiry"},
	{"wire.sealed_only", SETTING_BOOL, AT(dataplane.sealed_only), .preset = "false",
		.names = booleans,
		.help = "tell nodes what to run only sealed; older agents cannot ask for that"},
	{"wire.admission", SETTING_NAMED, AT(admission), .preset = "open", .names = admissions,
		.help = "open: any node with a key may register; known: one that a rule names"},
	{"wire.node_rate", SETTING_U32, AT(dataplane.node_rate), NUMBER(0, 1000000),
		.preset = "200",
		.help = "requests of one node a second, heartbeats in time aside; 0: no limit"},
	{"wire.node_burst", SETTING_U32, AT(dataplane.node_burst), NUMBER(32, 1000000),
		.preset = "1000", .help = "of them at most so many at once"},
	{"wire.client_rate", SETTING_U32, AT(dataplane.client_rate), NUMBER(0, 1000000),
		.preset = "20000",
		.help = "instances that one client places or releases a second, and its questions; "
			"0: no limit"},
	{"wire.client_burst", SETTING_U32, AT(dataplane.client_burst), NUMBER(32, 1000000),
		.preset = "2000", .help = "of them at most so many at once"},
	{"liveness.mass_percent", SETTING_U32, AT(dataplane.mass_percent), NUMBER(1, 100),
		.preset = "20",
		.help = "more silent nodes at once (at least 50), or a port that hears nobody: "
			"none "
			"is declared down; 100: they are"},
	{"liveness.mass_hold_s", SETTING_U32, AT(dataplane.mass_hold_s), NUMBER(1, 86400),
		.preset = "300", .help = "then they are after all, at a bounded rate"},
	{"dataplane.poll", SETTING_NAMED, AT(dataplane.poll), .preset = "adaptive",
		.names = poll_modes, .help = "adaptive: sleep when idle; spin: keep the core"},
	{"dataplane.idle_sleep_us", SETTING_U32, AT(dataplane.idle_sleep_us), NUMBER(1, 900),
		.preset = "900",
		.help = "longest nap of an idle worker that packets do not rouse; four times that "
			"when nothing comes"},
	{"dataplane.huge", SETTING_TEXT, AT(dataplane.huge), .preset = "auto",
		.help = "huge pages: auto, yes or no"},
	{"dataplane.memory_mb", SETTING_U32, AT(dataplane.memory_mb), NUMBER(0, 1048576),
		.preset = "0", .help = "packet memory without huge pages; 0: computed"},
	{"dataplane.eal_extra", SETTING_TEXT, AT(dataplane.eal_extra), .preset = "",
		.help = "further DPDK EAL arguments"},
	{"limits.nodes", SETTING_U32, AT(limits.nodes), NUMBER(1, NODES_MAX), .preset = "1048576",
		.help = "nodes that may be known"},
	{"limits.jobs", SETTING_U32, AT(limits.jobs), NUMBER(1, JOBS_MAX), .preset = "65536",
		.help = "jobs that may be registered"},
	{"limits.allocations", SETTING_U32, AT(limits.allocations), NUMBER(1, ALLOCATIONS_MAX),
		.preset = "4194304",
		.help = "allocations that may be known, terminal ones included"},
	{"limits.place_requests", SETTING_U32, AT(limits.place_requests),
		NUMBER(1, PLACE_REQUESTS_MAX), .preset = "4194304",
		.help = "placement requests that are remembered"},
	{"limits.evaluations", SETTING_U32, AT(limits.evaluations), NUMBER(1, EVALUATIONS_MAX),
		.preset = "1048576", .help = "evaluations that may be known, ended ones included"},
	{"limits.deployments", SETTING_U32, AT(limits.deployments), NUMBER(1, DEPLOYMENTS_MAX),
		.preset = "262144", .help = "deployments that may be known, ended ones included"},
	{"limits.clients", SETTING_U32, AT(limits.clients), NUMBER(1, CLIENTS_MAX),
		.preset = "4096", .help = "placement clients that may be known"},
	{"placement.algorithm", SETTING_NAMED, AT(algorithm), .preset = "binpack",
		.names = algorithms,
		.help = "which node is best: the fullest that fits, or the emptiest"},
	{"scheduler.workers", SETTING_U32, AT(scheduler_workers), NUMBER(0, SCHEDULERS_MAX),
		.preset = "0",
		.help = "evaluations decided at once; 0: one for each core that is left, at least "
			"two"},
	{"scheduler.gc_interval_s", SETTING_U32, AT(gc_interval_s), NUMBER(1, 31536000),
		.preset = "300", .help = "time between two collections of what has ended"},
	{"scheduler.eval_gc_s", SETTING_U32, AT(eval_gc_s), NUMBER(1, 31536000), .preset = "3600",
		.help = "ended evaluations are kept this long, and their allocations"},
	{"scheduler.batch_eval_gc_s", SETTING_U32, AT(batch_eval_gc_s), NUMBER(1, 31536000),
		.preset = "86400", .help = "the same of batch and sysbatch jobs"},
	{"scheduler.job_gc_s", SETTING_U32, AT(job_gc_s), NUMBER(1, 31536000), .preset = "14400",
		.help = "dead jobs are kept this long"},
	{"scheduler.deployment_gc_s", SETTING_U32, AT(deployment_gc_s), NUMBER(1, 31536000),
		.preset = "3600",
		.help = "deployments that are over and have nothing alive are kept this long"},
	{"scheduler.node_gc_s", SETTING_U32, AT(node_gc_s), NUMBER(1, 31536000), .preset = "86400",
		.help = "nodes that are down and run nothing are kept this long"},
	{"scheduler.acl_token_gc_s", SETTING_U32, AT(acl_token_gc_s), NUMBER(1, 31536000),
		.preset = "3600", .help = "expired tokens are kept this long"},
	{"scheduler.rejection_threshold", SETTING_U32, AT(rejection_threshold), NUMBER(0, 100000),
		.preset = "0",
		.help = "a node that rejects so many plans takes no more work; 0: never"},
	{"scheduler.rejection_window_s", SETTING_U32, AT(rejection_window_s), NUMBER(1, 86400),
		.preset = "300", .help = "within this time"},
	{"lifecycle.lost_after_ms", SETTING_U32, AT(lost_after_ms), NUMBER(1, 604800000),
		.preset = "60000", .help = "a node that is lost for longer is forgotten"},
	{"lifecycle.flaky_after_ms", SETTING_U32, AT(flaky_after_ms), NUMBER(1, 604800000),
		.preset = "900000", .help = "a node that is flaky for longer takes new work again"},
	{"lifecycle.readiness", SETTING_BOOL, AT(readiness), .preset = "false", .names = booleans,
		.help = "new nodes take work once the probe of their agent has said yes"},
	{"vms.offline_after_ms", SETTING_U32, AT(vm_offline_after_ms), NUMBER(1, 604800000),
		.preset = "180000",
		.help = "virtual machines fail when their worker is silent for longer"},
	{"vms.interval_ms", SETTING_U32, AT(vm_interval_ms), NUMBER(10, 600000), .preset = "5000",
		.help = "longest time between two looks at virtual machines"},
	{"vms.metrics", SETTING_BOOL, AT(vm_metrics), .preset = "false", .names = booleans,
		.help = "metrics under Orchard's names, too, with a series for each worker"},
	{"peers.regions", SETTING_TEXT, AT(peer_regions), .preset = "",
		.help = "controllers of other regions: name=http://host:port, …", .is_list = true},
	{"peers.token_file", SETTING_TEXT, AT(peer_token_file), .preset = "",
		.help = "file that begins with the token sent to them; empty: none"},
	{"peers.tls.ca", SETTING_TEXT, AT(peer_ca), .preset = "",
		.help = "authorities that signed their certificates; empty: those of the system"},
	{"peers.tls.certificate", SETTING_TEXT, AT(peer_certificate), .preset = "",
		.help = "certificate that is shown to them; empty: none"},
	{"peers.tls.key", SETTING_TEXT, AT(peer_key), .preset = "", .help = "its private key"},
	{"peers.tls.server_name", SETTING_TEXT, AT(peer_server_name), .preset = "",
		.help = "what their certificates name; empty: the hosts of their URLs"},
	{"peers.timeout_ms", SETTING_U32, AT(peer_timeout_ms), NUMBER(10, 600000), .preset = "5000",
		.help = "longest that one of their answers is waited for"},
	{"peers.retries", SETTING_U32, AT(peer_retries), NUMBER(0, 100), .preset = "1",
		.help = "further tries before one counts as away until the next time"},
	{"peers.poll_ms", SETTING_U32, AT(peer_poll_ms), NUMBER(10, 600000), .preset = "1000",
		.help = "how often they are asked how far a rollout over several regions is"},
	{"cluster.name", SETTING_TEXT, AT(cluster_name), .preset = "",
		.help = "cluster that this controller is a member of; empty: it stands alone"},
	{"cluster.endpoints", SETTING_TEXT, AT(cluster_endpoints), .preset = "",
		.help = "etcd: http://host:2379, … of all its members", .is_list = true},
	{"cluster.advertise_http", SETTING_TEXT, AT(cluster_http), .preset = "",
		.help = "URL at which the other members reach the HTTP API of this one"},
	{"cluster.advertise_wire", SETTING_TEXT, AT(cluster_wire), .preset = "",
		.help = "address:port at which nodes reach this member while it does not lead"},
	{"cluster.ttl_ms", SETTING_U32, AT(cluster_ttl_ms), NUMBER(1000, 600000), .preset = "3000",
		.help = "another member leads when the leader was not heard of for so long; etcd "
			"counts "
			"whole seconds"},
	{"cluster.user", SETTING_TEXT, AT(cluster_user), .preset = "",
		.help = "user of etcd; empty: it asks for none"},
	{"cluster.password_file", SETTING_TEXT, AT(cluster_password_file), .preset = "",
		.help = "file that begins with the user's password"},
	{"cluster.token_file", SETTING_TEXT, AT(cluster_token_file), .preset = "",
		.help = "file that begins with a management token, which a member that was away "
			"for "
			"long takes a snapshot with; empty: none"},
	{"cluster.tls.ca", SETTING_TEXT, AT(cluster_ca), .preset = "",
		.help = "authorities that signed the certificates of etcd and the members; empty: "
			"those of the system"},
	{"cluster.tls.certificate", SETTING_TEXT, AT(cluster_certificate), .preset = "",
		.help = "certificate that is shown to them; empty: none"},
	{"cluster.tls.key", SETTING_TEXT, AT(cluster_key), .preset = "", .help = "its private key"},
	{"store.map_mb", SETTING_U32, AT(store_map_mb), NUMBER(128, 16777216), .preset = "16384",
		.help = "largest size of the log"},
	{"store.snapshot_log_mb", SETTING_U32, AT(store_snapshot_log_mb), NUMBER(1, 1048576),
		.preset = "256",
		.help = "a snapshot is taken after so much log, or half of the last one's bytes"},
	{"store.sync", SETTING_BOOL, AT(store_sync), .preset = "true", .names = booleans,
		.help = "false loses acknowledged changes at a power cut: for measurements only"},
	{"store.collect_after_s", SETTING_U32, AT(collect_after_s), NUMBER(1, 31536000),
		.preset = "3600", .help = "terminal allocations are kept this long"},
};

// Settings of each entry of the list `ports`.
static const struct setting port_settings_table[] = {
	{"device", SETTING_TEXT, PORT(device), .preset = "",
		.help = "kernel interface, PCI address, or DPDK vdev string; with io: socket an "
			"interface, or nothing"},
	{"io", SETTING_TEXT, PORT(io), .preset = "auto",
		.help = "for a kernel interface: auto, shared (beside the kernel), af_xdp, "
			"af_packet, tap; or socket: UDP sockets of the kernel, without rights, "
			"huge pages or DPDK"},
	{"addresses", SETTING_ADDRESSES, PORT(addresses), .preset = "",
		.help = "Berth's own IPv4 and IPv6 addresses on this port; with io: shared or "
			"socket those of the kernel",
		.is_list = true},
	{"vlan_id", SETTING_U16, PORT(vlan_id), NUMBER(0, 4094), .preset = "0",
		.help = "the 802.1Q tag to expect; 0: any"},
	{"queues", SETTING_U32, PORT(queues), NUMBER(1, WORKERS_MAX), .preset = "1",
		.help = "receive queues, one worker each"},
	{"rx_descriptors", SETTING_U32, PORT(rx_descriptors), NUMBER(0, 32768), .preset = "0",
		.help = "0: the driver's choice"},
	{"tx_descriptors", SETTING_U32, PORT(tx_descriptors), NUMBER(0, 32768), .preset = "0",
		.help = "0: the driver's choice"},
	{"promiscuous", SETTING_BOOL, PORT(promiscuous), .preset = "false", .names = booleans,
		.help = "accept any destination MAC (replay of captures)"},
};

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

static bool refuse_setting(char *message, const char *name, const char *what)
{
	snprintf(message, CONFIG_MESSAGE_BYTES, "%s: %s", name, what);
	return false;
}

static bool set_addresses(
	struct port_settings *port, const char *name, const char *value, char *message)
{
	port->address_count = 0;
	const char *at = value;
	while (*at) {
		size_t size = strcspn(at, ", ");
		if (size >= sizeof port->addresses[0])
			return refuse_setting(message, name, "an address is too long");
		if (size > 0) {
			if (port->address_count == COUNT_OF(port->addresses))
				return refuse_setting(message, name, "at most 8 addresses a port");
			memcpy(port->addresses[port->address_count], at, size);
			port->addresses[port->address_count++][size] = 0;
		}
		at += size;
		at += strspn(at, ", ");
	}
	return true;
}

static bool set_mode(
	const struct setting *s, uint32_t *mode, const char *name, const char *value, char *message)
{
	char *end;
	long number = strtol(value, &end, 8);
	if (*value < '0' || *value > '7' || *end || number < s->least || number > s->most) {
		snprintf(message, CONFIG_MESSAGE_BYTES,
			"%s: \"%.60s\" is no mode in octal up to 0777, such as 0660", name, value);
		return false;
	}
	*mode = (uint32_t)number;
	return true;
}

static bool set_number(
	const struct setting *s, void *field, const char *name, const char *value, char *message)
{
	char *end;
	errno = 0;
	long long number = strtoll(value, &end, 10);
	if (end == value || *end || errno || number < s->least || number > s->most) {
		snprintf(message, CONFIG_MESSAGE_BYTES,
			"%s: \"%.60s\" is not a whole number from %lld to %lld", name, value,
			(long long)s->least, (long long)s->most);
		return false;
	}
	if (s->kind == SETTING_U16)
		*(uint16_t *)field = (uint16_t)number;
	else
		*(uint32_t *)field = (uint32_t)number;
	return true;
}

static bool set_named(
	const struct setting *s, void *field, const char *name, const char *value, char *message)
{
	for (uint32_t i = 0; s->names[i]; i++) {
		if (strcmp(s->names[i], value) != 0)
			continue;
		if (s->size == sizeof(bool))
			*(bool *)field = i;
		else
			*(uint32_t *)field = i;
		return true;
	}
	int used = snprintf(message, CONFIG_MESSAGE_BYTES, "%s: \"%.60s\" is none of", name, value);
	for (uint32_t i = 0; s->names[i] && used < CONFIG_MESSAGE_BYTES; i++)
		used += snprintf(
			message + used, CONFIG_MESSAGE_BYTES - (size_t)used, " %s", s->names[i]);
	return false;
}

static bool set_field(
	const struct setting *s, void *record, const char *name, const char *value, char *message)
{
	void *field = (char *)record + s->offset;
	switch (s->kind) {
	case SETTING_TEXT:
		if (strlen(value) >= s->size)
			return refuse_setting(message, name, "the text is too long");
		memcpy(field, value, strlen(value) + 1);
		return true;
	case SETTING_U16:
	case SETTING_U32: return set_number(s, field, name, value, message);
	case SETTING_MODE: return set_mode(s, field, name, value, message);
	case SETTING_NAMED:
	case SETTING_BOOL: return set_named(s, field, name, value, message);
	case SETTING_ADDRESSES: return set_addresses(record, name, value, message);
	}
	return false;
}

static const struct setting *find_setting(
	const struct setting *table, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

static void set_presets(const struct setting *table, size_t count, void *record)
{
	char message[CONFIG_MESSAGE_BYTES];
	for (size_t i = 0; i < count; i++)
		CHECK(set_field(&table[i], record, table[i].name, table[i].preset, message));
}

void config_defaults(struct config *config)
{
	memset(config, 0, sizeof *config);
	set_presets(settings, COUNT_OF(settings), config);
	for (uint32_t i = 0; i < PORTS_MAX; i++)
		set_presets(port_settings_table, COUNT_OF(port_settings_table),
			&config->dataplane.ports[i]);
	if (gethostname(config->name, sizeof config->name - 1) != 0)
		snprintf(config->name, sizeof config->name, "berthd");
}

// Sets "ports.N.key"; N may be at most one past the ports so far.
static bool set_port(struct config *config, const char *name, const char *value, char *message)
{
	char *rest;
	unsigned long number = strtoul(name + 6, &rest, 10);
	if (rest == name + 6 || *rest != '.')
		return refuse_setting(message, name, "a port setting is named ports.NUMBER.KEY");
	if (number >= PORTS_MAX || number > config->dataplane.port_count)
		return refuse_setting(
			message, name, "ports are numbered from 0 without gaps, at most 16");
	const struct setting *s =
		find_setting(port_settings_table, COUNT_OF(port_settings_table), rest + 1);
	if (!s)
		return refuse_setting(message, name, "no such setting; --help lists them");
	if (number == config->dataplane.port_count)
		config->dataplane.port_count++;
	return set_field(s, &config->dataplane.ports[number], name, value, message);
}

static const struct setting *setting_named(const char *name)
{
	const char *of_port = strncmp(name, "ports.", 6) == 0 ? strrchr(name, '.') : NULL;
	return of_port ? find_setting(
				 port_settings_table, COUNT_OF(port_settings_table), of_port + 1)
		       : find_setting(settings, COUNT_OF(settings), name);
}

bool config_takes_list(const char *name)
{
	const struct setting *s = setting_named(name);
	return !s || s->is_list; // of a setting that there is not, that is the mistake
}

bool config_takes_map(const char *name)
{
	const struct setting *s = setting_named(name);
	return s && s->is_map;
}

bool config_set(struct config *config, const char *name, const char *value, char *message)
{
	if (strncmp(name, "ports.", 6) == 0)
		return set_port(config, name, value, message);
	const struct setting *s = find_setting(settings, COUNT_OF(settings), name);
	if (!s)
		return refuse_setting(message, name, "no such setting; --help lists them");
	return set_field(s, config, name, value, message);
}

// What belongs together is given together.
static bool check_listening(const struct config *c, char *message)
{
	if (!*c->http_address && !*c->socket_path)
		return refuse_setting(message, "http.address",
			"is empty, and so is http.socket.path; the API must listen somewhere");
	if (!*c->tls_certificate != !*c->tls_key)
		return refuse_setting(message,
			*c->tls_key ? "http.tls.certificate" : "http.tls.key",
			"is missing; a certificate and its key are given together");
	if (*c->tls_client_ca && !*c->tls_certificate)
		return refuse_setting(
			message, "http.tls.client_ca", "is of no use without http.tls.certificate");
	if (*c->tls_certificate && !*c->http_address)
		return refuse_setting(message, "http.tls.certificate",
			"is of no use without http.address: http.socket has no TLS");
	if (!*c->peer_certificate != !*c->peer_key)
		return refuse_setting(message,
			*c->peer_key ? "peers.tls.certificate" : "peers.tls.key",
			"is missing; a certificate and its key are given together");
	return true;
}

static bool check_headers(const struct config *c, char *message)
{
	char what[256];
	return header_lines_are_sound(c->http_response_headers, what, sizeof what) ||
	       refuse_setting(message, "http.response_headers", what);
}

static bool check_cluster(const struct config *c, char *message)
{
	if (!*c->cluster_certificate != !*c->cluster_key)
		return refuse_setting(message,
			*c->cluster_key ? "cluster.tls.certificate" : "cluster.tls.key",
			"is missing; a certificate and its key are given together");
	if (!*c->cluster_name)
		return !*c->cluster_endpoints ||
		       refuse_setting(message, "cluster.name", "is missing: name the cluster");
	if (!cluster_name_is_fit(c->cluster_name))
		return refuse_setting(message, "cluster.name",
			"must be at most 63 letters, digits, '-', '_' and '.'");
	if (!*c->cluster_endpoints)
		return refuse_setting(message, "cluster.endpoints",
			"is missing; name etcd's members, for example http://10.0.0.1:2379");
	if (!*c->cluster_http)
		return refuse_setting(message, "cluster.advertise_http",
			"is missing; the other members need a URL of this one, for example "
			"http://10.0.0.1:4646");
	return true;
}

// Ports beside the kernel take the addresses of their interface; sockets are where their addresses are, too. Whether an
// open io comes to one of them, the interface says.
static bool check_port_place(const struct port_settings *port, const char *name, char *message)
{
	bool has_device = port->device[0] != '\0', has_address = port->address_count > 0;
	if (port_is_sockets(port))
		return has_device || has_address ||
		       refuse_setting(message, name,
			       "addresses is empty; list addresses of this machine, or name their "
			       "interface as device");
	if (!has_device)
		return refuse_setting(message, name, "device is missing");
	return has_address || port_is_shared(port) || port_is_open(port) ||
	       refuse_setting(
		       message, name, "addresses is empty; Berth needs an address of its own");
}

bool config_check(const struct config *config, char *message)
{
	if (!check_listening(config, message) || !check_headers(config, message) ||
		!check_cluster(config, message))
		return false;
	const struct dataplane_settings *d = &config->dataplane;
	if (d->port_count == 0)
		return refuse_setting(message, "ports",
			"none is configured; name one, for example --ports.0.device=eth1 "
			"--ports.0.addresses=10.0.0.1");
	uint32_t workers = 0;
	for (uint32_t i = 0; i < d->port_count; i++) {
		char name[32];
		snprintf(name, sizeof name, "ports.%u", i);
		if (!check_port_place(&d->ports[i], name, message))
			return false;
		workers += d->ports[i].queues;
	}
	if (workers > WORKERS_MAX)
		return refuse_setting(message, "ports", "more than 64 queues in all");
	if (strcmp(d->huge, "auto") && strcmp(d->huge, "yes") && strcmp(d->huge, "no"))
		return refuse_setting(message, "dataplane.huge", "is none of auto yes no");
	if (d->stall_ms >= d->ttl_ms)
		return refuse_setting(message, "wire.stall_ms", "must be shorter than wire.ttl_ms");
	if (config->token_ttl_min_s > config->token_ttl_max_s)
		return refuse_setting(message, "acl.token_min_expiration_ttl_s",
			"must not be longer than acl.token_max_expiration_ttl_s");
	return true;
}

// Formats the value as text, in a buffer of CONFIG_PATH_BYTES or more.
static void value_text(const struct setting *s, const void *record, char *text, size_t size)
{
	const void *field = (const char *)record + s->offset;
	switch (s->kind) {
	case SETTING_TEXT: snprintf(text, size, "%s", (const char *)field); break;
	case SETTING_U16: snprintf(text, size, "%u", *(const uint16_t *)field); break;
	case SETTING_U32: snprintf(text, size, "%u", *(const uint32_t *)field); break;
	case SETTING_MODE: snprintf(text, size, "0%o", *(const uint32_t *)field); break;
	case SETTING_NAMED:
	case SETTING_BOOL:
		snprintf(text, size, "%s",
			s->names[s->size == sizeof(bool) ? *(const bool *)field
							 : *(const uint32_t *)field]);
		break;
	case SETTING_ADDRESSES: {
		const struct port_settings *port = record;
		size_t used = 0;
		text[0] = 0;
		for (uint32_t i = 0; i < port->address_count && used < size; i++)
			used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
				port->addresses[i]);
		break;
	}
	}
}

static bool values_differ(const struct setting *s, const void *a, const void *b)
{
	char ours[2 * CONFIG_PATH_BYTES + 64], theirs[sizeof ours];
	value_text(s, a, ours, sizeof ours);
	value_text(s, b, theirs, sizeof theirs);
	return strcmp(ours, theirs) != 0;
}

static bool ports_differ(const struct config *a, const struct config *b, uint32_t number)
{
	const struct dataplane_settings *x = &a->dataplane, *y = &b->dataplane;
	bool differ = (number < x->port_count) != (number < y->port_count);
	for (size_t i = 0; !differ && i < COUNT_OF(port_settings_table); i++)
		differ = values_differ(
			&port_settings_table[i], &x->ports[number], &y->ports[number]);
	return differ;
}

void config_compare(
	const struct config *a, const struct config *b, config_differs *differs, void *context)
{
	for (size_t i = 0; i < COUNT_OF(settings); i++)
		if (values_differ(&settings[i], a, b))
			differs(settings[i].name, context);
	for (uint32_t i = 0; i < PORTS_MAX; i++) {
		char name[32];
		snprintf(name, sizeof name, "ports.%u", i);
		if (ports_differ(a, b, i))
			differs(name, context);
	}
}

void config_take(struct config *to, const struct config *from, const char *name)
{
	const struct setting *s = find_setting(settings, COUNT_OF(settings), name);
	CHECK(s);
	memcpy((char *)to + s->offset, (const char *)from + s->offset, s->size);
}

// Prints a double-quoted scalar of YAML or JSON.
static void print_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void print_value(FILE *out, const struct setting *s, const void *record)
{
	char text[2 * CONFIG_PATH_BYTES + 64];
	value_text(s, record, text, sizeof text);
	if (s->kind == SETTING_TEXT || s->kind == SETTING_MODE)
		print_quoted(out, text);
	else if (s->kind == SETTING_ADDRESSES) {
		const struct port_settings *port = record;
		fputc('[', out);
		for (uint32_t i = 0; i < port->address_count; i++) {
			fputs(i ? ", " : "", out);
			print_quoted(out, port->addresses[i]);
		}
		fputc(']', out);
	} else
		fputs(text, out);
}

void config_print(const struct config *config, FILE *out)
{
	char section[64] = "";
	for (size_t i = 0; i < COUNT_OF(settings); i++) {
		const char *dot = strchr(settings[i].name, '.');
		size_t prefix = dot ? (size_t)(dot - settings[i].name) : 0;
		if (dot && (strlen(section) != prefix ||
				   strncmp(section, settings[i].name, prefix) != 0)) {
			snprintf(section, sizeof section, "%.*s", (int)prefix, settings[i].name);
			fprintf(out, "%s:\n", section);
		}
		fprintf(out, "%s%s: ", dot ? "  " : "", dot ? dot + 1 : settings[i].name);
		print_value(out, &settings[i], config);
		fputc('\n', out);
	}
	if (config->dataplane.port_count)
		fputs("ports:\n", out);
	for (uint32_t p = 0; p < config->dataplane.port_count; p++) {
		for (size_t i = 0; i < COUNT_OF(port_settings_table); i++) {
			fprintf(out, "%s%s: ", i ? "    " : "  - ", port_settings_table[i].name);
			print_value(out, &port_settings_table[i], &config->dataplane.ports[p]);
			fputc('\n', out);
		}
	}
}

static void print_json(FILE *out, const struct setting *table, size_t count, const void *record,
	const char *prefix)
{
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s\"%s%s\":", i ? "," : "", prefix, table[i].name);
		bool quoted = table[i].kind == SETTING_NAMED;
		fputs(quoted ? "\"" : "", out);
		print_value(out, &table[i], record);
		fputs(quoted ? "\"" : "", out);
	}
}

void config_keyring_path(const struct config *config, char path[static CONFIG_PATH_BYTES + 16])
{
	if (*config->keyring_file)
		snprintf(path, CONFIG_PATH_BYTES + 16, "%s", config->keyring_file);
	else
		snprintf(path, CONFIG_PATH_BYTES + 16, "%s/keyring", config->data_dir);
}

char *config_json(const struct config *config)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	CHECK(out);
	fputc('{', out);
	print_json(out, settings, COUNT_OF(settings), config, "");
	for (uint32_t p = 0; p < config->dataplane.port_count; p++) {
		char prefix[32];
		snprintf(prefix, sizeof prefix, "ports.%u.", p);
		fputc(',', out);
		print_json(out, port_settings_table, COUNT_OF(port_settings_table),
			&config->dataplane.ports[p], prefix);
	}
	fputc('}', out);
	CHECK(fclose(out) == 0);
	return text;
}

static void help_lines(FILE *out, const struct setting *table, size_t count, const char *prefix)
{
	for (size_t i = 0; i < count; i++) {
		char name[64];
		snprintf(name, sizeof name, "%s%s", prefix, table[i].name);
		fprintf(out, "  --%-30s %s", name, table[i].help);
		if (table[i].names && table[i].kind == SETTING_NAMED) {
			fputs(":", out);
			for (uint32_t n = 0; table[i].names[n]; n++)
				fprintf(out, " %s", table[i].names[n]);
		}
		if (table[i].preset[0])
			fprintf(out, " [%s]", table[i].preset);
		fputc('\n', out);
	}
}

void config_help(FILE *out)
{
	help_lines(out, settings, COUNT_OF(settings), "");
	help_lines(out, port_settings_table, COUNT_OF(port_settings_table), "ports.N.");
}
