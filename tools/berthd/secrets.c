#include "tools/berthd/preflight.h"
#include "tools/tls/secret_file.h"

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
