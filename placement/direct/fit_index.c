#include "placement/direct/fit_index.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 4096u

struct class_record {
	uint64_t hash;
	uint64_t since;
	const struct node_class *record;
	uint32_t nodes, ready;
};

struct idle_tree {
	struct fit_tree *tree; // NULL: nobody asked for it
	struct fit_node *nodes;
};

struct slot_note {
	uint32_t stamp : 31, has_details : 1;
};

struct fit_index {
	enum placement_algorithm algorithm;
	struct fit_tree *tree;
	struct fit_node *nodes;
	struct idle_tree idle[FIT_IDLE_TREES];
	struct slot_note *notes; // beside the nodes: the search does not look at them
	const char **snapshots;  // likewise
	uint64_t *described;     // likewise: the newest change of what the node is, counted from 1
	struct strings strings;
	uint32_t slots, room;
	uint32_t node_count, not_ready_count;
	struct class_record *classes;
	uint32_t class_count;
	uint64_t class_epoch, ready_epoch;
	uint64_t head;
	struct fit_change log[FIT_LOG_CHANGES];
};

struct fit_index *fit_index_create(enum placement_algorithm algorithm)
{
	struct fit_index *x = memory_take(sizeof *x);
	x->algorithm = algorithm;
	x->tree = fit_tree_create(algorithm, &x->nodes);
	strings_init(&x->strings);
	return x;
}

void fit_index_destroy(struct fit_index *x)
{
	if (!x)
		return;
	fit_tree_destroy(x->tree);
	for (uint32_t i = 0; i < FIT_IDLE_TREES; i++) {
		fit_tree_destroy(x->idle[i].tree);
		if (x->idle[i].nodes)
			memory_unmap(x->idle[i].nodes, x->room * sizeof *x->idle[i].nodes);
	}
	if (x->room > 0) {
		memory_unmap(x->nodes, x->room * sizeof *x->nodes);
		memory_unmap(x->notes, x->room * sizeof *x->notes);
		memory_unmap(x->snapshots, x->room * sizeof *x->snapshots);
		memory_unmap(x->described, x->room * sizeof *x->described);
	}
	strings_destroy(&x->strings);
	free(x->classes);
	free(x);
}

// Mapped rather than allocated: with millions of nodes, huge pages halve the time of an access.
static void *enlarge_index(void *array, uint32_t room, uint32_t more, size_t bytes_each)
{
	void *larger = memory_map(more * bytes_each);
	CHECK(larger != NULL); // the address space is exhausted
	if (room > 0) {
		memcpy(larger, array, room * bytes_each);
		memory_unmap(array, room * bytes_each);
	}
	return larger;
}

static void make_room(struct fit_index *x, uint32_t slot)
{
	CHECK(slot < NODES_MAX);
	if (slot >= x->room) {
		uint32_t room = x->room ? x->room : SLOTS_FIRST;
		while (room <= slot)
			room *= 2;
		x->nodes = enlarge_index(x->nodes, x->room, room, sizeof *x->nodes);
		x->notes = enlarge_index(x->notes, x->room, room, sizeof *x->notes);
		x->snapshots = enlarge_index(x->snapshots, x->room, room, sizeof *x->snapshots);
		x->described = enlarge_index(x->described, x->room, room, sizeof *x->described);
		for (uint32_t i = 0; i < FIT_IDLE_TREES; i++)
			if (x->idle[i].tree)
				x->idle[i].nodes = enlarge_index(
					x->idle[i].nodes, x->room, room, sizeof *x->idle[i].nodes);
		x->room = room;
	}
	for (; x->slots <= slot; x->slots++) {
		for (uint32_t i = 0; i < FIT_IDLE_TREES; i++)
			if (x->idle[i].tree)
				x->idle[i].nodes[x->slots].place = FIT_ABSENT;
		x->nodes[x->slots] = (struct fit_node){.place = FIT_ABSENT};
		x->notes[x->slots] = (struct slot_note){0};
		x->snapshots[x->slots] = NULL;
		x->described[x->slots] = 0;
	}
}

static struct class_record *class_record(struct fit_index *x, uint32_t id)
{
	if (id >= x->class_count) {
		uint32_t count = id + 1;
		x->classes = memory_resize(x->classes, count * sizeof *x->classes);
		memset(x->classes + x->class_count, 0,
			(count - x->class_count) * sizeof *x->classes);
		x->class_count = count;
	}
	return &x->classes[id];
}

// Returns whether the id came to mean another class.
static bool class_enter(struct fit_index *x, const struct fit_input *in)
{
	struct class_record *c = class_record(x, in->node_class);
	bool is_new = c->nodes == 0 || c->hash != in->class_hash;
	if (is_new) {
		c->hash = in->class_hash;
		c->since = ++x->class_epoch;
	}
	c->record = in->class_record;
	return is_new;
}

// Counts a node in (by = 1) or out (by = -1).
static void count_node(struct fit_index *x, const struct fit_node *n, int by)
{
	if (n->place == FIT_ABSENT)
		return;
	struct class_record *c = class_record(x, n->node_class);
	x->node_count += (uint32_t)by;
	c->nodes += (uint32_t)by;
	if (fit_is_ready(n))
		c->ready += (uint32_t)by;
	else
		x->not_ready_count += (uint32_t)by;
}

static uint32_t minus_used(uint32_t a, uint32_t b)
{
	return a > b ? a - b : 0;
}

static uint32_t at_least_one(uint32_t a)
{
	return a ? a : 1;
}

static struct fit_node node_of(const struct fit_input *in)
{
	struct resources c = in->capacity, u = in->used;
	uint32_t over = (u.cpu_mhz > c.cpu_mhz ? FIT_OVER_CPU : 0u) |
			(u.memory_mb > c.memory_mb ? FIT_OVER_MEMORY : 0u) |
			(u.disk_mb > c.disk_mb ? FIT_OVER_DISK : 0u);
	struct fit_node n = {
		.cpu_free = minus_used(c.cpu_mhz, u.cpu_mhz),
		.memory_free = minus_used(c.memory_mb, u.memory_mb),
		.disk_free = minus_used(c.disk_mb, u.disk_mb),
		.cpu_capacity = at_least_one(c.cpu_mhz),
		.memory_capacity = at_least_one(c.memory_mb),
		.node_class = in->node_class,
		// The tree sets it for nodes in a leaf.
		.place = !in->ready ? FIT_NOT_READY
			 : over     ? FIT_OVER | over
				    : 0,
	};
	memcpy(n.devices_free, in->devices_free, sizeof n.devices_free);
	return n;
}

// Whether two records are the same; the number of the leaf does not count.
static bool is_same(const struct fit_node *a, const struct fit_node *b)
{
	if (fit_is_placeable(a) != fit_is_placeable(b) ||
		(!fit_is_placeable(a) && a->place != b->place))
		return false;
	return memcmp(a, b, offsetof(struct fit_node, place)) == 0;
}

static const char none[] = "";

const char *fit_index_snapshot_share(struct fit_index *x, const char *snapshot)
{
	return snapshot[0] ? strings_share(&x->strings, text_of(snapshot)) : none;
}

void fit_index_snapshot_release(struct fit_index *x, const char *snapshot)
{
	if (snapshot && snapshot != none)
		strings_release(&x->strings, snapshot);
}

const char *fit_index_snapshot(const struct fit_index *x, uint32_t slot)
{
	return x->snapshots[slot];
}

// Returns whether the snapshot differs from the one before.
static bool take_snapshot(struct fit_index *x, uint32_t slot, const char *snapshot)
{
	const char *before = x->snapshots[slot];
	x->snapshots[slot] = snapshot ? fit_index_snapshot_share(x, snapshot) : NULL;
	fit_index_snapshot_release(x, before);
	return x->snapshots[slot] != before;
}

// Returns whether details may differ from those before.
static bool take_details(struct fit_index *x, uint32_t slot, bool has_details)
{
	bool may_differ = x->notes[slot].has_details || has_details;
	x->notes[slot].has_details = has_details;
	return may_differ;
}

uint32_t fit_index_snapshot_class(const char *shared)
{
	return shared == none
		       ? 0
		       : 1 + (uint32_t)(((uintptr_t)shared * 0x9e3779b97f4a7c15ull >> 32) % 63);
}

static void follow_idle(struct fit_index *x, enum fit_idle kind, uint32_t slot)
{
	struct idle_tree *idle = &x->idle[kind];
	struct fit_node *n = &idle->nodes[slot];
	if (n->place != FIT_ABSENT)
		fit_tree_remove(idle->tree, slot);
	n->place = FIT_ABSENT;
	if (!x->snapshots[slot] || !fit_is_placeable(&x->nodes[slot]))
		return;
	*n = x->nodes[slot];
	if (kind == FIT_IDLE_BY_SNAPSHOT)
		n->node_class = fit_index_snapshot_class(x->snapshots[slot]);
	fit_tree_insert(idle->tree, slot);
}

struct fit_tree *fit_index_idle_tree(struct fit_index *x, enum fit_idle kind)
{
	struct idle_tree *idle = &x->idle[kind];
	if (idle->tree)
		return idle->tree;
	idle->tree = fit_tree_create(x->algorithm, &idle->nodes);
	if (x->room > 0)
		idle->nodes = enlarge_index(NULL, 0, x->room, sizeof *idle->nodes);
	for (uint32_t slot = 0; slot < x->slots; slot++) {
		idle->nodes[slot].place = FIT_ABSENT;
		follow_idle(x, kind, slot);
	}
	return idle->tree;
}

// Takes the place of a record that is another one for the search.
static void replace_node(struct fit_index *x, uint32_t slot, const struct fit_node *after)
{
	struct fit_node *n = &x->nodes[slot];
	bool was_in = fit_is_placeable(n), is_in = fit_is_placeable(after);

	if (!was_in || !is_in || n->node_class != after->node_class) {
		count_node(x, n, -1);
		count_node(x, after, 1);
	}
	if (was_in && is_in) {
		fit_tree_change(x->tree, slot, after);
		return;
	}
	if (was_in)
		fit_tree_remove(x->tree, slot);
	*n = *after;
	if (is_in)
		fit_tree_insert(x->tree, slot);
}

void fit_index_set(struct fit_index *x, uint32_t slot, const struct fit_input *in)
{
	if (!in && slot >= x->slots)
		return;
	make_room(x, slot);
	struct fit_node before = x->nodes[slot];
	struct fit_node after = in ? node_of(in) : (struct fit_node){.place = FIT_ABSENT};
	bool is_new_class = in && class_enter(x, in);
	uint32_t stamp = in ? in->stamp & INT32_MAX : 0;
	bool described_anew = (before.place == FIT_ABSENT) != (after.place == FIT_ABSENT) ||
			      x->notes[slot].stamp != stamp ||
			      before.node_class != after.node_class || is_new_class;
	x->notes[slot].stamp = stamp;
	bool is_other = described_anew || !is_same(&before, &after);
	bool is_changed = take_snapshot(x, slot, in ? in->snapshot : NULL) || is_other;
	is_changed |= take_details(x, slot, in && in->has_details);
	if (!is_changed)
		return;
	if (described_anew)
		x->described[slot] = x->head + 1;
	if (fit_is_ready(&before) != fit_is_ready(&after) || described_anew)
		x->ready_epoch++;
	if (is_other)
		replace_node(x, slot, &after);
	for (uint32_t i = 0; i < FIT_IDLE_TREES; i++)
		if (x->idle[i].tree)
			follow_idle(x, (enum fit_idle)i, slot);
	x->log[x->head++ % FIT_LOG_CHANGES] =
		(struct fit_change){slot, described_anew, before, after};
}

enum placement_algorithm fit_index_algorithm(const struct fit_index *x)
{
	return x->algorithm;
}

struct fit_tree *fit_index_tree(struct fit_index *x)
{
	return x->tree;
}

uint32_t fit_index_slots(const struct fit_index *x)
{
	return x->slots;
}

const struct fit_node *fit_index_node(const struct fit_index *x, uint32_t slot)
{
	return &x->nodes[slot];
}

uint32_t fit_index_nodes(const struct fit_index *x)
{
	return x->node_count;
}

uint32_t fit_index_not_ready(const struct fit_index *x)
{
	return x->not_ready_count;
}

uint64_t fit_index_head(const struct fit_index *x)
{
	return x->head;
}

uint64_t fit_index_described(const struct fit_index *x, uint32_t slot)
{
	return x->described[slot];
}

const struct fit_change *fit_index_change(const struct fit_index *x, uint64_t number)
{
	CHECK(number < x->head && x->head - number <= FIT_LOG_CHANGES);
	return &x->log[number % FIT_LOG_CHANGES];
}

uint32_t fit_index_classes(const struct fit_index *x)
{
	return x->class_count;
}

uint64_t fit_index_class_epoch(const struct fit_index *x)
{
	return x->class_epoch;
}

uint64_t fit_index_class_since(const struct fit_index *x, uint32_t node_class)
{
	return x->classes[node_class].since;
}

const struct node_class *fit_index_class(const struct fit_index *x, uint32_t node_class)
{
	const struct class_record *c = &x->classes[node_class];
	return c->nodes > 0 ? c->record : NULL;
}

uint32_t fit_index_class_ready(const struct fit_index *x, uint32_t node_class)
{
	return x->classes[node_class].ready;
}

uint64_t fit_index_ready_epoch(const struct fit_index *x)
{
	return x->ready_epoch;
}
