#include "tools/berthd/peer_list.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "tools/http_client/http_client.h"
#include <stdlib.h>
#include <string.h>

static bool refuse_regions(char *message, uint32_t size, const char *what, const char *item)
{
	snprintf(message, size, "peers.regions: %s: \"%.100s\"; write name=http://host:port, …",
		what, item);
	return false;
}

struct peer *peer_list_find(struct peer_list *list, const char *region)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].region, region) == 0)
			return &list->items[i];
	return NULL;
}

static bool add_peer(struct peer_list *p, char *item, char *message, uint32_t message_size)
{
	char *equals = strchr(item, '=');
	if (!equals || equals == item)
		return refuse_regions(
			message, message_size, "this is no region and its address", item);
	if (!http_url_is_fit(equals + 1))
		return refuse_regions(message, message_size, "this is no URL", equals + 1);
	*equals = '\0';
	if (strcmp(item, p->own_region) == 0)
		return true; // every region may have the same list
	if (p->count == REGIONS_MAX || peer_list_find(p, item))
		return refuse_regions(
			message, message_size, "too many regions, or twice the same", item);
	size_t size = strlen(equals + 1);
	while (equals[size] == '/')
		size--;
	p->items[p->count++] = (struct peer){.region = text_copy(text_of(item)),
		.address = text_copy((struct text){equals + 1, (uint32_t)size})};
	return true;
}

static bool read_regions(
	struct peer_list *p, const char *regions, char *message, uint32_t message_size)
{
	char list[CONFIG_PEERS_BYTES], *rest = NULL;
	snprintf(list, sizeof list, "%s", regions);
	for (char *item = strtok_r(list, ", \t\n", &rest); item;
		item = strtok_r(NULL, ", \t\n", &rest))
		if (!add_peer(p, item, message, message_size))
			return false;
	return true;
}

static bool read_token(struct peer_list *p, const char *path, char *message, uint32_t message_size)
{
	if (!*path)
		return true;
	FILE *file = fopen(path, "re");
	bool fits = file && fgets(p->token, sizeof p->token, file);
	if (file)
		(void)fclose(file);
	size_t size = strcspn(p->token, " \t\r\n");
	p->token[size] = '\0';
	if (fits && size > 0 && size < sizeof p->token - 1)
		return true;
	snprintf(message, message_size,
		"peers.token_file: %s cannot be read, or does not begin with a token of at most %u "
		"bytes",
		path, PEER_TOKEN_BYTES - 2);
	return false;
}

void peer_list_release(struct peer_list *list)
{
	if (atomic_fetch_sub(&list->users, 1) != 1)
		return;
	for (uint32_t i = 0; i < list->count; i++) {
		free(list->items[i].region);
		free(list->items[i].address);
	}
	explicit_bzero(list->token, sizeof list->token);
	free(list);
}

struct peer_list *peer_list_read(const struct config *config, char *message, uint32_t message_size)
{
	struct peer_list *list = memory_take(sizeof *list);
	atomic_init(&list->users, 1);
	list->timeout_ms = config->peer_timeout_ms;
	list->retries = config->peer_retries;
	memcpy(list->own_region, config->region, sizeof list->own_region);
	memcpy(list->ca, config->peer_ca, sizeof list->ca);
	memcpy(list->certificate, config->peer_certificate, sizeof list->certificate);
	memcpy(list->key, config->peer_key, sizeof list->key);
	memcpy(list->server_name, config->peer_server_name, sizeof list->server_name);
	list->tls = (struct http_tls){.ca_file = list->ca,
		.certificate_file = list->certificate,
		.key_file = list->key,
		.server_name = list->server_name};
	if (read_regions(list, config->peer_regions, message, message_size) &&
		read_token(list, config->peer_token_file, message, message_size))
		return list;
	peer_list_release(list);
	return NULL;
}
