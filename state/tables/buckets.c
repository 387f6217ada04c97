// The library takes the calling thread out of RCU before it enlarges a table, and for a few thousand new buckets that
// thread walks the chains itself, where it would meet items that are freed meanwhile. So the tables have a flavor of
// RCU of their own, whose read sections bring such a thread back for as long as it walks.
#include "state/tables/buckets.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdlib.h>

static struct rcu_flavor_struct flavor;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local bool is_brought_back;

static void walk_begin(void)
{
	CHECK(!is_brought_back);
	if (rcu_read_ongoing())
		return;
	rcu_thread_online();
	is_brought_back = true;
}

static void walk_end(void)
{
	if (!is_brought_back)
		return;
	is_brought_back = false;
	rcu_thread_offline();
}

static void flavor_create(void)
{
	flavor = rcu_flavor;
	flavor.read_lock = walk_begin;
	flavor.read_unlock = walk_end;
}

struct cds_lfht *buckets_create(uint64_t count)
{
	CHECK(pthread_once(&once, flavor_create) == 0);
	return cds_lfht_new_flavor(count, count, 0, 0, &flavor, NULL);
}

void buckets_widen(struct cds_lfht *table, uint64_t count)
{
	CHECK((count & (count - 1)) == 0);
	CHECK(!rcu_read_ongoing());
	cds_lfht_resize(table, count);
	CHECK(!is_brought_back);
}

#define CAPACITY_MIN 1024u

static struct cds_lfht_node forgotten; // stands where an entry was that others may lie behind

static bool is_entry(const struct gathered_entry *e)
{
	return e->node && e->node != &forgotten;
}

static struct gathered_entry *entry_near(const struct gathered *g, uint64_t at)
{
	CHECK(g->capacity > 0 && (g->capacity & (g->capacity - 1)) == 0);
	return &g->entries[at & (g->capacity - 1)];
}

static void put_entry(struct gathered *g, struct gathered_entry entry)
{
	uint64_t at = entry.hash;

	while (entry_near(g, at)->node)
		at++;
	*entry_near(g, at) = entry;
	g->count++;
	CHECK(g->count < g->capacity);
}

static size_t entries_bytes(const struct gathered *g)
{
	return g->capacity * sizeof g->entries[0];
}

static void widen_table(struct gathered *g)
{
	struct gathered wider = {
		.capacity = g->capacity ? g->capacity * 2 : CAPACITY_MIN, .is_all = g->is_all};

	wider.entries = memory_map(entries_bytes(&wider));
	CHECK(wider.entries);
	for (uint32_t i = 0; i < g->capacity; i++)
		if (is_entry(&g->entries[i]))
			put_entry(&wider, g->entries[i]);
	memory_unmap(g->entries, entries_bytes(g));
	*g = wider;
}

static void put_in_list(struct gathered *g, struct gathered_entry entry)
{
	if (g->count == g->capacity) {
		g->capacity = g->capacity ? g->capacity * 2 : CAPACITY_MIN;
		g->entries = memory_resize(g->entries, entries_bytes(g));
	}
	g->entries[g->count++] = entry;
}

void gathered_note(struct gathered *g, uint64_t hash, struct cds_lfht_node *node)
{
	const struct gathered_entry entry = {hash, node};

	if (g->is_list) {
		put_in_list(g, entry);
		return;
	}
	if (2 * g->count >= g->capacity)
		widen_table(g);
	put_entry(g, entry);
}

static void release_entries(struct gathered *g)
{
	if (g->is_list)
		free(g->entries);
	else
		memory_unmap(g->entries, entries_bytes(g));
	*g = (struct gathered){0};
}

struct cds_lfht_node *gathered_find(
	const struct gathered *g, uint64_t hash, cds_lfht_match_fct matches, const void *key)
{
	const struct gathered_entry *e;

	CHECK(!g->is_list);
	for (uint64_t at = hash; g->capacity > 0 && (e = entry_near(g, at))->node; at++)
		if (e->hash == hash && is_entry(e) && matches(e->node, key))
			return e->node;
	return NULL;
}

bool gathered_forget(struct gathered *g, uint64_t hash, const struct cds_lfht_node *node)
{
	struct gathered_entry *e;

	CHECK(!g->is_list);
	for (uint64_t at = hash; g->capacity > 0 && (e = entry_near(g, at))->node; at++) {
		if (e->node != node)
			continue;
		e->node = &forgotten;
		return true;
	}
	return false;
}

void gathered_approach(const struct gathered *g, uint64_t hash)
{
	if (!g->is_list && g->capacity > 0)
		__builtin_prefetch(entry_near(g, hash), 1);
}

#define PARTS 4096u

// Buckets of one part lie side by side.
static uint32_t part_of(const struct gathered_entry *e, uint64_t buckets)
{
	uint64_t at = e->hash & (buckets - 1);
	return (uint32_t)(buckets > PARTS ? at / (buckets / PARTS) : at);
}

static struct gathered_entry *order_by_part(
	const struct gathered *g, uint64_t buckets, uint32_t *count)
{
	struct gathered_entry *ordered = memory_take_array(g->count, sizeof ordered[0]);
	uint32_t *ends = memory_take_array(PARTS + 1, sizeof ends[0]);
	uint32_t end = g->is_list ? g->count : g->capacity;

	for (uint32_t i = 0; i < end; i++)
		if (is_entry(&g->entries[i]))
			ends[part_of(&g->entries[i], buckets) + 1]++;
	for (uint32_t part = 0; part < PARTS; part++)
		ends[part + 1] += ends[part];
	*count = ends[PARTS];
	for (uint32_t i = 0; i < end; i++)
		if (is_entry(&g->entries[i]))
			ordered[ends[part_of(&g->entries[i], buckets)]++] = g->entries[i];
	free(ends);
	return ordered;
}

bool gathered_add(
	struct gathered *g, struct cds_lfht *table, uint64_t buckets, cds_lfht_match_fct is_same)
{
	enum { AHEAD = 8 };
	uint32_t count;
	struct gathered_entry *ordered = order_by_part(g, buckets, &count);
	bool all_differ = true;

	CHECK((buckets & (buckets - 1)) == 0 && rcu_read_ongoing());
	for (uint32_t i = 0; i < count; i++) {
		const struct gathered_entry *e = &ordered[i];
		if (i + AHEAD < count)
			__builtin_prefetch(e[AHEAD].node, 1);
		if (is_same &&
			cds_lfht_add_unique(table, e->hash, is_same, e->node, e->node) == e->node)
			continue;
		all_differ = false;
		cds_lfht_add(table, e->hash, e->node);
	}
	free(ordered);
	release_entries(g);
	return all_differ;
}
