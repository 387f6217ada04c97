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

void gathered_note(struct gathered *g, uint64_t hash, struct cds_lfht_node *node)
{
	if (g->count == g->capacity) {
		g->capacity = g->capacity ? g->capacity * 2 : 1024;
		g->entries = memory_resize(g->entries, g->capacity * sizeof g->entries[0]);
	}
	g->entries[g->count++] = (struct gathered_entry){hash, node};
}

#define PARTS 4096u

// Buckets of one part lie side by side.
static uint32_t part_of(const struct gathered_entry *e, uint64_t buckets)
{
	uint64_t at = e->hash & (buckets - 1);
	return (uint32_t)(buckets > PARTS ? at / (buckets / PARTS) : at);
}

static struct gathered_entry *order_by_part(const struct gathered *g, uint64_t buckets)
{
	struct gathered_entry *ordered = memory_take_array(g->count, sizeof ordered[0]);
	uint32_t *ends = memory_take_array(PARTS + 1, sizeof ends[0]);

	for (uint32_t i = 0; i < g->count; i++)
		ends[part_of(&g->entries[i], buckets) + 1]++;
	for (uint32_t part = 0; part < PARTS; part++)
		ends[part + 1] += ends[part];
	for (uint32_t i = 0; i < g->count; i++)
		ordered[ends[part_of(&g->entries[i], buckets)]++] = g->entries[i];
	free(ends);
	return ordered;
}

bool gathered_add(
	struct gathered *g, struct cds_lfht *table, uint64_t buckets, cds_lfht_match_fct is_same)
{
	enum { AHEAD = 8 };
	struct gathered_entry *ordered = order_by_part(g, buckets);
	bool all_differ = true;

	CHECK((buckets & (buckets - 1)) == 0 && rcu_read_ongoing());
	for (uint32_t i = 0; i < g->count; i++) {
		const struct gathered_entry *e = &ordered[i];
		if (i + AHEAD < g->count)
			__builtin_prefetch(e[AHEAD].node, 1);
		if (cds_lfht_add_unique(table, e->hash, is_same, e->node, e->node) == e->node)
			continue;
		all_differ = false;
		cds_lfht_add(table, e->hash, e->node);
	}
	free(ordered);
	free(g->entries);
	*g = (struct gathered){0};
	return all_differ;
}
