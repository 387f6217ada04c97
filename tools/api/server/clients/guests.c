#include "tools/api/server/clients/guests.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/list.h>

// As many as there may be connections by default: a chain is as long as connections share a bucket.
#define BUCKETS 4096u
#define NETWORK_BYTES 8u

enum key_kind { KEY_IPV4 = 1, KEY_IPV6, KEY_NODE, KEY_SOCKET };

struct guest {
	struct cds_list_head list;
	struct guest_key key;
	uint32_t users;       // connections that have it
	uint32_t connections; // of them those that count
	uint64_t bytes;
};

struct guests {
	uint32_t connections_max, connections_of_one_max;
	uint64_t bytes_max;
	pthread_mutex_t lock; // guards what follows
	uint32_t connections;
	struct guests_counts counts;
	struct cds_list_head buckets[BUCKETS];
};

static struct guest_key key_of(enum key_kind kind, const void *bytes, size_t size)
{
	struct guest_key key = {{(uint8_t)kind}};
	memcpy(key.bytes + 1, bytes, size);
	return key;
}

bool guest_key_of_address(const struct sockaddr *address, struct guest_key *key)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
		*key = key_of(KEY_IPV4, &v4->sin_addr, sizeof v4->sin_addr);
		return true;
	}
	if (address->sa_family != AF_INET6)
		return false;
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
	// An IPv4 client of a socket that takes both.
	*key = IN6_IS_ADDR_V4MAPPED(v6) ? key_of(KEY_IPV4, v6->s6_addr + 12, 4)
					: key_of(KEY_IPV6, v6->s6_addr, NETWORK_BYTES);
	return true;
}

struct guest_key guest_key_of_node(const struct uuid *node)
{
	return key_of(KEY_NODE, node, sizeof *node);
}

struct guest_key guest_key_of_socket(void)
{
	return (struct guest_key){{KEY_SOCKET}};
}

struct guests *guests_create(
	uint32_t connections_max, uint32_t connections_of_one_max, uint64_t bytes_max)
{
	struct guests *g = memory_take(sizeof *g);
	g->connections_max = connections_max;
	g->connections_of_one_max =
		connections_of_one_max ? connections_of_one_max : connections_max;
	g->bytes_max = bytes_max;
	pthread_mutex_init(&g->lock, NULL);
	for (uint32_t i = 0; i < BUCKETS; i++)
		CDS_INIT_LIST_HEAD(&g->buckets[i]);
	return g;
}

void guests_destroy(struct guests *g)
{
	CHECK(g->counts.places == 0);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

static struct cds_list_head *bucket_of(struct guests *g, const struct guest_key *key)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < sizeof key->bytes; i++)
		hash = (hash ^ key->bytes[i]) * 16777619u;
	return &g->buckets[(hash ^ hash >> 16) % BUCKETS];
}

// Under the lock. NULL: nobody is there from there.
static struct guest *guest_find(struct guests *g, const struct guest_key *key)
{
	struct guest *guest;
	cds_list_for_each_entry (guest, bucket_of(g, key), list)
		if (memcmp(&guest->key, key, sizeof *key) == 0)
			return guest;
	return NULL;
}

// Whether who has so much of something may have so much more of it: not more than stays free.
static bool leaves_room(uint64_t has, uint64_t more, uint64_t taken, uint64_t most)
{
	uint64_t left = taken < most ? most - taken : 0;
	return more <= left && has + more <= left;
}

bool guests_have_room(struct guests *g, const struct guest_key *key)
{
	pthread_mutex_lock(&g->lock);
	const struct guest *guest = guest_find(g, key);
	uint32_t has = guest ? guest->connections : 0;
	bool fits = has < g->connections_of_one_max &&
		    leaves_room(has, 1, g->connections, g->connections_max);
	g->counts.refused_connections += !fits;
	pthread_mutex_unlock(&g->lock);
	return fits;
}

struct guest *guest_enter(struct guests *g, const struct guest_key *key, bool counts, bool *is_over)
{
	pthread_mutex_lock(&g->lock);
	struct guest *guest = guest_find(g, key);
	if (!guest) {
		guest = memory_take(sizeof *guest);
		guest->key = *key;
		cds_list_add(&guest->list, bucket_of(g, key));
		g->counts.places++;
	}
	guest->users++;
	guest->connections += counts;
	g->connections += counts;
	*is_over = counts && (guest->connections > g->connections_of_one_max ||
				     g->connections > g->connections_max);
	g->counts.refused_connections += *is_over;
	pthread_mutex_unlock(&g->lock);
	return guest;
}

void guest_leave(struct guests *g, struct guest *guest, bool counts)
{
	pthread_mutex_lock(&g->lock);
	guest->connections -= counts;
	g->connections -= counts;
	bool is_gone = --guest->users == 0;
	if (is_gone) {
		CHECK(guest->bytes == 0 && guest->connections == 0);
		cds_list_del(&guest->list);
		g->counts.places--;
	}
	pthread_mutex_unlock(&g->lock);
	if (is_gone)
		free(guest);
}

bool guest_take_bytes(struct guests *g, struct guest *guest, uint64_t bytes, bool must)
{
	struct guests_counts *c = &g->counts;
	pthread_mutex_lock(&g->lock);
	bool fits = must || leaves_room(guest->bytes, bytes, c->bytes, g->bytes_max);
	if (fits) {
		guest->bytes += bytes;
		c->bytes += bytes;
		if (c->bytes > c->bytes_most)
			c->bytes_most = c->bytes;
	}
	c->refused_bytes += !fits;
	pthread_mutex_unlock(&g->lock);
	return fits;
}

void guest_give_bytes(struct guests *g, struct guest *guest, uint64_t bytes)
{
	pthread_mutex_lock(&g->lock);
	CHECK(guest->bytes >= bytes);
	guest->bytes -= bytes;
	g->counts.bytes -= bytes;
	pthread_mutex_unlock(&g->lock);
}

void guests_count(struct guests *g, struct guests_counts *counts)
{
	pthread_mutex_lock(&g->lock);
	*counts = g->counts;
	pthread_mutex_unlock(&g->lock);
}
