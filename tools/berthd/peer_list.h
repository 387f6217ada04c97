// The controllers of other regions as the settings name them, read once: whoever asks them shares the list, and one
// that was replaced goes with the last who does.
#pragma once
#include "placement/watch/jobs/peers.h"
#include "tools/berthd/config.h"
#include "tools/http_client/http_tls.h"
#include <stdatomic.h>

#define PEER_TOKEN_BYTES 512u

struct peer {
	char *region, *address;
	uint64_t away_until_ns; // it has just failed to answer; of the one thread that asks
};

struct peer_list {
	char own_region[CONFIG_NAME_BYTES];
	struct peer items[REGIONS_MAX];
	uint32_t count;
	uint32_t timeout_ms, retries;
	char token[PEER_TOKEN_BYTES];
	char ca[CONFIG_PATH_BYTES], certificate[CONFIG_PATH_BYTES], key[CONFIG_PATH_BYTES];
	char server_name[CONFIG_NAME_BYTES];
	struct http_tls tls; // of these
	_Atomic uint32_t users;
};

// NULL and a sentence when the settings do not fit. The caller releases.
struct peer_list *peer_list_read(const struct config *, char *message, uint32_t message_size);
void peer_list_release(struct peer_list *);
// NULL when no region is called so.
struct peer *peer_list_find(struct peer_list *, const char *region);
