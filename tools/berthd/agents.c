#include "tools/berthd/agents.h"
#include "dataplane/wire/little_endian.h"
#include "state/base/log.h"
#include "state/records/nodes/sender.h"
#include "tools/api/listen/listening.h"
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANY "any"
#define SETTING "agents"

static uint16_t wanted_port(const struct config *config)
{
	return config->agents_port ? (uint16_t)config->agents_port : config->dataplane.udp_port;
}

// "any" is all addresses of both families, or of IPv4 where there is no other.
static int listen_for_agents(const struct config *config, char *message, uint32_t message_size)
{
	bool is_any = strcmp(config->agents_address, ANY) == 0;
	uint16_t port = wanted_port(config);
	int fd = listen_at_address(
		SETTING, is_any ? "::" : config->agents_address, port, message, message_size);
	if (fd < 0 && is_any)
		fd = listen_at_address(SETTING, "0.0.0.0", port, message, message_size);
	return fd;
}

bool agents_listen(struct berthd *b, char *message, uint32_t message_size)
{
	const struct config *config = &b->config;
	char quoted[512];
	if (!*config->agents_address)
		return true;
	b->agents_fd = listen_for_agents(config, message, message_size);
	if (b->agents_fd >= 0) {
		uint16_t told = config->agents_advertise_port
					? (uint16_t)config->agents_advertise_port
					: wanted_port(config);
		b->config.dataplane.line_port = told;
		log_info("agents-listen", "address=%s port=%u told=%u", config->agents_address,
			wanted_port(config), told);
		return true;
	}
	if (strcmp(config->agents_address, ANY) != 0)
		return false;
	log_error("agents-not-heard",
		"error=%s meaning=\"logs, files and processes of nodes are not to be had here\"",
		log_quote(message, quoted, sizeof quoted));
	return true;
}

// Tried, unless a daemon of the same data_dir runs: it is the one that listens there. The preset address refuses no
// start.
bool agents_check(const struct config *config, char *message, uint32_t message_size)
{
	if (!*config->agents_address || strcmp(config->agents_address, ANY) == 0 ||
		store_holder(config->data_dir) != 0)
		return true;
	int fd = listen_for_agents(config, message, message_size);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

// What operators said of the node. Under read lock.
static enum line_refusal find_generation(
	const struct state *state, const struct uuid *node, uint32_t *generation)
{
	char name[SENDER_NAME_BYTES];
	const struct sender *sender = state_sender(state, sender_of_node(node, name));
	if (sender && sender->is_revoked)
		return LINE_REFUSED_REVOKED;
	if (!state_node_by_id(state, node))
		return LINE_REFUSED_UNKNOWN_NODE;
	*generation = sender ? (uint32_t)sender->key_generation : 0;
	return LINE_ACCEPTED;
}

enum line_refusal agents_key(
	void *context, const struct psk_identity *identity, uint8_t key[static PSK_KEY_BYTES])
{
	struct berthd *b = context;
	struct wire_key derived;
	uint32_t generation = 0;
	if (b->cluster && !cluster_leads(b->cluster))
		return LINE_REFUSED_NOT_LEADING;
	state_read_begin();
	enum line_refusal found = find_generation(b->state, &identity->node, &generation);
	state_read_end();
	if (found != LINE_ACCEPTED)
		return found;
	struct master_keys keys = berthd_keys(b);
	bool is_known = node_key_derive_next(
		&keys, identity->key_id, &identity->node, generation, &derived);
	explicit_bzero(&keys, sizeof keys);
	if (!is_known)
		return LINE_REFUSED_UNKNOWN_KEY;
	store64(key, derived.k[0]);
	store64(key + 8, derived.k[1]);
	explicit_bzero(&derived, sizeof derived);
	return LINE_ACCEPTED;
}
