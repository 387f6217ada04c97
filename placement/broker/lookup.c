#include "placement/broker/lookup.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 64u
#define BUCKETS_KEPT 1024u // by an empty table

void lookup_free(struct lookup *t)
{
	free(t->buckets);
	*t = (struct lookup){0};
}

static void put_node(struct lookup *t, struct lookup_node *n)
{
	struct lookup_node **bucket = &t->buckets[n->hash & t->mask];

	n->next = *bucket;
	*bucket = n;
}

static void grow_buckets(struct lookup *t)
{
	struct lookup old = *t;
	uint32_t buckets = old.buckets ? 2 * (old.mask + 1) : BUCKETS_FIRST;

	t->buckets = memory_take_array(buckets, sizeof(struct lookup_node *));
	t->mask = buckets - 1;
	for (uint32_t b = 0; old.buckets && b <= old.mask; b++) {
		for (struct lookup_node *n = old.buckets[b], *next; n; n = next) {
			next = n->next;
			put_node(t, n);
		}
	}
	free(old.buckets);
}

void lookup_add(struct lookup *t, struct lookup_node *n, uint64_t hash)
{
	if (!t->buckets || t->count > t->mask)
		grow_buckets(t);
	n->hash = hash;
	put_node(t, n);
	t->count++;
}

void lookup_remove(struct lookup *t, struct lookup_node *n)
{
	struct lookup_node **at = &t->buckets[n->hash & t->mask];

	while (*at && *at != n)
		at = &(*at)->next;
	CHECK(*at == n);
	*at = n->next;
	if (--t->count == 0 && t->mask >= BUCKETS_KEPT)
		lookup_free(t);
}

static struct lookup_node *skip(struct lookup_node *n, uint64_t hash)
{
	while (n && n->hash != hash)
		n = n->next;
	return n;
}

struct lookup_node *lookup_first(const struct lookup *t, uint64_t hash)
{
	return t->buckets ? skip(t->buckets[hash & t->mask], hash) : NULL;
}

struct lookup_node *lookup_next(const struct lookup_node *n)
{
	return skip(n->next, n->hash);
}

struct lookup_node *lookup_walk(const struct lookup *t, uint32_t *bucket, struct lookup_node *after)
{
	if (!t->buckets)
		return NULL;
	if (!after)
		*bucket = 0;
	else if (after->next)
		return after->next;
	else
		++*bucket;
	while (*bucket <= t->mask && !t->buckets[*bucket])
		++*bucket;
	return *bucket <= t->mask ? t->buckets[*bucket] : NULL;
}

// A name that is not there is an empty one.
static uint64_t hash_one_more(uint64_t seed, const char *text)
{
	return hash_keyed(seed, text ? text : "", text ? (uint32_t)strlen(text) : 0);
}

uint64_t hash_names(const char *namespace_name, const char *id)
{
	return hash_one_more(hash_one_more(0, namespace_name), id);
}

uint64_t hash_text(const char *text)
{
	return hash_one_more(0, text);
}
