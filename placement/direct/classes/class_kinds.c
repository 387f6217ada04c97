#include "placement/direct/classes/class_kinds.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/nodes/node.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 64u

struct class_kinds *class_kinds_create(struct look_bytes key)
{
	struct class_kinds *k = memory_take(sizeof *k);
	k->key = key;
	class_looks_begin(&k->looks, &key);
	k->log = memory_take_array(FIT_LOG_CHANGES, sizeof k->log[0]);
	k->mask = BUCKETS_FIRST - 1;
	k->buckets = memory_take_array(BUCKETS_FIRST, sizeof k->buckets[0]);
	k->from = UINT64_MAX;
	return k;
}

void class_kinds_destroy(struct class_kinds *k)
{
	for (uint32_t i = 0; i < k->count; i++)
		free(k->kinds[i].seen.bytes);
	class_looks_release(&k->looks);
	free(k->key.bytes);
	free(k->kinds);
	free(k->buckets);
	free(k->of_class);
	free(k->of_slot);
	free(k->classes);
	free(k->log);
	free(k->newest.bytes);
	free(k);
}

static void make_room(struct class_kinds *k, uint32_t classes, uint32_t slots)
{
	if (classes > k->class_room) {
		k->class_room = classes + classes / 2;
		k->classes = memory_resize(k->classes, k->class_room * sizeof k->classes[0]);
		k->of_class = memory_resize(k->of_class, k->class_room * sizeof k->of_class[0]);
	}
	for (; k->class_count < classes; k->class_count++) {
		k->classes[k->class_count] = (struct kind_of_class){0};
		k->of_class[k->class_count] = KIND_NONE;
	}
	if (slots > k->slot_room) {
		k->slot_room = slots + slots / 2;
		k->of_slot = memory_resize(k->of_slot, k->slot_room * sizeof k->of_slot[0]);
	}
	for (; k->slots < slots; k->slots++)
		k->of_slot[k->slots] = KIND_NONE;
}

static void enter_bucket(struct class_kinds *k, uint32_t number)
{
	uint32_t *bucket = &k->buckets[k->kinds[number].hash & k->mask];

	k->kinds[number].next = *bucket;
	*bucket = number + 1;
}

static void leave_bucket(struct class_kinds *k, uint32_t number)
{
	uint32_t *at = &k->buckets[k->kinds[number].hash & k->mask];

	while (*at != number + 1)
		at = &k->kinds[*at - 1].next;
	*at = k->kinds[number].next;
}

static void grow_buckets(struct class_kinds *k)
{
	free(k->buckets);
	k->mask = 2 * k->mask + 1;
	k->buckets = memory_take_array((size_t)k->mask + 1, sizeof k->buckets[0]);
	for (uint32_t i = 0; i < k->count; i++)
		if (k->kinds[i].first)
			enter_bucket(k, i);
}

static uint32_t free_number(struct class_kinds *k)
{
	uint32_t number = k->free ? k->free - 1 : k->count;

	if (k->free) {
		k->free = k->kinds[number].next;
		return number;
	}
	if (k->count == k->room) {
		k->room = k->room ? 2 * k->room : 16;
		k->kinds = memory_resize(k->kinds, k->room * sizeof k->kinds[0]);
	}
	k->kinds[k->count++] = (struct class_kind){0};
	if (k->count > k->mask)
		grow_buckets(k);
	return number;
}

// The kind of what was seen last, which may be new: then it has no class yet.
static uint32_t kind_of_newest(struct class_kinds *k)
{
	uint64_t hash = hash_bytes(0, k->newest.bytes, k->newest.size);

	for (uint32_t at = k->buckets[hash & k->mask]; at; at = k->kinds[at - 1].next) {
		const struct class_kind *kind = &k->kinds[at - 1];
		if (kind->hash == hash && kind->seen.size == k->newest.size &&
			memcmp(kind->seen.bytes, k->newest.bytes, k->newest.size) == 0)
			return at - 1;
	}
	uint32_t number = free_number(k);
	struct class_kind *kind = &k->kinds[number];
	free(kind->seen.bytes);
	*kind = (struct class_kind){.hash = hash, .since = ++k->class_epoch};
	kind->seen =
		(struct look_bytes){memory_take(k->newest.size), k->newest.size, k->newest.size};
	memcpy(kind->seen.bytes, k->newest.bytes, k->newest.size);
	enter_bucket(k, number);
	return number;
}

static void join_kind(struct class_kinds *k, uint32_t id, const struct node_class *record)
{
	class_looks_see(&k->looks, record, &k->newest);
	uint32_t number = kind_of_newest(k);
	struct class_kind *kind = &k->kinds[number];

	k->of_class[id] = number;
	k->classes[id].next = kind->first;
	k->classes[id].previous = 0;
	if (kind->first)
		k->classes[kind->first - 1].previous = id + 1;
	kind->first = id + 1;
	kind->bits |= 1ull << id % 64;
	k->class_epoch++;
}

static void count_ready(struct class_kinds *k, uint32_t id, bool is_ready)
{
	if (k->classes[id].is_ready != is_ready)
		k->kinds[k->of_class[id]].ready_classes += is_ready ? 1 : -1u;
	k->classes[id].is_ready = is_ready;
}

static void leave_kind(struct class_kinds *k, uint32_t id)
{
	uint32_t number = k->of_class[id];
	struct class_kind *kind = &k->kinds[number];
	struct kind_of_class *c = &k->classes[id];

	count_ready(k, id, false);
	if (c->previous)
		k->classes[c->previous - 1].next = c->next;
	else
		kind->first = c->next;
	if (c->next)
		k->classes[c->next - 1].previous = c->previous;
	k->of_class[id] = KIND_NONE;
	if (kind->first)
		return;
	CHECK(kind->ready_classes == 0);
	leave_bucket(k, number);
	kind->next = k->free;
	k->free = number + 1;
}

static void follow_class(struct class_kinds *k, const struct fit_index *x, uint32_t id)
{
	const struct node_class *record = fit_index_class(x, id);
	uint64_t since = record ? fit_index_class_since(x, id) : 0;
	struct kind_of_class *c = &k->classes[id];

	if (c->since != since) {
		if (c->since)
			leave_kind(k, id);
		if (since)
			join_kind(k, id, record);
		c->since = since;
	}
	if (since)
		count_ready(k, id, fit_index_class_ready(x, id) > 0);
}

static void fetch_class(const struct fit_index *x, uint32_t id)
{
	const struct node_class *record = id < fit_index_classes(x) ? fit_index_class(x, id) : NULL;
	if (record)
		__builtin_prefetch(record);
}

// Those of a big fleet are in no order of memory, so they are fetched ahead.
static void follow_all_classes(struct class_kinds *k, const struct fit_index *x)
{
	enum { AHEAD = 16 };

	for (uint32_t id = 0; id < k->class_count; id++) {
		fetch_class(x, id + AHEAD);
		follow_class(k, x, id);
	}
}

static uint32_t kind_of_slot(const struct class_kinds *k, const struct fit_index *x, uint32_t slot)
{
	const struct fit_node *n = fit_index_node(x, slot);
	return n->place == FIT_ABSENT ? KIND_NONE : k->of_class[n->node_class];
}

static void follow_all(struct class_kinds *k, const struct fit_index *x)
{
	follow_all_classes(k, x);
	for (uint32_t slot = 0; slot < k->slots; slot++)
		k->of_slot[slot] = kind_of_slot(k, x, slot);
	k->from = fit_index_head(x);
}

static void follow_classes_of(
	struct class_kinds *k, const struct fit_index *x, const struct fit_change *change)
{
	if (change->before.place != FIT_ABSENT)
		follow_class(k, x, change->before.node_class);
	if (change->after.place != FIT_ABSENT)
		follow_class(k, x, change->after.node_class);
}

static void log_change(struct class_kinds *k, const struct fit_index *x, uint64_t number)
{
	uint32_t slot = fit_index_change(x, number)->slot;
	struct kind_change *change = &k->log[number % FIT_LOG_CHANGES];

	*change = (struct kind_change){k->of_slot[slot], kind_of_slot(k, x, slot)};
	k->of_slot[slot] = change->after;
}

void class_kinds_follow(struct class_kinds *k, const struct fit_index *x)
{
	uint64_t head = fit_index_head(x);
	bool is_lost = k->from == UINT64_MAX || head - k->seen > FIT_LOG_CHANGES;

	make_room(k, fit_index_classes(x), fit_index_slots(x));
	if (is_lost)
		follow_all(k, x);
	for (uint64_t i = k->seen; !is_lost && i < head; i++)
		follow_classes_of(k, x, fit_index_change(x, i));
	for (uint64_t i = k->seen; !is_lost && i < head; i++)
		log_change(k, x, i);
	k->seen = head;
}

const struct node_class *class_kinds_class(
	const struct class_kinds *k, const struct fit_index *x, uint32_t kind)
{
	CHECK(kind < k->count);
	return k->kinds[kind].first ? fit_index_class(x, k->kinds[kind].first - 1) : NULL;
}

const struct kind_change *class_kinds_change(const struct class_kinds *k, uint64_t number)
{
	CHECK(number >= k->from && number < k->seen && k->seen - number <= FIT_LOG_CHANGES);
	return &k->log[number % FIT_LOG_CHANGES];
}
