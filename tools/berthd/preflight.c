#include "tools/berthd/preflight.h"
#include "dataplane/wire/auth.h"
#include "state/base/error.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "state/store/store.h"
#include "tools/api/listen/listening.h"
#include "tools/berthd/agents.h"
#include "tools/berthd/membership/membership.h"
#include "tools/berthd/peers.h"
#include "tools/keyring/keyring_file.h"
#include "tools/tls/credentials.h"
#include "tools/tls/pem_file.h"
#include "tools/tls/secret_file.h"
#include <arpa/inet.h>
#include <errno.h>
#include <libgen.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *four = (const void *)address;
		return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	const struct sockaddr_in6 *six = (const void *)address;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

bool http_address_is_open(const char *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *all;
	bool is_open = false;

	if (!*address)
		return false;
	if (getaddrinfo(address, NULL, &hints, &all) != 0)
		return false; // nothing listens there
	for (const struct addrinfo *a = all; a; a = a->ai_next)
		is_open |= !is_loopback(a->ai_addr);
	freeaddrinfo(all);
	return is_open;
}

bool preflight_address(const struct config *config, char *message, uint32_t message_size)
{
	if (config->http_insecure || *config->tls_certificate ||
		!http_address_is_open(config->http_address))
		return true;
	snprintf(message, message_size,
		"http.address: other machines reach %s, and without TLS whoever is on the way "
		"reads "
		"and changes everything: set http.tls.certificate and http.tls.key (berth tls cert "
		"create makes them), listen on 127.0.0.1 or at http.socket.path, or set "
		"http.insecure to true where the network keeps strangers out",
		config->http_address);
	return false;
}

// Those that are read by who has no word on their rights, as credentials of our own server have. One that is not there
// is told by who reads it.
bool preflight_secrets(const struct config *config, char *message, uint32_t message_size)
{
	const struct {
		const char *setting, *path;
	} files[] = {
		{"peers.tls.key", config->peer_key},
		{"peers.token_file", config->peer_token_file},
		{"cluster.tls.key", config->cluster_key},
		{"cluster.password_file", config->cluster_password_file},
		{"cluster.token_file", config->cluster_token_file},
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct stat found;
		if (!*files[i].path || stat(files[i].path, &found) != 0 || !S_ISREG(found.st_mode))
			continue;
		const char *fault = secret_file_fault(&found);
		if (!fault)
			continue;
		snprintf(
			message, message_size, "%s: %s %s", files[i].setting, files[i].path, fault);
		return false;
	}
	return true;
}

static bool check_tls(const struct config *config, char *message, uint32_t message_size)
{
	struct credentials_files files = {
		config->tls_certificate, config->tls_key, config->tls_client_ca};
	if (!*files.certificate)
		return true;
	struct credentials *credentials = credentials_load(&files,
		(int64_t)(time_wall_ns(&time_source_real) / NS_PER_S), message, message_size);
	credentials_release(credentials);
	return credentials != NULL;
}

// Tried, unless a daemon of the same data_dir runs: it is the one that listens there.
static bool check_listening(const struct config *config, char *message, uint32_t message_size)
{
	if (!*config->http_address || store_holder(config->data_dir) != 0)
		return true;
	int fd = listen_at_address(
		"http", config->http_address, (uint16_t)config->http_port, message, message_size);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

// data_dir is looked at by itself.
static bool check_cluster(const struct config *config, char *message, uint32_t message_size)
{
	struct stat found;
	bool is_file = stat(config->data_dir, &found) == 0 && !S_ISDIR(found.st_mode);
	return is_file || membership_is_fit(config, message, message_size);
}

static bool check_socket(const struct config *config, char *message, uint32_t message_size)
{
	struct listening_path path = {
		config->socket_path, config->socket_mode, config->socket_group};
	return !*path.path || (listening_path_is_fit(&path, message, message_size) &&
				      listening_path_is_free(&path, message, message_size));
}

// What libcurl would say only when a peer is asked.
static bool check_peer_files(const struct config *config, char *message, uint32_t message_size)
{
	const struct {
		const char *setting, *path;
	} files[] = {
		{"peers.tls.ca", config->peer_ca},
		{"peers.tls.certificate", config->peer_certificate},
		{"peers.tls.key", config->peer_key},
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (!*files[i].path)
			continue;
		char *text = pem_file_read(files[i].setting, files[i].path, message, message_size);
		if (!text)
			return false;
		pem_text_free(text);
	}
	return true;
}

static bool check_keys(const struct config *config, char *message, uint32_t message_size)
{
	struct master_keys keys;
	int error = master_keys_load(config->master_key_file, &keys, message, message_size);

	explicit_bzero(&keys, sizeof keys);
	return error == 0;
}

// A keyring that is not there is made, or told to be lost; data_dir is looked at by itself.
static bool check_keyring(const struct config *config, char *message, uint32_t message_size)
{
	struct keyring_keys keys;
	char path[CONFIG_PATH_BYTES + 16];
	config_keyring_path(config, path);
	int error = keyring_file_read(path, &keys, message, message_size);

	explicit_bzero(&keys, sizeof keys);
	return error == 0 || error == -ENOENT || (error == -ENOTDIR && !*config->keyring_file);
}

// The store makes the last folder of its path itself.
static bool check_data_dir(const struct config *config, char *message, uint32_t message_size)
{
	char path[sizeof config->data_dir];
	struct stat found;

	memcpy(path, config->data_dir, sizeof path);
	bool is_there = stat(path, &found) == 0;
	const char *where = is_there || errno != ENOENT ? path : dirname(path);
	if (!is_there && stat(where, &found) != 0) {
		snprintf(message, message_size, "data_dir: %s: %s; create it, or name another one",
			where, error_text(-errno));
		return false;
	}
	int error = !S_ISDIR(found.st_mode)                  ? -ENOTDIR
		    : access(where, R_OK | W_OK | X_OK) != 0 ? -errno
							     : 0;
	if (error)
		snprintf(message, message_size,
			"data_dir: %s cannot hold the store: %s; name a directory that this user "
			"can write to",
			where, error_text(error));
	return error == 0;
}

// A file that is not there is made in its directory.
static bool check_audit(const struct config *config, char *message, uint32_t message_size)
{
	char path[sizeof config->audit_path];
	struct stat found;

	memcpy(path, config->audit_path, sizeof path);
	if (!*path)
		return true;
	bool is_there = stat(path, &found) == 0;
	int error = is_there && S_ISDIR(found.st_mode) ? -EISDIR
		    : access(is_there ? path : dirname(path), W_OK) != 0 ? -errno
									 : 0;
	if (error)
		snprintf(message, message_size,
			"audit.path: %s cannot be written: %s; name a file in a directory that "
			"this "
			"user can write to",
			config->audit_path, error_text(error));
	return error == 0;
}

static bool check_peers(const struct config *config, char *message, uint32_t message_size)
{
	struct peer_controllers *peers =
		peer_controllers_create(config, &time_source_real, message, message_size);

	peer_controllers_destroy(peers);
	return peers != NULL;
}

static bool check_arguments(const struct config *config, char *message, uint32_t message_size)
{
	return !*config->dataplane.eal_extra ||
	       dataplane_try_arguments(&config->dataplane, message, message_size) == 0;
}

preflight_check *const preflight_checks[PREFLIGHT_CHECKS] = {preflight_address, preflight_secrets,
	check_tls, check_listening, check_socket, check_keys, check_data_dir, check_cluster,
	check_keyring, check_peers, check_peer_files, check_audit, check_arguments, agents_check};
