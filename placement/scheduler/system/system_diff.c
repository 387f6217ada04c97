#include "placement/scheduler/system/system_diff.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/system/required_names.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/job_traits.h"
#include "state/tables/jobs/job_reevaluations.h"
#include <endian.h>
#include <stdlib.h>

// An allocation of the job, with its sort keys.
struct entry {
	uint64_t key[2];   // its node's id as two big-endian words
	uint32_t position; // of its name among the required ones
	const struct allocation *allocation;
};
struct entry_list {
	struct entry *items;
	uint32_t count, room;
};

struct span { // entries of one node
	const struct entry *begin, *end;
};

struct diff {
	const struct system_diff_ask *ask;
	struct system_diff *result;
	struct required_names names;
	struct entry_list live, ended;
	uint32_t *seen; // by position: number of the last node that has the name
	uint32_t node_number;
};

static void *room_for_one(void *items, uint32_t count, uint32_t *room, size_t bytes_each)
{
	CHECK(count <= *room);
	if (count < *room)
		return items;
	*room = *room ? *room * 2 : 64;
	return memory_resize(items, *room * bytes_each);
}

struct diff_item *diff_list_add(struct diff_list *list)
{
	list->items = room_for_one(list->items, list->count, &list->room, sizeof *list->items);
	return &list->items[list->count++];
}

static void key_of(const struct uuid *id, uint64_t key[2])
{
	memcpy(key, id->bytes, sizeof id->bytes);
	key[0] = be64toh(key[0]);
	key[1] = be64toh(key[1]);
}

static int key_compare(const uint64_t a[2], const uint64_t b[2])
{
	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return a[1] == b[1] ? 0 : a[1] < b[1] ? -1 : 1;
}

static int targets_by_id(const void *a, const void *b)
{
	const struct target_node *x = a, *y = b;
	return key_compare(x->key, y->key);
}

// Orders by node, then by name, then by id.
static int by_node_and_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = key_compare(x->key, y->key);
	if (order == 0)
		order = allocation_name_compare(x->allocation, y->allocation);
	return order ? order : uuid_compare(&x->allocation->id, &y->allocation->id);
}

// Orders by node, then by required name, then the newest first (row A18).
static int by_node_newest_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = key_compare(x->key, y->key);
	if (order)
		return order;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	uint64_t p = x->allocation->record.create_index, q = y->allocation->record.create_index;
	if (p != q)
		return p > q ? -1 : 1;
	return uuid_compare(&x->allocation->id, &y->allocation->id);
}

static void find_nodes(const struct system_diff_ask *ask, struct target_nodes *nodes)
{
	const struct node_class *last = NULL;
	bool targeted = false;
	uint32_t slots = ask->view->slots(ask->view->context);
	for (uint32_t slot = 0; slot < slots; slot++) {
		const struct node *node = ask->view->node_at(ask->view->context, slot);
		if (!node || !node_is_usable(node))
			continue;
		if (node->node_class != last)
			targeted = job_targets_node(ask->job, node);
		last = node->node_class;
		if (!targeted)
			continue;
		nodes->items = room_for_one(
			nodes->items, nodes->count, &nodes->room, sizeof *nodes->items);
		struct target_node *target = &nodes->items[nodes->count++];
		key_of(&node->id, target->key);
		target->node = node;
		target->slot = slot;
	}
	if (nodes->count > 1)
		qsort(nodes->items, nodes->count, sizeof *nodes->items, targets_by_id);
	CHECK(nodes->count <= nodes->room);
}

bool target_nodes_contain(const struct target_nodes *nodes, const struct uuid *id)
{
	struct target_node wanted;
	key_of(id, wanted.key);
	return nodes->count &&
	       bsearch(&wanted, nodes->items, nodes->count, sizeof wanted, targets_by_id);
}

static void add_entry(
	struct entry_list *list, const struct allocation *allocation, uint32_t position)
{
	list->items = room_for_one(list->items, list->count, &list->room, sizeof *list->items);
	struct entry *entry = &list->items[list->count++];
	key_of(&allocation->node_id, entry->key);
	entry->position = position;
	entry->allocation = allocation;
}

// True when a scheduler stopped the allocation, but its node was lost before it reported the end (row A17).
static bool ended_unheard(const struct diff *d, const struct allocation *a)
{
	bool waits = a->client_status == ALLOC_PENDING || a->client_status == ALLOC_RUNNING;
	return a->desired != ALLOC_RUN && waits && node_is_lost(allocation_node(d->ask->view, a));
}

static bool collect_allocation(const struct allocation *a, void *context)
{
	struct diff *d = context;
	uint32_t position = required_names_find(&d->names, a);
	if (!allocation_is_terminal(a))
		add_entry(&d->live, a, position);
	else if (position != NAME_NOT_REQUIRED)
		add_entry(&d->ended, a, position);
	if (ended_unheard(d, a))
		*diff_list_add(&d->result->lost_late) =
			(struct diff_item){a, NULL, a->node_slot, DIFF_NO_GROUP, a->index};
	return true;
}

static void collect_allocations(struct diff *d)
{
	const struct scheduler_view *view = d->ask->view;
	view->job_allocations(
		view->context, d->ask->namespace_name, d->ask->job_id, collect_allocation, d);
	if (d->live.count > 1)
		qsort(d->live.items, d->live.count, sizeof *d->live.items, by_node_and_name);
	if (d->ended.count > 1)
		qsort(d->ended.items, d->ended.count, sizeof *d->ended.items, by_node_newest_first);
}

// Judges an allocation on a node that is gone, down, draining or disconnected (row A22).
static enum diff_kind judge_tainted(const struct diff *d, const struct node *node,
	const struct allocation *a, bool supports_disconnect)
{
	if (job_traits_of(a->job)->runs_to_end && allocation_ran_successfully(a))
		return DIFF_IGNORE;
	if (node && node->status == NODE_DISCONNECTED && supports_disconnect &&
		a->client_status == ALLOC_RUNNING)
		return DIFF_DISCONNECTING;
	return node_is_lost(node) ? DIFF_LOST : DIFF_IGNORE;
}

// Judges a living allocation whose name is required. targeted: its node takes instances of the job.
static enum diff_kind judge_allocation(
	const struct diff *d, const struct node *node, bool targeted, const struct allocation *a)
{
	CHECK(!allocation_is_terminal(a));
	bool supports = allocation_supports_disconnect(a, d->ask->view->supports_disconnect);
	bool tainted = node_is_tainted(node);
	bool may_return = supports &&
			  (a->client_status == ALLOC_UNKNOWN || a->client_status == ALLOC_RUNNING);
	bool reconnects = may_return && allocation_needs_reconnect(a);
	if (allocation_is_to_migrate(a))
		return DIFF_MIGRATE;
	if (reconnects && allocation_is_expired(a, d->ask->now_ns))
		return DIFF_LOST;
	if (supports && a->client_status == ALLOC_UNKNOWN)
		return DIFF_IGNORE;
	if (!tainted && reconnects)
		return DIFF_RECONNECTING;
	if (tainted)
		return judge_tainted(d, node, a, supports);
	if (!node_is_usable(node))
		return DIFF_IGNORE;
	if (!targeted)
		return DIFF_STOP;
	return d->ask->job->job_modify_index != a->job->job_modify_index ? DIFF_UPDATE
									 : DIFF_IGNORE;
}

// The place of an instance. The slot is kept here because reading it from the node would wait for memory.
struct place {
	const struct node *node;
	uint32_t slot;
};

static void add_item(struct diff *d, enum diff_kind kind, const struct allocation *existing,
	struct place place, uint32_t position)
{
	CHECK(position == NAME_NOT_REQUIRED || position < d->names.count);
	struct diff_item *item = diff_list_add(&d->result->lists[kind]);
	*item = (struct diff_item){
		existing, place.node, place.slot, DIFF_NO_GROUP, existing ? existing->index : 0};
	if (position != NAME_NOT_REQUIRED) {
		item->group = d->names.items[position].group;
		item->name_index = d->names.items[position].index;
	}
}

static void judge_living(struct diff *d, struct span living, bool targeted)
{
	CHECK(living.begin <= living.end);
	const struct node *node = living.begin < living.end
					  ? allocation_node(d->ask->view, living.begin->allocation)
					  : NULL;
	for (const struct entry *e = living.begin; e < living.end; e++) {
		enum diff_kind kind = DIFF_STOP;
		if (e->position != NAME_NOT_REQUIRED) {
			d->seen[e->position] = d->node_number;
			kind = judge_allocation(d, node, targeted, e->allocation);
		}
		struct place place = {node, node ? e->allocation->node_slot : NODE_SLOT_NONE};
		add_item(d, kind, e->allocation, place, e->position);
	}
}

// Judges a required name without a living allocation, on a node that takes instances (rows A25, A26).
static void judge_missing(
	struct diff *d, struct place place, uint32_t position, const struct allocation *ended)
{
	CHECK(!ended || allocation_is_terminal(ended));
	enum diff_kind kind = DIFF_PLACE;
	if (d->ask->sysbatch && ended)
		kind = d->ask->job->job_modify_index != ended->job->job_modify_index ? DIFF_UPDATE
										     : DIFF_IGNORE;
	add_item(d, kind, ended, place, position);
}

// ended: this node's ended allocations, by name, the newest of each first.
static void judge_names(struct diff *d, struct place place, struct span ended)
{
	CHECK(ended.begin <= ended.end);
	const struct entry *e = ended.begin;
	for (uint32_t i = 0; i < d->names.count; i++) {
		while (e < ended.end && e->position < i)
			e++;
		if (d->seen[i] == d->node_number)
			continue;
		bool has_ended = e < ended.end && e->position == i;
		judge_missing(d, place, i, has_ended ? e->allocation : NULL);
	}
}

// Takes the entries of a node, from *at on, and passes over those of earlier nodes.
static struct span entries_of(const struct entry_list *list, uint32_t *at, const uint64_t key[2])
{
	CHECK(*at <= list->count);
	while (*at < list->count && key_compare(list->items[*at].key, key) < 0)
		++*at;
	uint32_t first = *at;
	while (*at < list->count && key_compare(list->items[*at].key, key) == 0)
		++*at;
	return list->count ? (struct span){&list->items[first], &list->items[*at]}
			   : (struct span){NULL, NULL};
}

// Walks all nodes that have living allocations or take instances, in the order of their ids.
static void walk_nodes(struct diff *d)
{
	const struct target_nodes *nodes = &d->result->nodes;
	uint32_t next = 0, live_at = 0, ended_at = 0;
	while (next < nodes->count || live_at < d->live.count) {
		const struct target_node *target = next < nodes->count ? &nodes->items[next] : NULL;
		const struct entry *head = live_at < d->live.count ? &d->live.items[live_at] : NULL;
		bool targeted = target && (!head || key_compare(target->key, head->key) <= 0);
		uint64_t key[2];
		memcpy(key, targeted ? target->key : head->key, sizeof key);
		d->node_number++;
		judge_living(d, entries_of(&d->live, &live_at, key), targeted);
		if (!targeted)
			continue;
		struct place place = {target->node, target->slot};
		judge_names(d, place, entries_of(&d->ended, &ended_at, key));
		next++;
	}
	CHECK(d->node_number >= nodes->count);
}

void system_diff(const struct system_diff_ask *ask, struct system_diff *result)
{
	CHECK(ask->view && ask->job_id);
	bool required = ask->job && !ask->job->stop;
	struct diff d = {.ask = ask, .result = result};
	*result = (struct system_diff){0};
	required_names_init(&d.names, required ? ask->job : NULL);
	d.seen = memory_take_array(d.names.count + 1, sizeof *d.seen);
	if (required)
		find_nodes(ask, &result->nodes);
	collect_allocations(&d);
	walk_nodes(&d);
	free(d.seen);
	free(d.live.items);
	free(d.ended.items);
	required_names_release(&d.names);
}

void system_diff_release(struct system_diff *diff)
{
	for (unsigned kind = 0; kind < DIFF_KINDS; kind++)
		free(diff->lists[kind].items);
	free(diff->lost_late.items);
	free(diff->nodes.items);
	*diff = (struct system_diff){0};
}
