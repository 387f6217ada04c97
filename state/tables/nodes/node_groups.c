#include "state/tables/nodes/node_groups.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_MIN 64u
#define NONE 0xffffffffu

struct chain {
	uint32_t first, count;
};

struct group {
	char *snapshot; // NULL: the number is free, next leads to another free one
	uint32_t hash;
	uint32_t next;           // of its bucket
	uint32_t older, younger; // while empty: the groups that were emptied before and after it
	struct chain chains[2];  // idle, busy
};

// The place of a node. All zero: the node is in no group.
struct link {
	uint32_t place; // group and whether it is busy, plus 1
	uint32_t next, previous;
};

struct node_groups {
	struct link *links; // by node
	uint32_t nodes_max, groups_max;
	struct group *groups;
	uint32_t used, capacity, count; // numbers given, room for numbers, groups
	uint32_t free;                  // a free number; NONE: there is none
	uint32_t oldest, youngest;      // of the empty groups
	uint32_t *buckets;
	uint32_t bucket_count;
};

static uint32_t *bucket_of(const struct node_groups *g, uint32_t hash)
{
	CHECK(g->bucket_count > 0);
	return &g->buckets[hash & (g->bucket_count - 1)];
}

static void set_buckets(struct node_groups *g, uint32_t count)
{
	CHECK(count > 0 && (count & (count - 1)) == 0);
	free(g->buckets);
	g->bucket_count = count;
	g->buckets = memory_take_array(count, sizeof g->buckets[0]);
	memset(g->buckets, 0xff, count * sizeof g->buckets[0]);
	for (uint32_t i = 0; i < g->used; i++) {
		if (!g->groups[i].snapshot)
			continue;
		uint32_t *bucket = bucket_of(g, g->groups[i].hash);
		g->groups[i].next = *bucket;
		*bucket = i;
	}
}

static uint32_t group_find(const struct node_groups *g, struct text snapshot, uint32_t hash)
{
	uint32_t i = *bucket_of(g, hash);

	while (i != NONE && !(g->groups[i].hash == hash &&
				    text_equal(text_of(g->groups[i].snapshot), snapshot)))
		i = g->groups[i].next;
	return i;
}

static uint32_t take_number(struct node_groups *g)
{
	if (g->free != NONE) {
		CHECK(g->free < g->used && !g->groups[g->free].snapshot);
		uint32_t number = g->free;
		g->free = g->groups[number].next;
		return number;
	}
	if (g->used == g->capacity) {
		g->capacity = g->capacity ? g->capacity * 2 : BUCKETS_MIN;
		g->groups = memory_resize(g->groups, g->capacity * sizeof g->groups[0]);
	}
	CHECK(g->used < g->capacity);
	return g->used++;
}

static uint32_t group_add(struct node_groups *g, struct text snapshot, uint32_t hash)
{
	uint32_t number = take_number(g);
	struct group *group = &g->groups[number];

	*group = (struct group){.snapshot = text_copy(snapshot),
		.hash = hash,
		.older = NONE,
		.younger = NONE,
		.chains = {{NONE, 0}, {NONE, 0}}};
	if (++g->count > g->bucket_count) {
		set_buckets(g, g->bucket_count * 2); // puts the new group into its bucket, too
		return number;
	}
	CHECK(number < g->used && g->count <= g->used);
	uint32_t *bucket = bucket_of(g, hash);
	group->next = *bucket;
	*bucket = number;
	return number;
}

static bool is_empty(const struct group *group)
{
	return group->chains[0].count + group->chains[1].count == 0;
}

static void list_empty(struct node_groups *g, uint32_t number)
{
	if (number == NODE_GROUP_EMPTY)
		return;
	CHECK(is_empty(&g->groups[number]));
	g->groups[number].older = g->youngest;
	g->groups[number].younger = NONE;
	if (g->youngest != NONE)
		g->groups[g->youngest].younger = number;
	else
		g->oldest = number;
	g->youngest = number;
}

static void unlist_empty(struct node_groups *g, uint32_t number)
{
	struct group *group = &g->groups[number];

	if (number == NODE_GROUP_EMPTY)
		return;
	CHECK(group->snapshot);
	if (group->older != NONE)
		g->groups[group->older].younger = group->younger;
	else
		g->oldest = group->younger;
	if (group->younger != NONE)
		g->groups[group->younger].older = group->older;
	else
		g->youngest = group->older;
}

static void group_drop(struct node_groups *g, uint32_t number)
{
	CHECK(number != NODE_GROUP_EMPTY && number < g->used);
	CHECK(g->count > 1);
	struct group *group = &g->groups[number];
	uint32_t *link = bucket_of(g, group->hash);

	unlist_empty(g, number);
	while (*link != number)
		link = &g->groups[*link].next;
	*link = group->next;
	free(group->snapshot);
	group->snapshot = NULL;
	group->next = g->free;
	g->free = number;
	g->count--;
}

// Returns the group that a node is about to enter. There are never more groups with nodes in them than nodes.
static uint32_t find_or_add(struct node_groups *g, struct text snapshot)
{
	uint32_t hash = (uint32_t)hash_bytes(0, snapshot.data, snapshot.size);
	uint32_t number = group_find(g, snapshot, hash);

	if (number != NONE)
		return number;
	if (g->count - 1 >= g->groups_max && g->oldest != NONE)
		group_drop(g, g->oldest);
	CHECK(g->count <= g->groups_max || g->oldest == NONE);
	number = group_add(g, snapshot, hash);
	list_empty(g, number);
	return number;
}

static uint32_t group_of(const struct link *link)
{
	CHECK(link->place > 0);
	return (link->place - 1) / 2;
}

static bool is_busy(const struct link *link)
{
	return (link->place - 1) % 2;
}

static void group_enter(struct node_groups *g, uint32_t node, uint32_t number, bool busy)
{
	CHECK(number < g->used && g->groups[number].snapshot);
	CHECK(g->links[node].place == 0);
	struct group *group = &g->groups[number];
	struct chain *chain = &group->chains[busy];

	if (is_empty(group))
		unlist_empty(g, number);
	g->links[node] = (struct link){number * 2 + busy + 1, chain->first, NONE};
	if (chain->first != NONE)
		g->links[chain->first].previous = node;
	chain->first = node;
	chain->count++;
	CHECK(group_of(&g->links[node]) == number);
}

// Returns the node's former group.
static uint32_t take_out(struct node_groups *g, uint32_t node)
{
	struct link *link = &g->links[node];
	uint32_t number = group_of(link);
	struct chain *chain = &g->groups[number].chains[is_busy(link)];

	CHECK(chain->count > 0);
	if (link->previous != NONE)
		g->links[link->previous].next = link->next;
	else
		chain->first = link->next;
	if (link->next != NONE)
		g->links[link->next].previous = link->previous;
	chain->count--;
	*link = (struct link){0};
	if (is_empty(&g->groups[number]))
		list_empty(g, number);
	CHECK(!node_groups_has(g, node));
	return number;
}

struct node_groups *node_groups_create(uint32_t nodes_max, uint32_t groups_max)
{
	CHECK(nodes_max > 0 && groups_max > 0);
	struct node_groups *g = memory_take(sizeof *g);

	g->nodes_max = nodes_max;
	g->groups_max = groups_max;
	g->free = g->oldest = g->youngest = NONE;
	g->links = memory_map((size_t)nodes_max * sizeof g->links[0]);
	set_buckets(g, BUCKETS_MIN);
	CHECK(group_add(g, TEXT(""), (uint32_t)hash_bytes(0, "", 0)) == NODE_GROUP_EMPTY);
	if (g->links)
		return g;
	node_groups_destroy(g);
	return NULL;
}

void node_groups_destroy(struct node_groups *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->used; i++)
		free(g->groups[i].snapshot);
	free(g->groups);
	free(g->buckets);
	if (g->links)
		memory_unmap(g->links, (size_t)g->nodes_max * sizeof g->links[0]);
	free(g);
}

void node_groups_join(struct node_groups *g, uint32_t node, struct text snapshot, bool busy)
{
	CHECK(node < g->nodes_max && !node_groups_has(g, node));
	group_enter(g, node, find_or_add(g, snapshot), busy);
	CHECK(node_groups_is_busy(g, node) == busy);
}

void node_groups_leave(struct node_groups *g, uint32_t node)
{
	if (node_groups_has(g, node))
		take_out(g, node);
	CHECK(!node_groups_has(g, node));
}

void node_groups_schedule(struct node_groups *g, uint32_t node, struct text snapshot)
{
	const struct link *link = &g->links[node];

	CHECK(node_groups_has(g, node));
	if (is_busy(link) && text_equal(text_of(g->groups[group_of(link)].snapshot), snapshot))
		return;
	uint32_t former = take_out(g, node);
	if (former != NODE_GROUP_EMPTY && is_empty(&g->groups[former]))
		group_drop(g, former);
	group_enter(g, node, find_or_add(g, snapshot), true);
	CHECK(node_groups_is_busy(g, node));
}

void node_groups_rejoin(struct node_groups *g, uint32_t node)
{
	bool busy = node_groups_is_busy(g, node);

	take_out(g, node);
	group_enter(g, node, NODE_GROUP_EMPTY, busy);
	CHECK(node_groups_is_busy(g, node) == busy);
}

void node_groups_set_busy(struct node_groups *g, uint32_t node, bool busy)
{
	if (node_groups_is_busy(g, node) != busy)
		group_enter(g, node, take_out(g, node), busy);
}

bool node_groups_has(const struct node_groups *g, uint32_t node)
{
	CHECK(node < g->nodes_max);
	return g->links[node].place != 0;
}

bool node_groups_is_busy(const struct node_groups *g, uint32_t node)
{
	CHECK(node_groups_has(g, node));
	return is_busy(&g->links[node]);
}

const char *node_groups_snapshot(const struct node_groups *g, uint32_t node)
{
	CHECK(node_groups_has(g, node));
	return g->groups[group_of(&g->links[node])].snapshot;
}

uint32_t node_groups_find(const struct node_groups *g, struct text snapshot)
{
	return group_find(g, snapshot, (uint32_t)hash_bytes(0, snapshot.data, snapshot.size));
}

uint32_t node_groups_next(const struct node_groups *g, uint32_t *cursor)
{
	while (*cursor < g->used && !g->groups[*cursor].snapshot)
		++*cursor;
	return *cursor < g->used ? (*cursor)++ : NODE_GROUP_NONE;
}

uint32_t node_groups_count(const struct node_groups *g)
{
	return g->count;
}

const char *node_group_snapshot(const struct node_groups *g, uint32_t group)
{
	CHECK(group < g->used);
	return g->groups[group].snapshot;
}

uint32_t node_group_size(const struct node_groups *g, uint32_t group, bool busy)
{
	CHECK(group < g->used);
	return g->groups[group].chains[busy].count;
}

uint32_t node_group_first(const struct node_groups *g, uint32_t group, bool busy)
{
	CHECK(group < g->used);
	return g->groups[group].chains[busy].first;
}

uint32_t node_group_after(const struct node_groups *g, uint32_t node)
{
	CHECK(node < g->nodes_max);
	return g->links[node].next;
}
