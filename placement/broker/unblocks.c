#include "placement/broker/unblocks.h"
#include "placement/broker/lookup.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <stdlib.h>
#include <string.h>

#define KEPT_NS (15ull * 60 * NS_PER_S)

enum kind { OF_CLASS, OF_QUOTA, OF_NODE, KINDS };

struct unblock {
	struct lookup_node link;
	uint64_t index, at_ns;
	struct uuid node; // OF_NODE
	char name[];      // OF_CLASS, OF_QUOTA
};

struct unblocks {
	const struct time_source *time;
	struct lookup tables[KINDS];
	uint64_t newest_class; // newest index of any class
	uint64_t node_floor;   // no forgotten node has a newer one
};

struct unblocks *unblocks_create(const struct time_source *time)
{
	struct unblocks *u = memory_take(sizeof *u);

	u->time = time;
	return u;
}

// Drops unblocks seen before that time; returns the newest index among them.
static uint64_t drop_unblock(struct lookup *t, uint64_t before_ns)
{
	struct lookup_node *n, *next;
	uint64_t newest = 0;
	uint32_t bucket;

	for (n = lookup_walk(t, &bucket, NULL); n; n = next) {
		struct unblock *u = CONTAINER_OF(n, struct unblock, link);
		next = lookup_walk(t, &bucket, n);
		if (u->at_ns >= before_ns)
			continue;
		newest = u->index > newest ? u->index : newest;
		lookup_remove(t, n);
		free(u);
	}
	return newest;
}

void unblocks_forget(struct unblocks *u)
{
	for (uint32_t k = 0; k < KINDS; k++)
		(void)drop_unblock(&u->tables[k], UINT64_MAX);
	u->newest_class = u->node_floor = 0;
}

void unblocks_destroy(struct unblocks *u)
{
	unblocks_forget(u);
	for (uint32_t k = 0; k < KINDS; k++)
		lookup_free(&u->tables[k]);
	free(u);
}

static struct unblock *find_name(const struct lookup *t, const char *name)
{
	struct lookup_node *n = lookup_first(t, hash_text(name));

	while (n && strcmp(CONTAINER_OF(n, struct unblock, link)->name, name) != 0)
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct unblock, link) : NULL;
}

static struct unblock *find_node(const struct lookup *t, const struct uuid *node)
{
	struct lookup_node *n = lookup_first(t, uuid_hash(node));

	while (n && !uuid_equal(&CONTAINER_OF(n, struct unblock, link)->node, node))
		n = lookup_next(n);
	return n ? CONTAINER_OF(n, struct unblock, link) : NULL;
}

static void stamp(struct unblocks *u, struct unblock *entry, uint64_t index)
{
	entry->index = index > entry->index ? index : entry->index;
	entry->at_ns = time_monotonic_ns(u->time);
}

static void stamp_name(struct unblocks *u, enum kind kind, const char *name, uint64_t index)
{
	struct unblock *entry = find_name(&u->tables[kind], name);

	if (!entry) {
		size_t bytes = strlen(name) + 1;
		entry = memory_take(sizeof *entry + bytes);
		memcpy(entry->name, name, bytes);
		lookup_add(&u->tables[kind], &entry->link, hash_text(name));
	}
	stamp(u, entry, index);
}

void unblocks_of_quota(struct unblocks *u, const char *quota, uint64_t index)
{
	stamp_name(u, OF_QUOTA, quota, index);
}

void unblocks_of_class(struct unblocks *u, const char *computed_class, uint64_t index)
{
	stamp_name(u, OF_CLASS, computed_class, index);
	u->newest_class = index > u->newest_class ? index : u->newest_class;
}

static void lift_floor(struct unblocks *u, uint64_t index)
{
	u->node_floor = index > u->node_floor ? index : u->node_floor;
}

void unblocks_of_node(struct unblocks *u, const struct uuid *node, uint64_t index)
{
	struct lookup *nodes = &u->tables[OF_NODE];
	struct unblock *entry = find_node(nodes, node);

	if (!entry && nodes->count == UNBLOCKED_NODES_MAX)
		lift_floor(u, drop_unblock(nodes, UINT64_MAX));
	if (!entry) {
		entry = memory_take(sizeof *entry);
		entry->node = *node;
		lookup_add(nodes, &entry->link, uuid_hash(node));
	}
	stamp(u, entry, index);
}

static bool saw_no_room(const struct evaluation *e, const char *computed_class)
{
	const struct array *classes = &e->class_eligibility;

	for (uint32_t i = 0; i < classes->count; i++)
		if (strcmp(ARRAY_AT(classes, struct named_count, i)->name, computed_class) == 0)
			return ARRAY_AT(classes, struct named_count, i)->count == 0;
	return false;
}

bool unblocks_missed_class(const struct unblocks *u, const struct evaluation *e)
{
	const struct lookup *classes = &u->tables[OF_CLASS];
	struct lookup_node *n;
	uint32_t bucket;

	if (u->newest_class <= e->snapshot_index)
		return false;
	for (n = lookup_walk(classes, &bucket, NULL); n; n = lookup_walk(classes, &bucket, n)) {
		const struct unblock *entry = CONTAINER_OF(n, struct unblock, link);
		if (entry->index > e->snapshot_index &&
			(e->escaped_computed_class || !saw_no_room(e, entry->name)))
			return true;
	}
	return false;
}

bool unblocks_missed_quota(const struct unblocks *u, const struct evaluation *e)
{
	const struct unblock *entry = find_name(&u->tables[OF_QUOTA], e->quota_limit_reached);

	return entry && entry->index > e->snapshot_index;
}

bool unblocks_missed_node(const struct unblocks *u, const struct evaluation *e)
{
	const struct unblock *entry = find_node(&u->tables[OF_NODE], &e->node_id);

	return u->node_floor > e->snapshot_index || (entry && entry->index > e->snapshot_index);
}

void unblocks_prune(struct unblocks *u)
{
	uint64_t now_ns = time_monotonic_ns(u->time);

	for (uint32_t k = 0; now_ns >= KEPT_NS && k < KINDS; k++)
		(void)drop_unblock(&u->tables[k], now_ns - KEPT_NS);
}
