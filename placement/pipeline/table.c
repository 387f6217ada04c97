#include "placement/pipeline/table.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define BUCKETS_FIRST 64u

void table_free(struct table *t)
{
	free(t->buckets);
	*t = (struct table){0};
}

static void put(struct table *t, struct table_node *n)
{
	struct table_node **bucket = &t->buckets[n->hash & t->mask];

	n->next = *bucket;
	*bucket = n;
}

static void grow(struct table *t)
{
	struct table old = *t;
	uint32_t buckets = old.buckets ? 2 * (old.mask + 1) : BUCKETS_FIRST;

	t->buckets = memory_take_array(buckets, sizeof(struct table_node *));
	t->mask = buckets - 1;
	for (uint32_t b = 0; old.buckets && b <= old.mask; b++) {
		for (struct table_node *n = old.buckets[b], *next; n; n = next) {
			next = n->next;
			put(t, n);
		}
	}
	free(old.buckets);
}

void table_add(struct table *t, struct table_node *n, uint64_t hash)
{
	if (!t->buckets || t->count > t->mask)
		grow(t);
	n->hash = hash;
	put(t, n);
	t->count++;
}

void table_remove(struct table *t, struct table_node *n)
{
	struct table_node **at = &t->buckets[n->hash & t->mask];

	while (*at && *at != n)
		at = &(*at)->next;
	CHECK(*at == n);
	*at = n->next;
	t->count--;
}

static struct table_node *skip(struct table_node *n, uint64_t hash)
{
	while (n && n->hash != hash)
		n = n->next;
	return n;
}

struct table_node *table_first(const struct table *t, uint64_t hash)
{
	return t->buckets ? skip(t->buckets[hash & t->mask], hash) : NULL;
}

struct table_node *table_next(const struct table_node *n)
{
	return skip(n->next, n->hash);
}

struct table_node *table_walk(const struct table *t, uint32_t *bucket, struct table_node *after)
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

// FNV-1a, whose low bits are then mixed: names differ at their ends.
static uint64_t fold(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return hash * 0x100000001b3ull;
}

static uint64_t mix(uint64_t hash)
{
	hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdull;
	return hash ^ (hash >> 33);
}

uint64_t hash_names(const char *namespace_name, const char *id)
{
	return mix(fold(fold(0xcbf29ce484222325ull, namespace_name), id));
}

uint64_t hash_text(const char *text)
{
	return mix(fold(0xcbf29ce484222325ull, text));
}
