// What all calls of one client share: endpoints, connections that nobody uses just now, token, counters.
#pragma once
#include "state/etcd/etcd.h"
#include <pthread.h>

#define ETCD_ENDPOINTS_MAX 16u
// An endpoint that failed is asked last for so long.
#define ETCD_REST_MS 3000u

struct etcd_endpoint {
	char *url; // without a slash at its end
	_Atomic uint64_t rests_until_ns;
};

struct etcd {
	struct etcd_endpoint endpoints[ETCD_ENDPOINTS_MAX];
	uint32_t endpoint_count;
	_Atomic uint32_t current; // the endpoint that answered last
	char *user, *password, *ca_file, *certificate_file, *key_file; // NULL: none
	uint32_t timeout_ms;
	struct etcd_counters counters;
	pthread_mutex_t lock; // of what follows
	struct etcd_line *idle_lines;
	char *token;           // NULL: none
	uint64_t token_number; // of tokens so far
	char trouble[ETCD_MESSAGE_BYTES];
};

uint64_t etcd_now_ns(void);
// A millisecond that has begun counts: nobody is given up before the time is over.
uint64_t etcd_left_ms(uint64_t until_ns);
// The endpoint to ask next, of those that are not in the set `tried`: the current one, unless it rests; -1: all are.
int etcd_endpoint_choose(struct etcd *, uint32_t tried);
void etcd_endpoint_answered(struct etcd *, uint32_t endpoint);
// It rests, and what it was is the last trouble.
void etcd_endpoint_failed(struct etcd *, uint32_t endpoint, const char *what);
void etcd_note(struct etcd *, uint32_t endpoint, const char *what);
