// The daemon's configuration: one table of settings serves the YAML file, the command line flags of the same names,
// --print-config and --help.
#pragma once
#include "dataplane/dataplane.h"
#include "placement/direct/placement.h"
#include "state/tables/state.h"
#include "tools/options/header_lines.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CONFIG_PATH_BYTES 512
#define CONFIG_NAME_BYTES 128
#define CONFIG_PEERS_BYTES 1024

struct config {
	char data_dir[CONFIG_PATH_BYTES], user[CONFIG_NAME_BYTES];
	char master_key_file[CONFIG_PATH_BYTES], keyring_file[CONFIG_PATH_BYTES];
	char region[CONFIG_NAME_BYTES], datacenter[CONFIG_NAME_BYTES], name[CONFIG_NAME_BYTES];
	uint32_t log_level, log_format;
	char http_address[CONFIG_NAME_BYTES], http_hosts[CONFIG_PEERS_BYTES],
		http_origins[CONFIG_PEERS_BYTES], http_response_headers[HEADER_LINES_BYTES];
	char tls_certificate[CONFIG_PATH_BYTES], tls_key[CONFIG_PATH_BYTES];
	char tls_client_ca[CONFIG_PATH_BYTES];
	char socket_path[CONFIG_NAME_BYTES], socket_group[CONFIG_NAME_BYTES];
	uint32_t socket_mode;
	bool http_insecure, http_ui;
	char audit_path[CONFIG_PATH_BYTES];
	char agents_address[CONFIG_NAME_BYTES];
	uint32_t agents_port, agents_advertise_port;
	uint32_t token_ttl_min_s, token_ttl_max_s;
	uint32_t http_port, http_connections_max, http_connections_per_ip_max, http_memory_mb;
	struct dataplane_settings dataplane;
	struct state_limits limits;
	uint32_t algorithm;
	uint32_t store_map_mb, store_snapshot_log_mb, collect_after_s;
	uint32_t store_sync;
	uint32_t scheduler_workers; // 0: as many as there are cores for
	uint32_t gc_interval_s, eval_gc_s, batch_eval_gc_s, job_gc_s, node_gc_s, deployment_gc_s;
	uint32_t acl_token_gc_s;
	uint32_t rejection_threshold, rejection_window_s;
	uint32_t lost_after_ms, flaky_after_ms, readiness, admission;
	uint32_t vm_offline_after_ms, vm_interval_ms, vm_metrics;
	char peer_regions[CONFIG_PEERS_BYTES], peer_token_file[CONFIG_PATH_BYTES];
	char peer_ca[CONFIG_PATH_BYTES], peer_certificate[CONFIG_PATH_BYTES];
	char peer_key[CONFIG_PATH_BYTES], peer_server_name[CONFIG_NAME_BYTES];
	uint32_t peer_timeout_ms, peer_retries, peer_poll_ms;
	char cluster_name[CONFIG_NAME_BYTES], cluster_endpoints[CONFIG_PEERS_BYTES];
	char cluster_http[CONFIG_NAME_BYTES], cluster_wire[CONFIG_NAME_BYTES];
	char cluster_user[CONFIG_NAME_BYTES], cluster_password_file[CONFIG_PATH_BYTES];
	char cluster_ca[CONFIG_PATH_BYTES], cluster_certificate[CONFIG_PATH_BYTES];
	char cluster_key[CONFIG_PATH_BYTES], cluster_token_file[CONFIG_PATH_BYTES];
	uint32_t cluster_ttl_ms;
};

#define CONFIG_MESSAGE_BYTES 512

// Sets every setting to its default.
void config_defaults(struct config *);
// Sets one setting by its dotted name ("http.port", "ports.0.device"). Returns false and a sentence
// in message when there is no such setting or the value does not fit it.
bool config_takes_list(const char *name); // whether a file may give it as a list
bool config_takes_map(const char *name);  // whether a file may give it as words with names
bool config_set(struct config *, const char *name, const char *value, char *message);
// Reads a file over the present values. Refuses unknown keys, wrong kinds and doubled keys, with the file's line and
// column in message.
bool config_load(struct config *, const char *path, char *message);
// Reads an open stream; path is only for messages.
bool config_read(struct config *, FILE *, const char *path, char *message);
// Checks rules over several settings: a port is configured, it has addresses, limits fit together.
bool config_check(const struct config *, char *message);
// Calls back with the name of each setting that has another value in b than in a; a port that differs is "ports.N".
typedef void config_differs(const char *name, void *context);
void config_compare(
	const struct config *a, const struct config *b, config_differs *, void *context);
// Copies one setting by its name; no port's.
void config_take(struct config *to, const struct config *from, const char *name);
// Prints the effective configuration as YAML that config_load can read.
void config_print(const struct config *, FILE *);
// The file of the keys of variables.
void config_keyring_path(const struct config *, char path[static CONFIG_PATH_BYTES + 16]);
// The effective configuration as one JSON object of dotted names; the caller frees.
char *config_json(const struct config *);
// Prints one line per setting for --help: name, default, meaning.
void config_help(FILE *);
